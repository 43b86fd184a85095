"""The table of feedback on answers."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from db.columns import ExactJSONField
from reviews.models.requests import Request


class Feedback(models.Model):
    """The creator's feedback on an answer, as submitted."""

    request = models.OneToOneField(Request, primary_key=True, on_delete=models.CASCADE)
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # the request refers to it
    )
    body = ExactJSONField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"feedback on {self.request_id}"
