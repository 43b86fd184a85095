"""/healthz and /readyz."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from db import worker_status, writability
from tests.conftest import Api


def test_healthz_touches_nothing(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


def test_readyz_reports_redis_and_the_lag_of_background_work(db: None, client: Client) -> None:
    for name in worker_status.EXPECTED_SWEEPS:
        worker_status.record_heartbeat(name)
    response = client.get("/readyz")
    assert response.status_code == 200
    body = response.json()
    assert all(0 <= lag < 60 for lag in body.pop("background_lag_seconds").values())
    assert body.pop("background") == "ok"
    assert body == {"status": "ok", "database": "ok", "migrations": "ok", "redis": "ok"}


def test_a_lag_that_is_missing_is_not_ok(db: None, client: Client) -> None:
    worker_status.record_heartbeat("settle_overdue")
    body = client.get("/readyz").json()
    assert (body["status"], body["background"]) == ("ok", "late")
    assert body["background_lag_seconds"]["settle_overdue"] is not None
    assert body["background_lag_seconds"]["deliver_due"] is None


def test_so_is_one_that_is_long(db: None, client: Client) -> None:
    for name in worker_status.EXPECTED_SWEEPS:
        worker_status.record_heartbeat(name)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE db_heartbeat SET beat_at = beat_at - interval '11 seconds'"
            " WHERE name = 'mail_due'"
        )
    assert client.get("/readyz").json()["background"] == "late"


def test_readyz_waits_for_migrations(db: None, client: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'reviews'")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["migrations"] == "pending"


@pytest.mark.parametrize("host", ["10.0.0.7:8000", "a b", "", "elsewhere.example"])
def test_a_probe_calls_any_address(db: None, client: Client, host: str) -> None:
    for path in ("/healthz", "/readyz"):
        assert client.get(path, headers={"host": host}).json()["status"] == "ok"


def test_only_get_is_served(client: Client, api: type[Api]) -> None:
    assert client.post("/healthz").status_code == 405
    assert client.post("/readyz").status_code == 405


@pytest.fixture
def _fresh_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writability, "_memory", writability.Memory())
    monkeypatch.setattr(writability, "TRIAL_INTERVAL", 0.0)


@contextmanager
def read_only() -> Iterator[None]:
    """The server refuses the writes of this connection, as a standby would."""
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        try:
            yield
        finally:
            cursor.execute("RESET default_transaction_read_only")


def trials(client: Client) -> tuple[int, int]:
    """The status of /readyz, and how many writes it tried."""
    with CaptureQueriesContext(connection) as queries:
        status = client.get("/readyz").status_code
    return status, sum("trial_write" in query["sql"] for query in queries)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_fresh_memory")
def test_readyz_notices_that_writes_fail(client: Client, owner_key: str, api: type[Api]) -> None:
    worker_status.record_heartbeat("settle_overdue")
    with read_only():
        assert trials(client) == (200, 0)  # nobody has noticed yet
        assert api(owner_key).get("/v1/test").status_code == 503
        assert trials(client) == (503, 1)
        assert client.get("/readyz").json()["database"] == "not writable"
    assert trials(client) == (200, 1)
    assert trials(client) == (200, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_fresh_memory")
def test_readyz_hears_of_it_from_another_process(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker_status.record_heartbeat("settle_overdue")
    with read_only():
        writability.note_failure()
        monkeypatch.setattr(writability, "_memory", writability.Memory())
        assert trials(client) == (503, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_fresh_memory")
def test_a_trial_that_just_succeeded_does_not_outweigh_another_process(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writability, "TRIAL_INTERVAL", 60.0)
    assert trials(client) == (200, 1)
    memory = writability._memory
    monkeypatch.setattr(writability, "_memory", writability.Memory())
    writability.note_failure()
    monkeypatch.setattr(writability, "_memory", memory)
    assert trials(client) == (503, 0)
    cache.clear()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_fresh_memory")
def test_readyz_doubts_where_no_heartbeat_is_recorded(client: Client) -> None:
    assert trials(client) == (200, 1)
    worker_status.record_heartbeat("settle_overdue")
    assert trials(client) == (200, 0)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE db_heartbeat SET beat_at = beat_at - interval '11 seconds'")
    assert trials(client) == (200, 1)
    with read_only():
        assert trials(client) == (503, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_fresh_memory")
def test_trials_are_few(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writability, "TRIAL_INTERVAL", 60.0)
    with read_only():
        writability.note_failure()
        assert [trials(client) for _ in range(3)] == [(503, 1), (503, 0), (503, 0)]
    cache.clear()
