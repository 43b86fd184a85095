"""The link that ends e-mails without a sign-in. It can do nothing else."""

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

_SALT = "notifications.unsubscribe"


def link(user_id: str) -> str:
    """Where a POST ends the e-mails of this person (RFC 8058). It does not expire."""
    token = Signer(salt=_SALT).sign(user_id).replace(":", ".")
    return f"{settings.SITE_URL}{reverse('unsubscribe', args=[token])}"


def read(token: str) -> str | None:
    """Whose e-mails the link ends; None where it was not made here."""
    user_id, _, signature = token.partition(".")
    try:
        return Signer(salt=_SALT).unsign(f"{user_id}:{signature}")
    except BadSignature:
        return None
