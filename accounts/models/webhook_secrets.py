"""The table of the secrets that sign webhooks."""

from django.db import models
from django.db.models.functions import Now

from accounts.models.people import User


class WebhookSecret(models.Model):
    """The encrypted secret that signs an account's webhooks.

    During a rotation, `previous` stays valid until `previous_until`.
    """

    account = models.OneToOneField(
        User, primary_key=True, on_delete=models.PROTECT, related_name="webhook_secret"
    )
    sealed = models.BinaryField()
    issued = models.BooleanField()
    previous_sealed = models.BinaryField(null=True)
    previous_issued = models.BooleanField(null=True)
    previous_until = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    previous_sealed__isnull=True,
                    previous_issued__isnull=True,
                    previous_until__isnull=True,
                )
                | models.Q(
                    previous_sealed__isnull=False,
                    previous_issued__isnull=False,
                    previous_until__isnull=False,
                ),
                name="webhook_secret_previous_whole",
            )
        ]

    def __str__(self) -> str:
        return f"secret of {self.account_id}"
