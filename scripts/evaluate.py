"""`python scripts/evaluate.py ...` is `hanamachi evaluate ...`."""

import sys

from hanamachi.training.cli.main import main

if __name__ == "__main__":
    main(["evaluate", *sys.argv[1:]])
