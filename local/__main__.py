"""The commands `python -m local run`, and `python -m local check` before anything is installed."""

import sys

from local.supervisor import check, run

COMMANDS = {"run": run, "check": check}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        sys.exit("usage: python -m local run|check")
    sys.exit(COMMANDS[sys.argv[1]]())
