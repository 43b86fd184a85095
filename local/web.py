"""granian whose workers die with it, however it dies: by itself it leaves them behind."""

import os

from local.processes import die_with_parent

if __name__ == "__mp_main__":  # a worker, where Python spawns instead of forking
    die_with_parent()

if __name__ == "__main__":
    from granian.cli import cli

    os.register_at_fork(after_in_child=die_with_parent)
    cli(auto_envvar_prefix="GRANIAN")
