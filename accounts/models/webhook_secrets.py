"""The tables of the secrets that sign webhooks."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models.people import User

PREVIOUS = ("previous_sealed", "previous_issued", "previous_until")


class SealedSecret(models.Model):
    """The columns of an encrypted secret. `changed_at` is when it last changed.

    During a rotation, `previous` stays valid until `previous_until`.
    """

    sealed = models.BinaryField()
    issued = models.BooleanField()
    previous_sealed = models.BinaryField(null=True)
    previous_issued = models.BooleanField(null=True)
    previous_until = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        abstract = True


def previous_whole(name: str) -> models.CheckConstraint:
    """Builds the constraint that either all columns of the previous secret are null, or none is."""
    return models.CheckConstraint(
        condition=Q(**{f"{column}__isnull": True for column in PREVIOUS})
        | Q(**{f"{column}__isnull": False for column in PREVIOUS}),
        name=name,
    )


class WebhookSecret(SealedSecret):
    """The encrypted secret that signs an account's webhooks."""

    account = models.OneToOneField(
        User, primary_key=True, on_delete=models.PROTECT, related_name="webhook_secret"
    )

    class Meta:
        constraints = [previous_whole("webhook_secret_previous_whole")]

    def __str__(self) -> str:
        return f"secret of {self.account_id}"
