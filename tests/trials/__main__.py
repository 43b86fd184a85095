"""Tries the hook with the real Claude Code and Codex: `python -m tests.trials FOLDER [pytest's]`.

FOLDER is where `npm install @anthropic-ai/claude-code @openai/codex` was run. Everything, the
service too, runs in a network of its own with loopback alone, against a stub of the model. tmux
types. These are no tests of the suite: the clients change without us.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.trials.terminal import CLIENTS

ROOT = Path(__file__).resolve().parents[2]
TRIALS = ("tests/trials/trial_claude.py", "tests/trials/trial_codex.py")
ISOLATED = ("unshare", "--net", *([] if os.geteuid() == 0 else ["--map-current-user"]))


def main(clients: str, *words: str) -> int:
    trials = words if any("trial_" in word for word in words) else (*TRIALS, *words)
    script = 'ip link set lo up && exec "$@"'
    command = [*ISOLATED, "sh", "-c", script, "sh", sys.executable, "-m", "tests", *trials]
    environment = {**os.environ, CLIENTS: str(Path(clients).resolve())}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
