"""Every Python process of a trial loads this: it looks up the trial's own names in a folder.

`Names` in tests/faults/names.py fills the folder. All other names are looked up as ever.
"""

import os
import socket
from pathlib import Path
from typing import Any

ZONE = ".trial.test"
_elsewhere = socket.getaddrinfo


def look_up(host: Any, port: Any, *args: Any, **options: Any) -> Any:
    """A line of the name's file holds the addresses of one answer; the last line stays."""
    if not str(host).endswith(ZONE):
        return _elsewhere(host, port, *args, **options)
    folder = Path(os.environ["TRIAL_NAMES"])
    asked = folder / f"{host}.asked"
    number = asked.stat().st_size if asked.exists() else 0
    with asked.open("a") as file:
        file.write(".")
    answers = (folder / str(host)).read_text().splitlines()
    addresses = answers[min(number, len(answers) - 1)].split()
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]


socket.getaddrinfo = look_up
