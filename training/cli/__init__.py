"""The command line `hanamachi`: its commands and the game in the terminal."""
