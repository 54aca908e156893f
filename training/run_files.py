"""The files in the folder of a run.

While a process trains there, the folder also holds `.lock`, and `.owner.json` describes the process
(hanamachi/training/ownership.py).
"""

SETTINGS = "config.yaml"  # every setting
# versions, seed, revision, machine, and what of these differed when the run was resumed; at the end
# also how many decisions the policy learned from
DESCRIPTION = "run.json"
POLICIES = "policies"  # in it: digests of the files of the policies with which the run plays
SAVED = "resume.zip"  # the last save, of stable-baselines3: load it only if you trust it
POLICY = "policy"  # the checkpoint that is kept
LOGS = "tensorboard"
RESULTS = "evaluation.json"  # of the final evaluation: it marks the run as finished
CURVE = "curve.png"
REPORT = "report.html"

# if the run clones a policy first
CLONE = "clone"  # the checkpoint of the clone
CLONE_SAVED = "clone.zip"  # its last save, there until the clone is made

# all that a run writes after its settings
WRITTEN = (DESCRIPTION, CLONE, CLONE_SAVED, POLICY, LOGS, SAVED, RESULTS, CURVE, REPORT)
