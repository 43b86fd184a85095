"""The outbox: what must reach a receiver, as the bytes that it will get."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from config.model_fields import id_field


class Delivery(models.Model):
    """One event for one receiver.

    `occurrence` names what happened, once: the database refuses a second row for one final
    transition or one claim.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        DEAD = "dead"

    id = id_field()
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="deliveries",
        db_index=False,
    )
    event = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=24)
    occurrence = models.CharField(max_length=60, unique=True)
    url = models.TextField()
    body = models.BinaryField()
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    next_attempt_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=models.Q(state="waiting"),
                name="delivery_due",
            ),
            models.Index(fields=["account", "-created_at", "id"], name="delivery_by_account"),
            models.Index(fields=["subject_id"], name="delivery_by_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.subject_id}"
