"""An installation on one machine, started by the files of deploy/: nginx with TLS, two web servers,
worker, beat and PgBouncer, all as an ordinary user.

Only addresses, ports and paths are replaced in the files.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import requests

from bench.serving import free_port
from local.account import Account
from local.processes import spawn
from tests.deploy.files import DEPLOY, commands_of_units
from tests.processes.stack import ROOT
from tests.waiting import wait_until
from tests.webhooks.certificates import Authority

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
STOPS_WITHIN = 30.0  # seconds, TimeoutStopSec= of the units


@dataclass
class Installation:
    """The processes, and where they are. `environment` is /etc/review-loop/env."""

    folder: Path
    account: Account
    authority: Authority
    environment: Mapping[str, str]
    http: int = field(default_factory=free_port)
    https: int = field(default_factory=free_port)
    web_ports: tuple[int, int] = field(default_factory=lambda: (free_port(), free_port()))
    running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def site(self) -> str:
        return f"https://localhost:{self.https}"

    def start(self) -> None:
        """Starts everything in the order of the units, and waits until it is ready."""
        (self.folder / "run").mkdir()
        self.account.give_folder(self.folder / "run")
        assert self.start_unit("migrate").wait(60) == 0, self.log("migrate")
        for port in self.web_ports:
            self.start_unit("web", port)
        self.start_unit("worker")
        self.start_unit("beat")
        self.spawn("nginx", [str(NGINX), "-p", str(self.folder), "-c", str(self.write_nginx())])
        wait_until(self.is_ready, 60)

    def start_unit(self, name: str, port: int = 0) -> "subprocess.Popen[bytes]":
        """Starts what ExecStart= of the unit names."""
        return self.spawn(f"{name}{port or ''}", [sys.executable, *self.words_of(name, port)])

    def words_of(self, name: str, port: int = 0) -> list[str]:
        """The command of a unit after that of Python."""
        return [
            word.replace("%i", str(port))
            .replace("/run/review-loop", str(self.folder / "run"))
            .replace("/var/lib/review-loop", str(self.folder / "run"))
            for word in commands_of_units()[name]
        ]

    def spawn(self, name: str, command: list[str]) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{name}.log").open("ab") as log:
            process = spawn(
                [*self.account.prefix, *command], env=self.environment, output=log, cwd=ROOT
            )
        self.running[name] = process
        return process

    def write_nginx(self) -> Path:
        """The site of deploy/, within a file of settings for an nginx of its own."""
        site = (DEPLOY / "nginx/review-loop.conf").read_text(encoding="utf-8")
        site = re.sub(r"\n\s*listen \[::\].*", "", site)
        for old, new in (
            ("listen 80;", f"listen 127.0.0.1:{self.http};"),
            ("listen 443", f"listen 127.0.0.1:{self.https}"),
            ("https://$host$request_uri", f"https://$host:{self.https}$request_uri"),
            ("proxy_set_header Host $host;", "proxy_set_header Host $http_host;"),
            ("server_name reviews.example.com;", "server_name localhost;"),
            ("127.0.0.1:8000", f"127.0.0.1:{self.web_ports[0]}"),
            ("127.0.0.1:8001", f"127.0.0.1:{self.web_ports[1]}"),
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
            is_over = name in ("migrate", "backup")
            assert is_over or process.poll() is None, f"{name}: {self.log(name)}"
        try:
            states = [
                requests.get(f"http://127.0.0.1:{port}/readyz", timeout=5).json()
                for port in self.web_ports
            ]
            through_nginx = self.get("/readyz")
        except (requests.ConnectionError, ValueError):
            return False
        return through_nginx.ok and all(state["background"] == "ok" for state in states)

    def get(self, path: str, **options: object) -> requests.Response:
        """A call through nginx, whose certificate is checked."""
        return requests.get(self.site + path, verify=self.authority.file, timeout=60, **options)  # type: ignore[arg-type]

    def restart(self, name: str, port: int = 0) -> None:
        """What `systemctl restart` does: TERM, wait, start again."""
        process = self.running[f"{name}{port or ''}"]
        process.send_signal(signal.SIGTERM)
        process.wait(STOPS_WITHIN)
        self.start_unit(name, port)

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


def settings_of(pooler: str, direct: str, redis: str, folder: Path) -> dict[str, str]:
    """The variables of an installation that are not those of the tests."""
    return {
        **os.environ,
        "DATABASE_URL": pooler,
        "DATABASE_POOLER": "transaction",
        "DATABASE_DIRECT_URL": direct,
        "REDIS_URL": redis,
        "ALIVE_DIR": str(folder / "run"),
        "TRUSTED_PROXIES": "1",
        "PYTHONUNBUFFERED": "1",
    }
