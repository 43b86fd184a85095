"""An installation that its operator makes with the commands of the documents."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.serving import free_port
from local.account import find_account
from tests.deploy.installation import Installation
from tests.deploy.rehearsal import docs
from tests.deploy.rehearsal.people import Browser, Program
from tests.deploy.rehearsal.servers import Servers, running_servers
from tests.deploy.rehearsal.terminal import KEPT, OPERATOR, Terminal
from tests.deploy.rehearsal.traffic import Traffic
from tests.faults.receiver import Receiver
from tests.processes.stack import ROOT
from tests.waiting import wait_until
from tests.webhooks.certificates import new_authority

# What the documents leave to the operator: receivers of the rehearsal are on this machine.
OWN = "WEBHOOK_OPEN_NETWORKS=127.0.0.0/8\nAPI_HOURLY_LIMIT=1000000\n"


@dataclass
class Site:
    """The processes, the shells on both machines, and people who use the service."""

    installation: Installation
    servers: Servers
    shell: Terminal
    receiver: Receiver
    owner: Browser
    program: Program
    people: list[Browser] = field(default_factory=list)
    second: Terminal | None = None

    def install(self) -> None:
        """Types the commands of the documents, up to the one that needs an account."""
        for command in docs.read_install()[:-1]:
            self.shell.type(command)
            if command.startswith("chmod"):
                self.add_own_settings()
            if command == "systemctl reload nginx":
                wait_until(self.installation.is_ready, 60)

    def add_own_settings(self) -> None:
        with (self.shell.etc / "env").open("a") as file:
            file.write(OWN)

    def populate(self) -> None:
        """Somebody signs up, makes a loop and a key; two others join. All of it on pages."""
        self.owner.sign_up("Olga Owner", OPERATOR)
        self.program.loop, code = self.owner.make_loop()
        self.program.key, self.program.callback = self.owner.make_key(), self.receiver.url
        for name in ("anna", "ben"):
            person = self.new_browser()
            person.sign_up(name.title(), f"{name}@example.com", f"/join/{code}")
            person.join(code)
            self.people.append(person)

    def new_browser(self) -> Browser:
        return Browser(self.installation.site, self.installation.authority.file)

    def new_traffic(self) -> Traffic:
        """Two programs with the owner's key, and everybody who may answer."""
        known = self.program
        programs = [
            Program(
                known.site, known.authority, key=known.key, loop=known.loop, callback=known.callback
            )
            for _ in range(2)
        ]
        return Traffic(programs, self.people, self.receiver)

    def replace_processes(self) -> None:
        """Restarts everything on both machines, as the documents say."""
        for command in docs.read_restart():
            self.shell.type(command)
        if self.second:
            self.second.type("systemctl restart review-loop-web@8000 review-loop-worker")
        wait_until(self.installation.is_ready, 60)

    def add_machine(self) -> None:
        """A second machine, with the commands of the documents."""
        here = self.installation
        here.second_port = free_port()
        shutil.copytree(here.settings_folder(), here.settings_folder(2))
        self.second = Terminal(here, self.servers, self.shell.root, self.shell.folder, machine=2)
        for command in docs.read_second_machine():
            self.second.type(command)
        self.shell.type("systemctl reload nginx")
        wait_until(here.is_ready, 60)


@contextmanager
def prepared(
    root: Path, code: Path, receiver: Receiver, before: Installation | None = None
) -> Iterator[Site]:
    """Everything but what the documents say: servers, folders, a shell in `code`.

    With the address and the certificate of the one `before`, whose name moves here.
    """
    root.mkdir(parents=True)
    (root / "opt").mkdir()
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    with running_servers(root / "data") as servers:
        installation = Installation(
            root,
            find_account(root / "none"),
            before.authority if before else new_authority(root),
            kept,
            code=root / "opt/review-loop",
            settings=root / "etc",
        )
        if before:
            installation.http, installation.https = before.http, before.https
        site = Site(
            installation,
            servers,
            Terminal(installation, servers, root, code),
            receiver,
            Browser(installation.site, installation.authority.file),
            Program(installation.site, installation.authority.file),
        )
        try:
            yield site
        finally:
            installation.stop()


def unpack(archive: Path, folder: Path) -> Path:
    """A version in its folder; its .venv is that of this repository."""
    shutil.unpack_archive(archive, folder)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder
