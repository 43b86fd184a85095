"""The table of viewers of requests."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from reviews.models.requests import Request


class Viewer(models.Model):
    """A reviewer who has opened a request, and when they first opened, skipped or claimed it.

    The account is the request's. `reviews.viewers` writes it.
    """

    pk = models.CompositePrimaryKey("request_id", "person_id")
    request = models.ForeignKey(
        Request, on_delete=models.CASCADE, related_name="viewers", db_index=False
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # the request refers to it
    )
    opened_at = models.DateTimeField(db_default=Now(), editable=False)
    skipped_at = models.DateTimeField(null=True)
    claimed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.person_id} of {self.request_id}"
