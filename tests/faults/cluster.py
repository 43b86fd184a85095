"""The cluster of deploy/ha/, and an installation of the service over it, on this machine."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import redis.sentinel
import requests

from bench.serving import free_port
from local.account import Account, find_account
from local.datafolder import DataFolder
from local.environment import build_environment
from local.processes import spawn
from tests.deploy.files import DEPLOY
from tests.deploy.installation import NGINX, Installation
from tests.faults.service import CAST
from tests.faults.trial import NotTried
from tests.processes.stack import ROOT
from tests.waiting import wait_until
from tests.webhooks.certificates import new_authority

TRIAL = DEPLOY / "ha/trial.py"
STARTS_WITHIN = 120.0  # seconds
TOLD = 60  # lines at the end of a log


class Cluster:
    """The running script; the operator's view of it is that of Patroni and of the processes."""

    def __init__(self, folder: Path, account: Account) -> None:
        self.folder = folder
        log = folder.with_name("cluster.log")
        environment = {**os.environ, "FIRST_PORT": str(free_port())}
        with log.open("wb") as output:
            self.process = spawn(
                [*account.prefix, sys.executable, str(TRIAL), str(folder)],
                env=environment,
                output=output,
                cwd=ROOT,
                death_signal=signal.SIGTERM,
            )
        wait_until(
            lambda: (folder / "env").exists() or self.process.poll() is not None, STARTS_WITHIN
        )
        if self.has_ended():
            raise NotTried(log.read_text(encoding="utf-8").strip().splitlines()[-1])
        lines = (folder / "env").read_text(encoding="utf-8").splitlines()
        self.variables = dict(line.split("=", 1) for line in lines)

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def members(self) -> list[dict[str, Any]]:
        """The nodes of PostgreSQL, as one that answers describes them."""
        for url in self.variables["PATRONI_URLS"].split():
            try:
                answer = requests.get(f"{url}/cluster", timeout=2)
                found: list[dict[str, Any]] = answer.json()["members"]
            except requests.RequestException:
                continue
            return found
        return []

    def name_of(self, role: str) -> str:
        return next((each["name"] for each in self.members() if each["role"] == role), "")

    def is_whole(self) -> bool:
        """Whether one node leads, and commits wait for the other: only then may it take over."""
        well = [each for each in self.members() if each["state"] in ("running", "streaming")]
        if sorted(each["role"] for each in well) != ["leader", "sync_standby"]:
            return False
        try:
            with psycopg.connect(self.variables["DATABASE_URL"], connect_timeout=2) as connection:
                waits = "SELECT current_setting('synchronous_standby_names') <> ''"
                found = connection.execute(waits).fetchone()
        except psycopg.OperationalError:
            return False
        return bool(found and found[0])

    def switch_over(self) -> None:
        url = self.variables["PATRONI_URLS"].split()[0]
        answer = requests.post(
            f"{url}/switchover", json={"leader": self.name_of("leader")}, timeout=60
        )
        assert answer.ok, answer.text

    def postmaster(self, name: str) -> int:
        return int((self.folder / f"{name}.data/postmaster.pid").read_text().split()[0])

    def patroni(self, name: str) -> int:
        return pid_of(f"patroni {self.folder}/{name}.yml")

    def primary_redis(self) -> int:
        """The process of the Redis that the Sentinels call the primary."""
        urls = self.variables["REDIS_URL"].partition("@")[2].partition("/")[0].split(",")
        hosts = [(host, int(port)) for host, _, port in (url.partition(":") for url in urls)]
        sentinel = redis.sentinel.Sentinel(hosts, socket_timeout=2)  # type: ignore[no-untyped-call]
        _, port = sentinel.discover_master("review-loop")  # type: ignore[no-untyped-call]
        return pid_of(f"redis-server 127.0.0.1:{port}")

    def evidence(self) -> str:
        """What the nodes say of themselves and how their logs end. All logs are kept in a folder,
        those of the service too."""
        kept = Path(tempfile.mkdtemp(prefix="review-loop-cluster-"))
        for log in self.folder.parent.glob("*/*.log"):
            shutil.copy(log, kept)
        lines = [f"The logs are in {kept}.", *map(json.dumps, self.members())]
        for log in sorted(kept.glob("db*.log")):
            text = log.read_text(encoding="utf-8", errors="replace")
            lines += [f"--- {log.name}", *text.splitlines()[-TOLD:]]
        return "\n".join(lines)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def pid_of(command: str) -> int:
    """The oldest process whose command has these words."""
    search = ["pgrep", "--oldest", "--full", "--", re.escape(command)]
    return int(subprocess.run(search, capture_output=True, check=True).stdout)


class ClusteredService:
    """Two web servers behind nginx, two workers and two beats over the cluster; an asker's key."""

    def __init__(self, folder: Path, cluster: Cluster, account: Account) -> None:
        data = DataFolder(folder)
        given = {name: cluster.variables[name] for name in ("DATABASE_URL", "REDIS_URL")}
        replica = {"DATABASE_REPLICA_URL": cluster.variables["DATABASE_REPLICA_URL"]}
        environment = {
            **os.environ,
            **build_environment(given, data, 8000),
            **replica,
            "TRUSTED_PROXIES": "1",
            "API_HOURLY_LIMIT": "1000000",
            "LOG_LEVEL": "WARNING",
            "ALIVE_DIR": str(folder / "run"),
            "PYTHONUNBUFFERED": "1",
        }
        data.close()
        self.installation = Installation(folder, account, new_authority(folder), environment)
        environment.update(SITE_URL=self.installation.site, ALLOWED_HOSTS="localhost,127.0.0.1")
        self.environment = environment

    def start(self) -> None:
        self.installation.start()
        for name in ("worker", "beat"):
            self.installation.start_unit(name, machine=2)
        cast = json.loads(self.manage("shell", "-v", "0", "-c", CAST).splitlines()[-1])
        self.key, self.loop_id = cast["key"], cast["loop"]

    def manage(self, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, ROOT / "manage.py", *arguments],
            env=self.environment,
            cwd=ROOT,
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout


@contextmanager
def clustered(folder: Path) -> Iterator[tuple[Cluster, ClusteredService]]:
    """The service over a cluster, for the length of the block. Raises NotTried."""
    if not NGINX:
        raise NotTried("nginx is not installed")
    account = find_account(folder / "none")
    (folder / "cluster").mkdir(parents=True)
    account.give_folder(folder / "cluster")
    cluster = Cluster(folder / "cluster", account)
    try:
        (folder / "service").mkdir()
        service = ClusteredService(folder / "service", cluster, account)
        try:
            service.start()
            yield cluster, service
        finally:
            service.installation.stop()
    finally:
        cluster.stop()
