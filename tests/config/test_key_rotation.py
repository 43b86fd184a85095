"""ENCRYPTION_KEYS and SECRET_KEY change while several nodes run, and nobody notices."""

from itertools import pairwise

import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.core.management import call_command
from django.db.models.functions import Now
from django.test import Client
from pytest_django import Settings

from accounts import vault
from accounts.models import User
from accounts.secret_services import read_secrets
from config.key_rotation import COLUMNS, list_needed_keys
from mailing.models import QueuedMail
from tests.portal import signed_in
from web import form_tokens

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()
# While one step is rolled out, nodes with this and nodes with the former setting run side by side.
STEPS = [[OLD], [OLD, NEW], [NEW, OLD]]


def test_nodes_of_two_neighbouring_steps_read_each_other(settings: Settings) -> None:
    for step in pairwise(STEPS):
        for writer, reader in (step, step[::-1]):
            settings.ENCRYPTION_KEYS = writer
            sealed = vault.seal("a secret")
            settings.ENCRYPTION_KEYS = reader
            assert vault.open_sealed(sealed) == "a secret"


def test_a_step_that_is_left_out_breaks_a_node(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    sealed = vault.seal("a secret")
    settings.ENCRYPTION_KEYS = [OLD]
    with pytest.raises(vault.Unreadable):
        vault.open_sealed(sealed)


@pytest.mark.django_db
def test_after_rotating_the_old_key_can_go(
    owner: User, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = read_secrets(owner.pk)
    settings.ENCRYPTION_KEYS = [*settings.ENCRYPTION_KEYS, NEW]
    assert read_secrets(owner.pk) == secrets
    settings.ENCRYPTION_KEYS = settings.ENCRYPTION_KEYS[::-1]
    call_command("rotatekeys")
    assert "Secrets of" in capsys.readouterr().err
    settings.ENCRYPTION_KEYS = [NEW]
    assert read_secrets(owner.pk) == secrets


def test_everything_that_is_sealed_is_rotated() -> None:
    sealed = {
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.fields
        if "sealed" in field.name
    }
    assert sealed == set(COLUMNS)


@pytest.mark.django_db
def test_an_email_that_waits_meanwhile(settings: Settings) -> None:
    mail = QueuedMail.objects.create(sealed=vault.seal("Subject: Hello"), expires_at=Now())
    settings.ENCRYPTION_KEYS = [NEW, *settings.ENCRYPTION_KEYS]
    assert len(list_needed_keys()) == 2
    call_command("rotatekeys")
    settings.ENCRYPTION_KEYS = [NEW]
    mail.refresh_from_db()
    assert vault.open_sealed(mail.sealed) == "Subject: Hello"
    assert len(list_needed_keys()) == 1


@pytest.mark.django_db
def test_a_new_secret_key_signs_nobody_out(owner: User, settings: Settings) -> None:
    """The same steps: append to the fallbacks, swap, remove."""
    browser, token = signed_in(owner), form_tokens.issue("test", owner.pk)
    old, new = settings.SECRET_KEY, "another one of fifty characters, or at least of many"
    for key, fallbacks in ((old, [new]), (new, [old]), (new, [old])):
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = key, fallbacks
        assert is_in(browser)
        assert form_tokens.read(token, "test", owner.pk)
    settings.SECRET_KEY_FALLBACKS = []
    assert is_in(browser), "its session has been signed again"
    assert form_tokens.read(token, "test", owner.pk) is None


def is_in(browser: Client) -> bool:
    return browser.get("/inbox/").status_code == 200
