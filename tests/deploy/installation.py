"""An installation started by the files of deploy/: nginx with TLS, two web servers, worker, beat
and PgBouncer, all on this machine and as an ordinary user. A second machine is another folder.

Only addresses, ports and paths are replaced in the files.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

import requests

from bench.serving import free_port
from local.account import Account
from local.processes import spawn
from tests.deploy.files import commands_of_units, read_assignments, read_unit
from tests.processes.stack import ROOT
from tests.waiting import wait_until
from tests.webhooks.certificates import Authority

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
STOPS_WITHIN = 30.0  # seconds, TimeoutStopSec= of the units
# Becomes a command that has a socket as systemd hands it over: as number 3.
ACTIVATE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


@dataclass
class Installation:
    """The processes, and where they are.

    `environment` is what all of them have, and `settings` is /etc/review-loop, whose files are read
    whenever a unit starts. `code` is /opt/review-loop.
    """

    folder: Path
    account: Account
    authority: Authority
    environment: Mapping[str, str]
    http: int = field(default_factory=free_port)
    https: int = field(default_factory=free_port)
    web_ports: tuple[int, int] = field(default_factory=lambda: (free_port(), free_port()))
    second_port: int = 0  # of the web server of a second machine, if there is one
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    sockets: dict[int, socket.socket] = field(default_factory=dict)  # of socket units, by port
    stack: ExitStack = field(default_factory=ExitStack)
    code: Path = ROOT
    settings: Path = Path("/nowhere")

    @property
    def site(self) -> str:
        return f"https://localhost:{self.https}"

    @property
    def web_addresses(self) -> list[str]:
        """Where the web servers are; the second machine has another address of loopback."""
        first = [f"127.0.0.1:{port}" for port in self.web_ports]
        return [*first, f"127.0.0.2:{self.second_port}"] if self.second_port else first

    def start(self) -> None:
        """Starts everything in the order of the units, and waits until it is ready."""
        assert self.start_unit("migrate").wait(60) == 0, self.log("migrate")
        for port in self.web_ports:
            self.start_unit("web", port)
        self.start_unit("worker")
        self.start_unit("beat")
        self.start_nginx()
        wait_until(self.is_ready, 60)

    def start_nginx(self) -> None:
        """Starts nginx with the web servers that there are, instead of the one that runs."""
        self.make_run_folder()
        if before := self.running.pop("nginx", None):
            before.terminate()
            before.wait(STOPS_WITHIN)
        self.spawn("nginx", [str(NGINX), "-p", str(self.folder), "-c", str(self.write_nginx())])

    def start_unit(self, name: str, port: int = 0, machine: int = 1) -> "subprocess.Popen[bytes]":
        """Starts what ExecStart= of the unit names."""
        self.make_run_folder(machine)
        words = self.words_of(name, port, machine)
        held = [self.sockets[port].fileno()] if port in self.sockets else []
        if held:
            words = ["-c", ACTIVATE, str(held[0]), *words]
        return self.spawn(
            name_process(name, port, machine),
            [sys.executable, *words],
            self.environment_of(name, machine),
            held,
        )

    def hold_socket(self, port: int) -> None:
        """Does what a socket unit does: holds the port open, also while nothing serves it."""
        self.sockets[port] = socket.create_server(("127.0.0.1", port), backlog=2048)

    def make_run_folder(self, machine: int = 1) -> None:
        """Makes /run/review-loop of a machine, which is its /var/lib/review-loop, too."""
        run = self.run_folder(machine)
        if not run.exists():
            run.mkdir()
            self.account.give_folder(run)

    def run_folder(self, machine: int = 1) -> Path:
        return self.folder / ("run" if machine == 1 else f"run{machine}")

    def settings_folder(self, machine: int = 1) -> Path:
        """Tells where /etc/review-loop of a machine is."""
        return self.settings if machine == 1 else Path(f"{self.settings}{machine}")

    def words_of(self, name: str, port: int = 0, machine: int = 1) -> list[str]:
        """The command of a unit after that of Python."""
        given = self.environment_of(name, machine)
        words = [
            self.localise(Template(word).safe_substitute(given).replace("%i", str(port)), machine)
            for word in commands_of_units(self.code / "deploy")[name]
        ]
        # It is the same host, and each worker needs a name of its own.
        return [*words, "-n", f"machine{machine}@%h"] if (name, machine) == ("worker", 2) else words

    def environment_of(self, name: str, machine: int = 1) -> dict[str, str]:
        """What Environment= and EnvironmentFile= of a unit give it."""
        given = dict(self.environment)
        unit = read_unit("web@" if name == "web" else name, self.code / "deploy")
        for line in unit.get("Environment", []):
            pairs = (word.partition("=") for word in shlex.split(line))
            given |= {key: self.localise(value, machine) for key, _, value in pairs}
        for line in unit.get("EnvironmentFile", []):
            etc = str(self.settings_folder(machine))
            file = Path(line.lstrip("-").replace("/etc/review-loop", etc))
            if file.exists():
                given |= read_assignments(file.read_text(encoding="utf-8"))
        return given

    def localise(self, text: str, machine: int) -> str:
        run = str(self.run_folder(machine))
        return text.replace("/run/review-loop", run).replace("/var/lib/review-loop", run)

    def spawn(
        self,
        name: str,
        command: list[str],
        environment: Mapping[str, str] | None = None,
        inherited: Sequence[int] = (),
    ) -> "subprocess.Popen[bytes]":
        given = self.environment if environment is None else environment
        with (self.folder / f"{name}.log").open("ab") as log:
            process = spawn(
                [*self.account.prefix, *command],
                env=given,
                output=log,
                cwd=self.code,
                inherited=inherited,
            )
        self.running[name] = process
        return process

    def write_nginx(self) -> Path:
        """The site of deploy/, within a file of settings for an nginx of its own."""
        site = (self.code / "deploy/nginx/review-loop.conf").read_text(encoding="utf-8")
        site = re.sub(r"\n\s*listen \[::\].*", "", site)
        for old, new in (
            ("listen 80;", f"listen 127.0.0.1:{self.http};"),
            ("listen 443", f"listen 127.0.0.1:{self.https}"),
            ("https://$host$request_uri", f"https://$host:{self.https}$request_uri"),
            ("proxy_set_header Host $host;", "proxy_set_header Host $http_host;"),
            ("server_name reviews.example.com;", "server_name localhost;"),
            (upstream("127.0.0.1:8000", "127.0.0.1:8001"), upstream(*self.web_addresses)),
            ("/etc/ssl/review-loop/fullchain.pem", self.certificate),
            ("/etc/ssl/review-loop/privkey.pem", self.certificate),
        ):
            assert old in site, old
            site = site.replace(old, new)
        temporary = "".join(
            f"{name}_temp_path {self.folder}/run/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        file = self.folder / "nginx.conf"
        file.write_text(
            f"daemon off;\nworker_processes 2;\npid {self.folder}/run/nginx.pid;\n"
            "error_log stderr;\nevents {}\n"
            f"http {{\naccess_log off;\n{temporary}\n{site}\n}}\n"
        )
        return file

    @property
    def certificate(self) -> str:
        """The file with the certificate of localhost and its key."""
        self.authority.serve("localhost")
        (file,) = self.authority.folder.glob("localhost-*.pem")
        return str(file)

    def is_ready(self) -> bool:
        """Whether both web servers are, and the background work behind them."""
        for name, process in self.running.items():
            is_over = name.endswith(("migrate", "backup"))
            assert is_over or process.poll() is None, f"{name}: {self.log(name)}"
        try:
            states = [
                requests.get(f"http://{address}/readyz", timeout=5).json()
                for address in self.web_addresses
            ]
            through_nginx = self.get("/readyz")
        except (requests.ConnectionError, requests.Timeout, ValueError):
            return False
        return through_nginx.ok and all(state["background"] == "ok" for state in states)

    def get(self, path: str, **options: object) -> requests.Response:
        """A call through nginx, whose certificate is checked."""
        return requests.get(self.site + path, verify=self.authority.file, timeout=60, **options)  # type: ignore[arg-type]

    def restart(self, name: str, port: int = 0, machine: int = 1) -> None:
        """What `systemctl restart` does: TERM, wait, start again."""
        process = self.running[name_process(name, port, machine)]
        process.send_signal(signal.SIGTERM)
        process.wait(STOPS_WITHIN)
        self.start_unit(name, port, machine)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        for process in reversed(self.running.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(STOPS_WITHIN)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for held in self.sockets.values():
            held.close()


def upstream(*addresses: str) -> str:
    """The lines of nginx that name the web servers."""
    return "".join(f"    server {address} max_fails=0;\n" for address in addresses)


def name_process(name: str, port: int, machine: int) -> str:
    """Names a process, and its log."""
    return f"{name}{port or ''}" if machine == 1 else f"machine {machine}: {name}{port or ''}"


def settings_of(pooler: str, direct: str, redis: str) -> dict[str, str]:
    """The variables of an installation that are not those of the tests."""
    # A test that imported an entry point has left its kind.
    kept = {name: value for name, value in os.environ.items() if name != "PROCESS_KIND"}
    return {
        **kept,
        "DATABASE_URL": pooler,
        "DATABASE_POOLER": "transaction",
        "DATABASE_DIRECT_URL": direct,
        "REDIS_URL": redis,
        "TRUSTED_PROXIES": "1",
    }
