"""The learner: self-play PPO, its games, cloning, magnet and critic."""
