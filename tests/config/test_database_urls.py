"""DATABASE_URL means what it says, or a sentence refuses it; a pooler changes what is sent."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.database_urls import TimeLimits, build_database, read_databases

LIMITS = TimeLimits(lock=2, statement=7)
POOLED = "postgres://app@pooler:6432/app"
DIRECT = "postgres://app@server/app"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("hello", "it does not begin with postgres://"),
        ("mysql://h/x", "it does not begin with postgres://"),
        ("postgres://h", "it names no database"),
        ("postgres://h/", "it names no database"),
        ("postgres://u:secret@h:99999/x", "host or port cannot be read"),
        ("postgres://u:sec#ret@h/x", "cannot be used"),
        ("postgres://h/x?sslmod=require", "a parameter that cannot be used: invalid connection op"),
    ],
)
def test_what_is_wrong_gets_a_sentence(url: str, reason: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"^DATABASE_URL ") as caught:
        build_database("DATABASE_URL", url, LIMITS)
    assert reason in str(caught.value)
    assert "sec" not in str(caught.value)


def test_everything_of_it_arrives() -> None:
    given = build_database(
        "DATABASE_URL", "postgres://u:p%40@a:1,b:2/x?sslmode=require&options=-c%20geqo=off", LIMITS
    )
    assert (given["HOST"], given["PORT"], given["PASSWORD"]) == ("a,b", "1,2", "p@")
    assert given["OPTIONS"]["sslmode"] == "require"
    assert given["OPTIONS"]["options"].startswith("-c geqo=off -c idle_in_transaction")
    assert "-c lock_timeout=2000 -c statement_timeout=7000" in given["OPTIONS"]["options"]
    assert build_database("x", "postgres://u@%2Frun%2Fpg/x", LIMITS)["HOST"] == "/run/pg"


def test_a_pooler_gets_no_settings_and_no_prepared_statements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_DIRECT_URL", DIRECT)
    found = read_databases(POOLED, pooler="transaction", kind="web", limits=LIMITS)
    pooled, direct = found.used, found.direct
    assert found.pooled is pooled
    assert (pooled["HOST"], direct["HOST"]) == ("pooler", "server")
    assert pooled["OPTIONS"]["prepare_threshold"] is None
    assert pooled["DISABLE_SERVER_SIDE_CURSORS"]
    assert "options" not in pooled["OPTIONS"]
    assert "lock_timeout=2000" in direct["OPTIONS"]["options"]


def test_commands_go_around_a_pooler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_DIRECT_URL", DIRECT)
    found = read_databases(POOLED, pooler="transaction", kind="command", limits=LIMITS)
    assert found.used["HOST"] == "server"


def test_a_pooler_needs_the_direct_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_DIRECT_URL", raising=False)
    with pytest.raises(ImproperlyConfigured, match="DATABASE_DIRECT_URL is not set"):
        read_databases(POOLED, pooler="transaction", kind="web", limits=LIMITS)


def test_without_a_pooler_there_is_one_database(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_databases(DIRECT, pooler="", kind="web", limits=LIMITS)
    assert found.used is found.direct
    assert found.pooled is None
    assert found.used["OPTIONS"]["prepare_threshold"] == 5
