"""Review tokens for tests."""

from datetime import timedelta

from django.utils import timezone

from accounts import key_format, review_tokens
from accounts.models import ReviewToken, User


def token_of(person: User, *, name: str = "Laptop", days: float = 30) -> str:
    """The secret of a new review token of this person."""
    secret = key_format.new_key(key_format.REVIEW_PREFIX)
    expires_at = timezone.now() + timedelta(days=days)
    review_tokens.create_once(user=person, secret=secret, name=name, expires_at=expires_at)
    return secret


def row_of(secret: str) -> ReviewToken:
    row: ReviewToken = ReviewToken.objects.get(digest=key_format.digest(secret))
    return row


def revoke(secret: str) -> bool:
    row = row_of(secret)
    return review_tokens.revoke(user_id=row.user_id, token_id=row.pk)
