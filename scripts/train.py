"""`python scripts/train.py ...` is `hanamachi train ...`."""

import sys

from hanamachi.training.cli.main import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])
