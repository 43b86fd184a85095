"""What a fault befalls: a service, its Redis, its name service and the authority that it trusts in
our hands, and the waits that are in force."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import redis

from local.redis import Redis
from tests.faults.names import Names
from tests.faults.service import Service
from tests.webhooks.certificates import Authority, new_authority


@dataclass(frozen=True)
class Scale:
    """The settings of the service, how long an outage lasts, and how late a sweep may be, where
    `make test` allows for what else the machine does meanwhile (seconds)."""

    environment: Mapping[str, str]
    outage: float
    late: float


REAL = Scale({}, outage=60.0, late=2.0)
SHORT = Scale(
    {
        "WEBHOOK_TIMEOUT_SECONDS": "4",
        "WEBHOOK_LEASE_SECONDS": "5",
        "WEBHOOK_SCHEDULE_SCALE": "0.1",
        "WEBHOOK_PAUSE_SECONDS": "1",
        "CLAIM_LEASE_SECONDS": "3",
    },
    outage=10.0,
    late=5.0,
)


class NotTried(Exception):
    """The fault cannot be caused on this machine; the message says why."""


class Broker:
    """A Redis that stays down until it is told to come back, which no supervisor would do."""

    def __init__(self, folder: Path) -> None:
        self.server = Redis(folder, folder)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = self.server.start()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def flush(self) -> None:
        with self._client() as client:
            client.flushall()

    def has_worker(self, name: str) -> bool:
        """Whether a worker of this name has taken its place."""
        with self._client() as client:
            places: set[bytes] = client.smembers("_kombu.binding.celery.pidbox")
        return any(f"{name}@".encode() in place for place in places)

    def _client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.server.socket))


@dataclass(frozen=True)
class Trial:
    service: Service
    broker: Broker
    scale: Scale
    names: Names
    authority: Authority


@contextlib.contextmanager
def trial(data: Path, scale: Scale) -> Iterator[Trial]:
    """A service of this scale for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="review-loop-faults-") as folder:
        broker = Broker(Path(folder))
        broker.start()
        names, authority = Names(Path(folder) / "names"), new_authority(Path(folder))
        trust = {"WEBHOOK_CA_FILE": authority.file, **names.environment}
        service = Service(data, REDIS_URL=broker.server.url, **scale.environment, **trust)
        try:
            yield Trial(service.start(), broker, scale, names, authority)
        finally:
            service.discard()
            broker.kill()
