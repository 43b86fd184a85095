"""A disk without room: writes get 503, /readyz says so, and all goes on once there is room."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from tests.faults.clients import Machine
from tests.faults.postgres_faults import IN_TIME
from tests.faults.service import Service
from tests.faults.trial import NotTried, Trial
from tests.waiting import wait_until

SIZE = "400m"  # of the file system; a new data folder takes about 120 MB
LARGE = "x" * 2000  # characters of a request, so that the table soon needs more room
NOTICED = 10.0  # seconds


def disk_full(trial: Trial) -> str:
    """The whole data folder is on the full disk, with PostgreSQL's log of changes."""
    with small_disk() as folder:
        service = Service(folder / "data", **trial.scale.environment)
        try:
            return fill(service.start(), folder)
        finally:
            service.discard()


@contextmanager
def small_disk() -> Iterator[Path]:
    """A file system of SIZE in memory. Raises NotTried without the right to mount one."""
    with tempfile.TemporaryDirectory(prefix="review-loop-disk-") as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0755", "tmpfs", folder]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            raise NotTried("this needs root, to mount a small file system")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def fill(service: Service, folder: Path) -> str:
    machine, site = service.machine(), service.stack.site
    asked = [machine.ask() for _ in range(5)]
    before, seconds = service.pids("web"), list[float]()
    ballast = folder / "ballast"
    try:
        write_until_full(ballast)
        while create(machine, asked, seconds) == 201:
            pass
        refused_at = time.monotonic()
        wait_until(lambda: readiness(site) == 503, NOTICED)
        noticed = time.monotonic() - refused_at
        state = requests.get(site + "/readyz", timeout=30).json()["database"]
        for _ in range(20):  # some still fit into pages that there are
            create(machine, asked, seconds)
        assert readiness(site) == 503
    finally:
        ballast.unlink()
    freed_at = time.monotonic()
    wait_until(lambda: readiness(site) == 200, 60)
    wait_until(lambda: machine.post_question().status_code == 201, 60)
    back = time.monotonic() - freed_at
    assert all(machine.read(each)["status"] in ("pending", "timeout") for each in asked)
    assert max(seconds) < IN_TIME
    assert service.pids("web") == before
    return (
        f"creates got 503, slowest {max(seconds):.1f} s; /readyz red after"
        f" {noticed:.1f} s (“{state}”); green and writing {back:.1f} s after there was room again;"
        f" none of {len(asked)} acknowledged requests lost; never restarted: web"
    )


def create(machine: Machine, asked: list[str], seconds: list[float]) -> int:
    """The status of a large create; an acknowledged one is written down."""
    answer = machine.post_question(request_text=LARGE)
    seconds.append(answer.elapsed.total_seconds())
    assert answer.status_code in (201, 503), answer.text
    if answer.status_code == 201:
        asked.append(answer.json()["data"]["request_id"])
    return answer.status_code


def write_until_full(file: Path) -> None:
    """Leaves no byte free."""
    block = b"\0" * 65536
    with file.open("wb", buffering=0) as stream:
        while True:
            try:
                stream.write(block)
            except OSError:
                if len(block) == 1:
                    return
                block = block[: max(1, len(block) // 16)]


def readiness(site: str) -> int:
    return requests.get(site + "/readyz", timeout=30).status_code
