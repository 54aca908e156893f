"""`python scripts/play.py ...` is `hanamachi play ...`."""

import sys

from hanamachi.training.cli.main import main

if __name__ == "__main__":
    main(["play", *sys.argv[1:]])
