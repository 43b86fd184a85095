"""/healthz and /readyz."""

import pytest
from django.db import connection
from django.test import Client

from db import worker_status
from tests.conftest import Api


def test_healthz_touches_nothing(client: Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


def test_readyz_reports_redis_and_the_lag_of_background_work(db: None, client: Client) -> None:
    worker_status.record_heartbeat("settle_overdue")
    response = client.get("/readyz")
    assert response.status_code == 200
    body = response.json()
    assert 0 <= body.pop("background_lag_seconds")["settle_overdue"] < 60
    assert body == {"status": "ok", "database": "ok", "migrations": "ok", "redis": "ok"}


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
