"""Whatever a variable of the environment is set to: it can be read, or the reason names it."""

import os
import re
import runpy
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.processes.stack import ROOT

EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
NAMES = re.findall(r"^#?([A-Z][A-Z0-9_]+)=", EXAMPLE, re.M)
HOSTILE = [
    "abc", "-1", "0", "1.5", "1h", "inf", "nan", "9" * 25, "1_000", "٣", "a\nb", ",,", "http://[",
    "\udcff", "$SECRET_KEY", "$",
]  # fmt: skip


def read_settings() -> dict[str, object]:
    return runpy.run_path(str(ROOT / "config" / "settings.py"))


def reason_against(name: str) -> str:
    """Why the settings cannot be read; the name alone if they can."""
    try:
        read_settings()
    except ImproperlyConfigured as error:
        return str(error)
    return name


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_value(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in HOSTILE:
        monkeypatch.setenv(name, value)
        assert name in reason_against(name), value


def test_every_variable_is_in_the_example() -> None:
    source = (ROOT / "config" / "settings.py").read_text(encoding="utf-8")
    read = {*re.findall(r'\(\s*"([A-Z][A-Z0-9_]{4,})"', source)}
    assert len(read) > 50
    assert read <= {*NAMES}


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_variable_is_not_set(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a file of Compose: NAME=${NAME:-}."""
    required = {"SECRET_KEY", "SITE_URL", "DATABASE_URL", "REDIS_URL", "ENCRYPTION_KEYS"}
    for name in {*NAMES} - required:
        monkeypatch.setenv(name, value)
    found = read_settings()
    assert (found["API_HOURLY_LIMIT"], found["WEBHOOK_TIMEOUT_SECONDS"]) == (100, 15.0)
    assert found["REQUIRE_CONFIRMED_ADDRESSES"] is False


def test_an_empty_variable_leaves_the_servers_of_make_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command finds them by the file in the folder of its data."""
    values = {name: os.environ[name] for name in ("SECRET_KEY", "DATABASE_URL", "REDIS_URL")}
    (tmp_path / "env").write_text("".join(f"{each}={values[each]}\n" for each in values))
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    for name in (*values, "PROMETHEUS_MULTIPROC_DIR"):
        monkeypatch.setenv(name, "")
    assert read_settings()["SECRET_KEY"] == values["SECRET_KEY"]
    assert {name: os.environ[name] for name in values} == values
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ


@pytest.mark.parametrize("value", ["$2b$12$secret", "secret\n"])
def test_a_secret_is_taken_as_it_is(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of Kubernetes may end with a line's end; without it everybody would be signed out."""
    monkeypatch.setenv("SECRET_KEY", value)
    assert read_settings()["SECRET_KEY"] == value


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("WEBHOOK_TIMEOUT_SECONDS", "15s", "is '15s'; set it to a number such as 15"),
        ("WEBHOOK_LEASE_SECONDS", "15", "is 15; set it to more than 15 (WEBHOOK_TIMEOUT_SECONDS)."),
        ("WEBHOOK_THREADS", "0", "is '0'; set it to a whole number from 1 to 1000"),
        ("FAILED_KEY_RATE", "1000", "is '1000'; set it to a number for a second, minute, hour"),
        ("DEBUG", "ture", "is 'ture'; set it to true or false"),
        ("EMAIL_URL", "smtp.example.com", "cannot be used; set it to consolemail:// or to smtp+"),
        ("DEFAULT_FROM_EMAIL", "Review Loop", "is 'Review Loop'; set it to an address, such as"),
        ("DEFAULT_FROM_EMAIL", "a@b.c, d@e.f", "is 'a@b.c, d@e.f'; set it to an address, such as"),
        ("DEFAULT_FROM_EMAIL", "a@b..c", "is 'a@b..c'; set it to an address, such as"),
        ("SITE_URL", "http://h:99999", "is 'http://h:99999'; set it to an absolute http or https"),
        ("SITE_URL", "http://a..b", "is 'http://a..b'; set it to an absolute http or https"),
        ("SITE_URL", "http://h?x=1", "is 'http://h?x=1'; set it to an address without ?, # and @"),
        ("SITE_URL", "http://a@h", "is 'http://a@h'; set it to an address without ?, # and @"),
        ("SITE_URL", "http://prüfung.de", "is 'http://prüfung.de'; write its host as browsers"),
        ("KEEP_REQUESTS_DAYS", "2", "is 2; set it to 4 to 30000 days, or to 0 to keep for ever"),
    ],
)
def test_what_to_set(name: str, value: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=re.escape(f"{name} {sentence}")):
        read_settings()
