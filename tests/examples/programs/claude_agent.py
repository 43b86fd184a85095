"""The sample of the Claude Agent SDK, with a program of the tests in place of `claude`."""

import os
import sys
from pathlib import Path

CLI = Path("claude").resolve()
PROGRAM = Path(__file__).with_name("claude_cli.py")
CLI.write_text(f'#!/bin/sh\nexec {sys.executable} {PROGRAM} "$@"\n')
CLI.chmod(0o700)
exec(os.environ["SAMPLE"].replace("AgentOptions(", f"AgentOptions(cli_path={str(CLI)!r}, "))
