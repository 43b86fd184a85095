"""The files of deploy/ bring up an installation in which a person answers a program."""

import json
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests
from django.conf import settings

from accounts.models import ApiKey, User
from bench.serving import free_port
from config.backups import manifest
from local.account import find_account
from local.datafolder import DataFolder
from local.redis import Redis
from loops.models import Loop
from reviews.models import Request
from tests.api.bodies import question
from tests.config.test_pgbouncer import pooler
from tests.deploy.files import read_health_check
from tests.deploy.installation import NGINX, Installation, settings_of
from tests.deploy.pooler import PGBOUNCER
from tests.portal import confirmed
from tests.serving import database_url
from tests.waiting import wait_until
from tests.web.collector import Collector, collecting
from tests.webhooks.certificates import new_authority
from tests.webhooks.receivers import Receiver, receiving

__all__ = ["pooler"]
CALLERS = 4
TRIES = 5  # of a call
TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"
TRACED = {("web", "POST /v1/api/loops/<loop_id>/requests"), ("worker", "POST webhook")}
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        not (PGBOUNCER and NGINX), reason="needs pgbouncer and nginx (.ci/run installs them)"
    ),
]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as one:
        yield one


@pytest.fixture
def installation(tmp_path: Path, pooler: str, collector: Collector) -> Iterator[Installation]:
    folder = DataFolder(tmp_path)
    redis = Redis(folder.path, folder.sockets)
    server = redis.start()
    environment = settings_of(pooler, database_url(), redis.url)
    made = Installation(
        tmp_path, find_account(tmp_path / "none"), new_authority(tmp_path), environment
    )
    environment.update(
        SITE_URL=made.site,
        ALLOWED_HOSTS="localhost,127.0.0.1",
        OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{collector.address}",
        OTEL_BSP_SCHEDULE_DELAY="200",  # milliseconds
        OTEL_SERVICE_NAME="desk",
        SENTRY_DSN=f"http://key@{collector.address}/7",
    )
    try:
        made.start()
        yield made
    finally:
        made.stop()
        redis.stop(server)
        folder.close()


def answer(installation: Installation, member: User, request_id: str) -> requests.Response:
    """What the browser of a member does, who signed in before."""
    session = requests.Session()
    session.trust_env = False  # its certificates would win over ours
    session.verify = installation.authority.file
    value = confirmed(member).cookies[settings.SESSION_COOKIE_NAME].value
    cookie = f"__Host-sessionid={value}"
    page = session.get(f"{installation.site}/inbox/{request_id}/", headers={"Cookie": cookie})
    token = re.search(r'name="csrfmiddlewaretoken" value="(.+?)"', page.text)
    assert page.ok, page.text
    assert token, page.text
    cookie += f"; __Host-csrftoken={session.cookies['__Host-csrftoken']}"
    session.cookies.clear()
    return session.post(
        f"{installation.site}/inbox/{request_id}/answer/",
        {"csrfmiddlewaretoken": token[1], "answer": "yes"},
        headers={"Cookie": cookie, "Referer": page.url},
        allow_redirects=False,
    )


def events_of(receiver: Receiver) -> list[str]:
    return [json.loads(received.body)["event"] for received in receiver.got]


def names_of(collector: Collector) -> set[tuple[str, str]]:
    """The spans of the trace, with the kind of their processes."""
    spans = collector.spans()
    return {(kind, span.name) for kind, span in spans if span.trace_id.hex() == TRACE}


def create(
    installation: Installation,
    key: str,
    loop: Loop,
    headers: Mapping[str, str] = {},
    **fields: object,
) -> requests.Response:
    return requests.post(
        f"{installation.site}/v1/api/loops/{loop.pk}/requests",
        json=question(**fields),
        headers={"Authorization": f"Bearer {key}", **headers},
        verify=installation.authority.file,
        timeout=60,
    )


def create_once(installation: Installation, key: str, loop: Loop) -> int:
    """Creates a request, as our libraries do; returns how often the call was sent."""
    name = {"Idempotency-Key": str(uuid.uuid4())}
    for count in range(1, TRIES + 1):
        made = create(installation, key, loop, name)
        if made.status_code == 201:
            return count
        assert made.status_code == 502, made.text
    raise AssertionError(f"{TRIES} calls failed")


def test_a_person_answers_while_servers_restart(
    installation: Installation,
    member: User,
    owner_key: str,
    loop: Loop,
    receiver: Receiver,
    collector: Collector,
) -> None:
    """One test, because the installation takes most of the time."""
    ApiKey.objects.update(hourly_limit=100_000)
    trace = {"traceparent": TRACEPARENT}
    made = create(installation, owner_key, loop, trace, callback_url=receiver.url)
    assert made.status_code == 201, made.text
    path = f"/v1/api/requests/{made.json()['data']['request_id']}"
    assert made.json()["data"]["polling_url"] == path
    headers = {"Authorization": f"Bearer {owner_key}"}
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(installation.get, f"{path}?wait=50", headers=headers)
        sent = answer(installation, member, path.rpartition("/")[2])
        assert sent.status_code == 303, sent.text
        ended = waiting.result().json()["data"]["request"]
    assert (ended["status"], ended["response_data"]) == ("completed", "yes")
    wait_until(lambda: "request.completed" in events_of(receiver), 20)
    wait_until(lambda: names_of(collector) >= TRACED, 20)

    outside = requests.get(
        f"http://127.0.0.1:{installation.http}/inbox/",
        headers={"Host": "localhost"},
        allow_redirects=False,
        timeout=10,
    )
    assert (outside.status_code, outside.headers["Location"]) == (
        308,
        f"{installation.site}/inbox/",
    )
    page = installation.get("/accounts/login/")
    assert page.headers["Strict-Transport-Security"]
    assert installation.get("/metrics").status_code == 404

    ask(installation)
    assert installation.start_unit("backup").wait(60) == 0, installation.log("backup")
    (backup,) = (installation.folder / "run").glob("review-loop-*.dump")
    assert manifest.read(backup).migrations

    tries = call_while_servers_restart(installation, owner_key, loop)
    assert Request.objects.count() == len(tries) + 1
    # Nobody holds the sockets of this installation open, so a few are cut off.
    assert sum(tries) - len(tries) <= max(CALLERS, len(tries) / 100)
    assert collector.events() == []  # of Sentry: nothing failed


def ask(installation: Installation) -> None:
    """Asks a web server as the image does."""
    _, *words = read_health_check()
    assert "127.0.0.1:8000" in words[-1]
    for port, status in ((installation.web_ports[0], 0), (free_port(), 1)):
        asked = [*words[:-1], words[-1].replace("8000", str(port))]
        done = subprocess.run([sys.executable, *asked], capture_output=True)
        assert done.returncode == status, done.stderr


def call_while_servers_restart(installation: Installation, key: str, loop: Loop) -> list[int]:
    """How often each create was sent, of some threads that send one after the other."""
    over = threading.Event()

    def call() -> list[int]:
        found = []
        while not over.is_set():
            found.append(create_once(installation, key, loop))
        return found

    with ThreadPoolExecutor(CALLERS) as pool:
        callers = [pool.submit(call) for _ in range(CALLERS)]
        try:
            for port in installation.web_ports:
                installation.restart("web", port)
                wait_until(installation.is_ready, 60)
            installation.restart("worker")
        finally:
            over.set()
        return [status for caller in callers for status in caller.result()]
