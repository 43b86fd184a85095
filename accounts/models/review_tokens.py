"""The table of review tokens."""

from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Now

from accounts.key_format import REVIEW_PREFIX
from accounts.models.people import User
from db.columns import bucket_constraint, owned_id_field


class ReviewTokenQuerySet(models.QuerySet["ReviewToken"]):
    """Queries for review tokens."""

    def of_person(self, user_id: str) -> "ReviewTokenQuerySet":
        return self.filter(user_id=user_id)

    def usable(self) -> "ReviewTokenQuerySet":
        """Keeps the tokens that work now."""
        return self.filter(revoked_at=None, expires_at__gt=Now())


class ReviewToken(models.Model):
    """A token with which a person reviews without a browser, stored only as its digest.

    `calls` counts those of `hour`, the last one in which the token was used. `shown_at` is empty
    until the person has seen the token once.
    """

    id = owned_id_field("user_id")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="review_tokens")
    name = models.CharField(max_length=100)
    digest = models.BinaryField(max_length=32)
    last_four = models.CharField(max_length=4)
    hour = models.DateTimeField(null=True)
    calls = models.PositiveIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    shown_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[Any] = ReviewTokenQuerySet.as_manager()

    class Meta:
        constraints = [
            bucket_constraint("user_id", name="review_token_in_bucket"),
            models.UniqueConstraint(fields=["digest"], name="review_token_digest_unique"),
        ]

    def __str__(self) -> str:
        return f"{REVIEW_PREFIX}…{self.last_four}"
