"""The key pair: from the environment, of `make run`, and from `manage.py vapidkey`."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from config.environment import read_vapid_key, read_vapid_subject
from local.datafolder import DataFolder
from tests.reviews.notifications.conftest import KEY


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VAPID_PRIVATE_KEY", raising=False)
    monkeypatch.delenv("VAPID_SUBJECT", raising=False)


def test_without_one_push_is_off() -> None:
    assert read_vapid_key("VAPID_PRIVATE_KEY") == ""


@pytest.mark.parametrize("text", [KEY, KEY + "=", f" {KEY} "])
def test_a_key(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("VAPID_PRIVATE_KEY", text)
    assert read_vapid_key("VAPID_PRIVATE_KEY") == KEY


@pytest.mark.parametrize("text", ["x", KEY[:-2], KEY + "AA", "A" * 43, "_" * 43, "ä" * 43])
def test_what_is_no_key(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("VAPID_PRIVATE_KEY", text)
    with pytest.raises(ImproperlyConfigured, match="this makes one: python manage"):
        read_vapid_key("VAPID_PRIVATE_KEY")


def test_whom_push_services_write_to(monkeypatch: pytest.MonkeyPatch) -> None:
    sender = "Review Loop <noreply@example.com>"
    assert read_vapid_subject("VAPID_SUBJECT", sender=sender) == "mailto:noreply@example.com"
    monkeypatch.setenv("VAPID_SUBJECT", "https://example.com")
    assert read_vapid_subject("VAPID_SUBJECT", sender=sender) == "https://example.com"
    monkeypatch.setenv("VAPID_SUBJECT", "operator@example.com")
    with pytest.raises(ImproperlyConfigured, match="such as mailto:operator@"):
        read_vapid_subject("VAPID_SUBJECT", sender=sender)


def test_the_command_prints_a_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    call_command("vapidkey", stdout=out)
    monkeypatch.setenv("VAPID_PRIVATE_KEY", out.getvalue())
    assert read_vapid_key("VAPID_PRIVATE_KEY") == out.getvalue().strip()


def test_the_key_of_make_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    monkeypatch.setenv("VAPID_PRIVATE_KEY", folder.load_vapid_key())
    assert read_vapid_key("VAPID_PRIVATE_KEY")
    folder.close()
