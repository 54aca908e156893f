"""`python scripts/benchmark.py ...` is `hanamachi benchmark ...`."""

import sys

from hanamachi.training.cli.main import main

if __name__ == "__main__":
    main(["benchmark", *sys.argv[1:]])
