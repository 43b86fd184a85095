"""`--no-servers` keeps what needs no server, and tells by the fixtures alone."""

import os
from pathlib import Path

import pytest

from local.pytest_plugin import UNSTARTED_SERVERS, needs_server


@pytest.fixture
def somebody(db: None) -> None:
    """As far from the database as a fixture of a fixture."""


def test_a_test_without_fixtures_needs_none(request: pytest.FixtureRequest) -> None:
    assert not needs_server(request.node)


def test_neither_does_one_with_a_folder(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    assert not needs_server(request.node)


def test_whoever_asks_for_the_database_does(request: pytest.FixtureRequest, somebody: None) -> None:
    assert needs_server(request.node)


@pytest.mark.django_db
def test_a_mark_counts_as_asking(request: pytest.FixtureRequest) -> None:
    assert needs_server(request.node)


def test_nobody_else_reaches_redis(request: pytest.FixtureRequest, redis_server: None) -> None:
    assert needs_server(request.node)


def test_who_asks_for_no_server_is_given_none() -> None:
    """Otherwise it would pass under `make test` and fail under `make check`."""
    for name, address in UNSTARTED_SERVERS.items():
        assert os.environ[name] == address


def test_who_asks_is_given_the_servers(redis_server: None) -> None:
    for name, address in UNSTARTED_SERVERS.items():
        assert os.environ[name] != address
