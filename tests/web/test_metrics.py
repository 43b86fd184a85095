"""/metrics: who may read them, and what they say."""

import urllib.error
import urllib.request
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import requests
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from accounts.models import User
from db import worker_status
from loops.models import Loop
from tests.api.bodies import question
from tests.conftest import Api, key_of
from tests.serving import serving
from tests.webhooks.log import made
from web import metrics, metrics_server
from webhooks.models import Delivery

TOKEN = {"Authorization": "Bearer a token of the scraper"}


@pytest.fixture(autouse=True)
def _on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.METRICS_TOKEN = "a token of the scraper"
    monkeypatch.setattr(metrics, "IS_ON", True)


def read(text: str) -> dict[str, float]:
    """The samples, by name and labels as they are written."""
    return {
        sample.name
        + "".join(f" {value}" for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def ask(client: Client, **options: Any) -> dict[str, float]:
    response = client.get("/metrics", headers=TOKEN, **options)
    assert response.status_code == 200
    return read(response.content.decode())


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer x"}, {"Authorization": "ü"}])
def test_strangers_see_nothing(db: None, client: Client, headers: dict[str, str]) -> None:
    response = client.get("/metrics", headers=headers)
    assert (response.status_code, response.content) == (404, b"")


def test_a_network_may_read(db: None, client: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN, settings.METRICS_NETWORKS = "", (ip_network("10.0.0.0/8"),)
    assert client.get("/metrics", REMOTE_ADDR="10.1.2.3").status_code == 200
    assert client.get("/metrics", REMOTE_ADDR="11.1.2.3").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_off_is_off(db: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "IS_ON", False)
    assert client.get("/metrics", headers=TOKEN).status_code == 404


def test_a_scraper_calls_any_address(db: None, client: Client) -> None:
    assert client.get("/metrics", headers={**TOKEN, "Host": "10.0.0.7:8000"}).status_code == 200
    assert client.post("/metrics", headers=TOKEN).status_code == 405


def test_calls_by_route_and_status(
    loop: Loop, owner_key: str, api: type[Api], client: Client
) -> None:
    before = ask(client)
    for path in (f"/v1/api/loops/{loop.pk}", "/v1/api/loops/no", "/v1/nothing"):
        api(owner_key).get(path)
    client.get("/healthz")
    after = ask(client)
    new = {
        name: after[name] - before.get(name, 0)
        for name in after
        if name.startswith("reviewloop_calls_total") and after[name] != before.get(name, 0)
    }
    one = "/v1/api/loops/<loop_id>"
    assert {f"reviewloop_calls_total GET {one} 200", f"reviewloop_calls_total GET {one} 400"} < {
        *new
    }
    assert {*new.values()} == {1}
    assert after[f"reviewloop_call_seconds_count {one}"] >= 2
    assert not any("healthz" in name for name in after)


def test_quota_refusals(owner: User, client: Client, api: type[Api]) -> None:
    name = "reviewloop_quota_refusals_total"
    before = ask(client)[name]
    caller = api(key_of(owner, hourly_limit=1))
    assert [caller.get("/v1/test").status_code for _ in range(3)] == [200, 429, 429]
    assert ask(client)[name] == before + 2


def test_a_lag_that_is_missing_is_infinite(db: None, client: Client) -> None:
    worker_status.record_heartbeat("settle_overdue")
    found = ask(client)
    assert found["reviewloop_sweep_lag_seconds settle_overdue"] < 60
    assert found["reviewloop_sweep_lag_seconds deliver_due"] == float("inf")


def test_what_waits(
    loop: Loop, owner: User, owner_key: str, api: type[Api], client: Client
) -> None:
    found = ask(client)
    assert found["reviewloop_oldest_due_seconds delivery"] == 0
    assert found["reviewloop_open_requests any"] == 0
    api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", question())
    made(owner, state="waiting")
    Delivery.objects.update(next_attempt_at="2026-01-01T00:00:00Z")
    found = ask(client)
    assert found["reviewloop_open_requests 1m"] == found["reviewloop_open_requests any"] == 1
    assert found["reviewloop_oldest_due_seconds delivery"] > 3600
    for kind in ("push", "mail", "queued_mail"):
        assert 0 <= found[f"reviewloop_oldest_due_seconds {kind}"] < 60
    assert found["reviewloop_open_circuits"] == 0
    assert found["reviewloop_database_connections active"] >= 1
    assert found["reviewloop_database_connections_limit"] >= 10
    assert found["reviewloop_database_up"] == 1


def test_a_worker_serves_its_own(settings: Settings) -> None:
    settings.METRICS_PORT = 0
    assert metrics_server.start() is None
    from bench.serving import free_port

    settings.METRICS_PORT = free_port()
    server = metrics_server.start()
    assert server
    try:
        metrics.note_attempt("delivered")
        url = f"http://127.0.0.1:{settings.METRICS_PORT}/metrics"
        request = urllib.request.Request(url, headers=TOKEN)
        with urllib.request.urlopen(request, timeout=20) as response:
            assert (
                read(response.read().decode())["reviewloop_delivery_attempts_total delivered"] >= 1
            )
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            urllib.request.urlopen(url, timeout=20)
        caught.value.close()
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.django_db(transaction=True)
def test_the_processes_of_a_server_are_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METRICS_TOKEN", "a token of the scraper")
    log = tmp_path / "web.log"
    with serving(log, "--workers", "2") as site:
        for _ in range(40):  # each on a connection of its own, which the kernel gives to either
            requests.get(f"{site}/accounts/login/", timeout=30)
        for _ in range(8):
            found = read(requests.get(f"{site}/metrics", headers=TOKEN, timeout=30).text)
            assert found["reviewloop_calls_total GET /accounts/login/ 200"] == 40
