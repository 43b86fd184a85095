"""The link that ends the emails of a person without a sign-in, and does nothing else."""

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

_SALT = "notifications.unsubscribe"


def make(user_id: str) -> str:
    """The URL where a POST ends the emails of this person (RFC 8058). It does not expire."""
    token = Signer(salt=_SALT).sign(user_id).replace(":", ".")
    return f"{settings.SITE_URL}{reverse('unsubscribe', args=[token])}"


def read(token: str) -> str | None:
    """The id of the person whose emails the link ends; None where we did not make it."""
    user_id, _, signature = token.partition(".")
    try:
        return Signer(salt=_SALT).unsign(f"{user_id}:{signature}")
    except BadSignature:
        return None
