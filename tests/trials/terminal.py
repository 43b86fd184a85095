"""A terminal with a real client in it, in a home and an environment of its own."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import wait_until

CLIENTS = "TRIAL_CLIENTS"
SIZE = ("-x", "160", "-y", "50")


def find_client(name: str) -> Path:
    """The command of a client. Skips the trial without clients, or with a network."""
    folder = os.environ.get(CLIENTS)
    if not folder:
        pytest.skip("python -m tests.trials FOLDER runs this")
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
    assert [line.split(":")[0].strip() for line in lines] == ["lo"], "there is a network"
    return Path(folder) / "node_modules" / ".bin" / name


class Terminal:
    """A session of tmux."""

    def __init__(self, socket: Path, environment: dict[str, str], folder: Path) -> None:
        self.socket = socket
        self.environment = environment
        self.folder = folder

    def tmux(self, *words: str) -> str:
        return subprocess.run(
            [str(shutil.which("tmux")), "-S", str(self.socket), *words],
            env=self.environment,
            cwd=self.folder,
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout

    def open(self, command: str) -> None:
        self.tmux("-f", "/dev/null", "new-session", "-d", *SIZE, command)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-S", "-200")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Types a line, and sends it once it is on the screen."""
        self.tmux("send-keys", "-l", text)
        self.wait_for(text[-20:])
        self.press("Enter")

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda: text in self.screen(), f"{text!r} on the screen")

    def wait_until(self, condition: Callable[[], object], what: str) -> None:
        """As `tests.waiting.wait_until`; a failure shows the screen."""
        try:
            wait_until(condition, 30)
        except AssertionError as error:
            raise AssertionError(f"not so: {what}\n{self.screen()}") from error

    def close(self) -> None:
        """Ends the session as a closed window does."""
        self.tmux("kill-server")


@contextmanager
def opened(
    command: str, environment: dict[str, str], folder: Path, socket: Path
) -> Iterator[Terminal]:
    terminal = Terminal(socket, environment, folder)
    terminal.open(command)
    try:
        yield terminal
    finally:
        if socket.exists():
            subprocess.run(
                ["tmux", "-S", str(socket), "kill-server"], check=False, capture_output=True
            )
