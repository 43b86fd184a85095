"""Behind PgBouncer in transaction mode, with fewer connections than threads, every call works."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import requests
from django.db import connection

from accounts.models import User
from loops.models import Loop
from tests.api.bodies import question
from tests.backends import backends, listening
from tests.deploy.pooler import PGBOUNCER, pooling
from tests.serving import database_url, serving
from tests.waiting import wait_until

THREADS, CONNECTIONS, CALLS = 8, 5, 1000
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not PGBOUNCER, reason="pgbouncer is not installed (.ci/run installs it)"),
]


@pytest.fixture
def pooler(tmp_path: Path) -> Iterator[str]:
    """The address of PgBouncer with our settings (deploy/), over the database of the test."""
    given = connection.settings_dict
    with pooling(
        tmp_path,
        host=given["HOST"],
        user=given["USER"],
        name=given["NAME"],
        connections=CONNECTIONS,
        patience=60,
    ) as address:
        yield address


def test_eight_threads_share_five_connections(
    pooler: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    loop: Loop,
    owner: User,
    owner_key: str,
) -> None:
    monkeypatch.setenv("DATABASE_POOLER", "transaction")
    monkeypatch.setenv("DATABASE_DIRECT_URL", database_url())
    monkeypatch.setenv("API_HOURLY_LIMIT", str(2 * CALLS))
    log, others = tmp_path / "web.log", backends()
    with serving(log, "--threads", str(THREADS), database=pooler) as site:
        headers = {"Authorization": f"Bearer {owner_key}"}
        create = f"{site}/v1/api/loops/{loop.pk}/requests"

        def call(number: int) -> list[int]:
            with requests.Session() as session:
                session.headers.update(headers)
                found = []
                for _ in range(CALLS // THREADS // 5):
                    made = session.post(create, json=question())
                    one = f"{site}/v1/api/requests/{made.json()['data']['request_id']}"
                    found += [made.status_code, session.get(one).status_code]
                    found += [session.delete(one).status_code, session.get(one).status_code]
                    found.append(session.get(f"{site}/v1/api/requests").status_code)
                return found

        with ThreadPoolExecutor(THREADS) as pool:
            statuses = [status for some in pool.map(call, range(THREADS)) for status in some]
            assert len(statuses) == CALLS
            assert {*statuses} == {200, 201}, log.read_text()

            made = requests.post(create, json=question(), headers=headers, timeout=30).json()
            one = f"{site}/v1/api/requests/{made['data']['request_id']}"
            waiting = pool.submit(requests.get, f"{one}?wait=50", headers=headers, timeout=30)
            wait_until(lambda: listening() - others)
            requests.delete(one, headers=headers, timeout=30)
            ended = waiting.result()
            assert ended.ok, (ended.text, log.read_text())
            assert ended.json()["data"]["request"]["status"] == "cancelled"
        assert 0 < len(backends() - listening() - others) <= CONNECTIONS
    with psycopg.connect(pooler) as asking:
        assert asking.execute("SHOW lock_timeout").fetchone() == ("2s",)
