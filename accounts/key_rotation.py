"""Every secret at rest under the first of ENCRYPTION_KEYS."""

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts import vault
from accounts.models import WebhookSecret
from accounts.secret_services import drop_expired

SEALED_IN_AUTHENTICATORS = ("secret", "seed")


@transaction.atomic
def reseal_all() -> int:
    """Seals every secret anew, those of two-factor sign-in included; returns how many accounts
    have a webhook secret. Raises vault.Unreadable."""
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
