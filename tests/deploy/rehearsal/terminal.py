"""The shell of an operator who types what the documents say."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.deploy.installation import Installation
from tests.deploy.rehearsal.docs import Quoted
from tests.deploy.rehearsal.servers import Servers

KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "USER")
OPERATOR = "you@example.com"
# What the rehearsal does in another way, because it leaves the machine as it is.
ELSEWHERE = {
    "python3 -m venv ": "the packages of this repository's .venv are taken",
    ".venv/bin/python -m pip ": "the packages of this repository's .venv are taken",
    "useradd ": "everything runs as an ordinary user of this machine",
    "cp deploy/systemd/": "ExecStart=, Environment= and EnvironmentFile= are read there",
    "systemctl daemon-reload": "there is no systemd",
    "cp deploy/nginx/": "an nginx of its own takes the file",
}
RUN = (
    "ln ",
    "mkdir ",
    "cat > ",
    "echo ",
    "chmod ",
    "export ",
    "curl ",
    ".venv/bin/python manage.py",
)


@dataclass
class Terminal:
    """The shell is in `folder`; `root` has the folders of the machine, which is 1 or 2."""

    installation: Installation
    servers: Servers
    root: Path
    folder: Path
    machine: int = 1
    exported: dict[str, str] = field(default_factory=dict)

    @property
    def etc(self) -> Path:
        return self.installation.settings_folder(self.machine)

    def type(self, command: str, *, status: int = 0) -> str:
        """Does what a line of the documents says; returns what it prints."""
        if sort(command) == "elsewhere":
            return ""
        if exported := re.match(r"export (\w+)=(\S+)", command):
            self.exported[exported[1]] = self.localise(exported[2])
            return ""
        if command.startswith("systemctl "):
            self.control(*command.partition("#")[0].replace("\\\n", " ").split()[1:])
            return ""
        done = subprocess.run(
            ["sh", "-ec", self.localise(command)],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert done.returncode == status, f"{command}\n{done.stdout}"
        return done.stdout

    def quote(self, quoted: Quoted, **replaced: str) -> str:
        """Types a command that stands in a sentence, with FILE or EMAIL replaced."""
        text = quoted.text
        for name, value in replaced.items():
            text = text.replace(name, value)
        return self.type(f".venv/bin/{text}" if text.startswith("python ") else text)

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return {**kept, **self.exported}

    def localise(self, text: str) -> str:
        """Puts the paths, addresses and ports of this installation in."""
        here = self.installation
        for old, new in (
            ("/opt/review-loop", str(here.code)),
            ("/etc/review-loop", str(self.etc)),
            ("/var/backups/review-loop", str(self.root)),
            ("https://reviews.example.com", here.site),
            ("postgres://app:password@127.0.0.1:6432/app", self.servers.pooled),
            ("postgres://app:password@127.0.0.1:5432/app", self.servers.direct),
            ("redis://127.0.0.1:6379/0", self.servers.redis),
            ("http://127.0.0.1:8000", f"http://{here.web_addresses[0]}"),
            ("http://127.0.0.1:8001", f"http://{here.web_addresses[1]}"),
            ("10.0.0.2", "127.0.0.2"),
        ):
            text = text.replace(old, new)
        return text

    def control(self, verb: str, *words: str) -> None:
        """Does what systemctl does: `enable --now`, `restart`, `start`, `reload nginx`."""
        if words == ("nginx",):
            return self.installation.start_nginx()
        for name, number in read_units(words):
            port = self.port(number) if number else 0
            if name == "socket":
                self.installation.hold_socket(port)
                continue
            if verb == "restart" and name != "migrate":
                self.installation.restart(name, port, self.machine)
                continue
            started = self.installation.start_unit(name, port, self.machine)
            if name in ("migrate", "backup"):
                assert started.wait(600) == 0, self.installation.log(name)
        return None

    def port(self, number: int) -> int:
        here = self.installation
        return here.web_ports[number - 8000] if self.machine == 1 else here.second_port


def read_units(words: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The names and ports of units, without a port 0; those that others want come first."""
    wanted = [word.removeprefix("review-loop-") for word in words if word.startswith("review-")]
    if "review-loop.target" in wanted:
        yield "migrate", 0
    for word in wanted:
        name, _, port = word.removesuffix(".timer").partition("@")
        if name == "web":
            number, _, kind = port.partition(".")
            yield kind or name, int(number)
        elif name != "review-loop.target":
            yield name, 0


def sort(command: str) -> str:
    """Says how a command of the documents is done: `run`, `systemctl`, or `elsewhere`."""
    if command.startswith(tuple(ELSEWHERE)):
        return "elsewhere"
    if command.startswith("systemctl "):
        return "systemctl"
    assert command.startswith(RUN), f"the rehearsal does not know {command!r}"
    return "run"
