"""Encrypts all encrypted columns again, with the first of ENCRYPTION_KEYS."""

from collections.abc import Iterator
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.db.models import Model, QuerySet

from accounts import vault
from accounts.models import WebhookEndpoint, WebhookSecret
from accounts.secret_services import drop_expired
from mailing.models import QueuedMail
from reviews.models import Erasure, SigningKey

# The columns with encrypted bytes, of all apps.
COLUMNS: tuple[tuple[type[Model], str], ...] = (
    (WebhookSecret, "sealed"),
    (WebhookSecret, "previous_sealed"),
    (WebhookEndpoint, "sealed"),
    (WebhookEndpoint, "previous_sealed"),
    (QueuedMail, "sealed"),
    (Erasure, "sealed"),
    (SigningKey, "sealed"),
)
SEALED_IN_AUTHENTICATORS = ("secret", "seed")  # text in a JSON object


@transaction.atomic
def reseal_all() -> int:
    """Encrypts every stored secret again with the first key. Raises vault.Unreadable.

    Returns the number of accounts with a webhook secret.
    """
    for secrets in (WebhookSecret.objects.all(), WebhookEndpoint.objects.all()):
        drop_expired(secrets)
    for model, column in COLUMNS:
        for pk, sealed in _select(model, column).select_for_update().order_by("pk"):
            rows = model._default_manager.filter(pk=pk)
            rows.update(**{column: vault.reseal(sealed)})
    for authenticator in Authenticator.objects.select_for_update().order_by("pk"):
        for name in SEALED_IN_AUTHENTICATORS:
            if name in authenticator.data:
                sealed = vault.reseal(authenticator.data[name].encode())
                authenticator.data[name] = sealed.decode()
        authenticator.save(update_fields=["data"])
    return WebhookSecret.objects.count()


def count_by_key() -> tuple[int, int]:
    """Counts the stored secrets that no key decrypts, and those that need a key but the first."""
    unreadable = old = 0
    for sealed in _list_sealed():
        try:
            vault.open_sealed(sealed)
        except vault.Unreadable:
            unreadable += 1
        else:
            old += not vault.is_current(sealed)
    return unreadable, old


def list_needed_keys() -> list[str]:
    """Returns the fingerprints of the first key and of the others that stored secrets use."""
    used = {vault.find_key(sealed) for sealed in _list_sealed()}
    first, *others = settings.ENCRYPTION_KEYS
    return [vault.get_fingerprint(key) for key in (first, *(k for k in others if k in used))]


def _select(model: type[Model], column: str) -> QuerySet[Any, Any]:
    """Returns the id and the encrypted bytes of each row whose column is not empty."""
    rows = model._default_manager.exclude(**{column: None}).exclude(**{column: b""})
    return rows.values_list("pk", column)


def _list_sealed() -> Iterator[bytes]:
    for model, column in COLUMNS:
        yield from (bytes(sealed) for _, sealed in _select(model, column))
    for data in Authenticator.objects.values_list("data", flat=True):
        yield from (data[name].encode() for name in SEALED_IN_AUTHENTICATORS if name in data)
