"""`python -m hanamachi` is the command `hanamachi`."""

from hanamachi.training.cli.main import main

if __name__ == "__main__":
    main()
