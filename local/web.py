"""Runs granian so that its workers die with it; granian alone leaves them running."""

import os

from local.processes import die_with_parent

if __name__ == "__mp_main__":  # a worker that Python spawned instead of forking
    die_with_parent()

if __name__ == "__main__":
    from granian.cli import cli

    os.register_at_fork(after_in_child=die_with_parent)
    cli(auto_envvar_prefix="GRANIAN")
