#!/usr/bin/env python3
"""Brings the cluster of this folder up on one machine: `python3 deploy/ha/trial.py FOLDER`.

Runs etcd, two nodes of PostgreSQL under Patroni, HAProxy, two Redis and three Sentinels from the
packages of Debian, with the files beside this one, on loopback and as an ordinary user. Writes the
variables of the service to FOLDER/env, and says so. What ends is started again, as systemd would
do. TERM or Ctrl-C stops everything, and the data stay in FOLDER.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

HERE = Path(__file__).parent
ADDRESS = "127.0.0.1"
FIRST_PORT = 17000
PROGRAMS = ("etcd", "patroni", "haproxy", "redis-server")
PAUSE = 2.0  # seconds before a process that has ended is started again
READY_WITHIN = 120.0  # seconds for everything to be ready
GRACE = 20.0  # seconds for a process to stop
INSTALLED = Path("/usr/lib/postgresql")
PACKAGES = "etcd-server patroni haproxy redis-server"
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
SAFE_WITH_ETCD3 = (3, 0, 3)  # Patroni; patroni.yml says why


@dataclass
class Process:
    """A process that is kept running; `due` is when to start it again."""

    command: list[str]
    log: Path
    environment: dict[str, str]
    running: "subprocess.Popen[bytes] | None" = None
    due: float = 0.0

    def keep(self) -> None:
        """Starts it where it does not run, a while after its end."""
        if self.running is not None and self.running.poll() is not None:
            self.running, self.due = None, time.monotonic() + PAUSE
        if self.running is None and time.monotonic() >= self.due:
            with self.log.open("ab") as log:
                self.running = subprocess.Popen(  # noqa: S603
                    self.command,
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )

    def stop(self) -> None:
        if self.running is None:
            return
        self.running.terminate()
        try:
            self.running.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()


@dataclass
class Cluster:
    """The processes, by name, and what is put into the files."""

    folder: Path
    ports: Iterator[int]
    etcd_api: str
    password: str = field(default_factory=lambda: secrets.token_hex(16))
    processes: dict[str, Process] = field(default_factory=dict)

    def describe(self) -> dict[str, str]:
        """Describes the whole cluster; adds etcd, databases, HAProxy and Redis to the processes."""
        etcd = self._add_etcd()
        databases = [self._add_database(f"db{number}", etcd) for number in (1, 2)]
        places = {
            f"DB{number}{suffix}": value
            for number, (database, patroni) in enumerate(databases, 1)
            for suffix, value in (("", f"{ADDRESS}:{database}"), ("_PATRONI", str(patroni)))
        }
        primary, replica = next(self.ports), next(self.ports)
        file = self._fill(
            "haproxy.cfg", "haproxy", PRIMARY_PORT=primary, REPLICA_PORT=replica, **places
        )
        self._add("haproxy", "haproxy", "-db", "-f", str(file))
        sentinels = self._add_redis()
        login = f"postgres://app:{self.password}@{ADDRESS}"
        return {
            "DATABASE_URL": f"{login}:{primary}/app",
            "DATABASE_REPLICA_URL": f"{login}:{replica}/app",
            "REDIS_URL": f"redis+sentinel://:{self.password}@{sentinels}/review-loop/0",
            "PATRONI_URLS": " ".join(f"http://{ADDRESS}:{patroni}" for _, patroni in databases),
        }

    def _add_etcd(self) -> str:
        clients, peers = next(self.ports), next(self.ports)
        urls = {"client": f"http://{ADDRESS}:{clients}", "peer": f"http://{ADDRESS}:{peers}"}
        listening = [f"--listen-{name}-urls={url}" for name, url in urls.items()]
        advertised = [
            f"--advertise-client-urls={urls['client']}",
            f"--initial-advertise-peer-urls={urls['peer']}",
            f"--initial-cluster=default={urls['peer']}",
        ]
        old = ["--enable-v2=true"] if self.etcd_api == "etcd" else []
        self._add("etcd", "etcd", f"--data-dir={self.folder}/etcd", *old, *listening, *advertised)
        return f"{ADDRESS}:{clients}"

    def _add_database(self, name: str, etcd: str) -> tuple[int, int]:
        """Adds a node of PostgreSQL; returns its port and Patroni's."""
        database, patroni = next(self.ports), next(self.ports)
        file = self._fill(
            "patroni.yml",
            name,
            NODE=name,
            ETCD_API=self.etcd_api,
            ETCD=etcd,
            POSTGRES_PORT=database,
            PATRONI_PORT=patroni,
            DATA=self.folder / f"{name}.data",
            BINARIES=find_postgres(),
            SCRIPTS=HERE,
            NETWORK=f"{ADDRESS}/32",
        )
        self._add(name, "patroni", str(file))
        return database, patroni

    def _add_redis(self) -> str:
        """Adds two servers and three Sentinels; returns the Sentinels' addresses."""
        servers = [next(self.ports) for _ in range(2)]
        for port in servers:
            data = self._make_folder(f"redis-{port}")
            file = self._fill("redis.conf", data.name, DATA=data, REDIS_PORT=port)
            of = () if port == servers[0] else ("--replicaof", ADDRESS, str(servers[0]))
            self._add(data.name, "redis-server", str(file), *of)
        sentinels = [next(self.ports) for _ in range(3)]
        for port in sentinels:
            data = self._make_folder(f"sentinel-{port}")
            file = self._fill(
                "sentinel.conf",
                data.name,
                DATA=data,
                SENTINEL_PORT=port,
                REDIS_PRIMARY=ADDRESS,
                REDIS_PORT=servers[0],
            )
            self._add(data.name, "redis-server", str(file), "--sentinel")
        return ",".join(f"{ADDRESS}:{port}" for port in sentinels)

    def _make_folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def _fill(self, template: str, name: str, **values: object) -> Path:
        """Writes a file of this folder for a process."""
        text = (HERE / template).read_text(encoding="utf-8")
        shared = {"POSTGRES_PASSWORD": self.password, "REDIS_PASSWORD": self.password}
        file = self.folder / f"{name}.{template.rpartition('.')[2]}"
        file.write_text(
            Template(text).substitute(ADDRESS=ADDRESS, **shared, **values), encoding="utf-8"
        )
        file.chmod(0o600)
        return file

    def _add(self, name: str, program: str, *arguments: str) -> None:
        environment = {**os.environ, "PATH": PATH, "POSTGRES_PASSWORD": self.password}
        command = [shutil.which(program, path=PATH) or program, *arguments]
        self.processes[name] = Process(command, self.folder / f"{name}.log", environment)


def find_postgres() -> Path:
    """Returns the folder of the newest PostgreSQL of Debian."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name)
    )
    if not found:
        sys.exit(f"There is no PostgreSQL in {INSTALLED}: apt-get install postgresql")
    return found[-1]


def choose_etcd_api(version: str) -> str:
    """Returns the section of patroni.yml for what `patroni --version` says."""
    numbers = tuple(map(int, re.findall(r"\d+", version)[:3]))
    return "etcd3" if numbers >= SAFE_WITH_ETCD3 else "etcd"


def find_etcd_api() -> str:
    command = [shutil.which("patroni", path=PATH) or "patroni", "--version"]
    return choose_etcd_api(subprocess.run(command, capture_output=True, text=True).stdout)  # noqa: S603


def find_ports(first: int) -> Iterator[int]:
    """Yields ports that nobody uses."""
    for port in range(first, first + 1000):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if probe.connect_ex((ADDRESS, port)) != 0:
                yield port


def is_primary_and_standby(urls: list[str]) -> bool:
    """Tells whether one node leads and a synchronous standby follows it."""
    for url in urls:
        try:
            with urllib.request.urlopen(f"{url}/cluster", timeout=2) as response:  # noqa: S310
                text = response.read().decode()
        except OSError:
            continue
        return '"role": "leader"' in text and '"role": "sync_standby"' in text
    return False


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if missing:
        sys.exit(
            f"{', '.join(missing)}: not found. apt-get install etcd-server patroni haproxy redis"
        )
    if os.geteuid() == 0:
        sys.exit("PostgreSQL does not run as root: start this as an ordinary user")
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"{folder} is not empty")
    ports = find_ports(int(os.environ.get("FIRST_PORT", FIRST_PORT)))
    cluster = Cluster(folder, ports, find_etcd_api())
    variables = cluster.describe()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        run(cluster, variables)
    except KeyboardInterrupt:
        pass
    finally:
        for process in reversed(cluster.processes.values()):
            process.stop()
    return 0


def run(cluster: Cluster, variables: dict[str, str]) -> None:
    """Keeps everything running; writes the variables once the cluster is ready."""
    urls, deadline = variables["PATRONI_URLS"].split(), time.monotonic() + READY_WITHIN
    written = cluster.folder / "env"
    while True:
        for process in cluster.processes.values():
            process.keep()
        if not written.exists():
            if is_primary_and_standby(urls):
                lines = [f"{name}={value}" for name, value in variables.items()]
                written.write_text("\n".join([*lines, ""]), encoding="utf-8")
                print(f"Ready: the variables of the service are in {written}", flush=True)
            elif time.monotonic() > deadline:
                late = f"The cluster is not ready after {READY_WITHIN:.0f} s"
                sys.exit(f"{late}: see {cluster.folder}/*.log")
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
