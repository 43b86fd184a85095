"""The command `python -m local run`."""

import sys

from local.supervisor import run

if __name__ == "__main__":
    if sys.argv[1:] != ["run"]:
        sys.exit("usage: python -m local run")
    sys.exit(run())
