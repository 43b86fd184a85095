"""Encrypts all stored secrets again with the first of ENCRYPTION_KEYS."""

from collections.abc import Iterator

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction

from accounts import vault
from accounts.models import WebhookSecret
from accounts.secret_services import drop_expired

SEALED_IN_AUTHENTICATORS = ("secret", "seed")


@transaction.atomic
def reseal_all() -> int:
    """Encrypts every webhook and two-factor secret again. Raises vault.Unreadable.

    Returns the number of accounts with a webhook secret.
    """
    drop_expired(WebhookSecret.objects.all())
    rows = list(WebhookSecret.objects.select_for_update().order_by("pk"))
    for row in rows:
        row.sealed = vault.reseal(row.sealed)
        if row.previous_sealed is not None:
            row.previous_sealed = vault.reseal(row.previous_sealed)
        row.save(update_fields=["sealed", "previous_sealed"])
    for authenticator in Authenticator.objects.select_for_update().order_by("pk"):
        for name in SEALED_IN_AUTHENTICATORS:
            if name in authenticator.data:
                sealed = vault.reseal(authenticator.data[name].encode())
                authenticator.data[name] = sealed.decode()
        authenticator.save(update_fields=["data"])
    return len(rows)


def count_by_key() -> tuple[int, int]:
    """Returns how many stored secrets no key decrypts, and how many need another than the first."""
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


def _list_sealed() -> Iterator[bytes]:
    for current, previous in WebhookSecret.objects.values_list("sealed", "previous_sealed"):
        yield from (bytes(sealed) for sealed in (current, previous) if sealed is not None)
    for data in Authenticator.objects.values_list("data", flat=True):
        yield from (data[name].encode() for name in SEALED_IN_AUTHENTICATORS if name in data)
