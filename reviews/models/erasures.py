"""The table of erasures under way."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Erasure(models.Model):
    """A person whose account was made anonymous, while a worker removes the rest.

    `sealed` has the addresses to look for and the accounts to look in, encrypted; it is empty once
    everything is done.
    """

    account = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.PROTECT, related_name="+"
    )
    sealed = models.BinaryField()
    begun_at = models.DateTimeField(db_default=Now(), editable=False)
    done_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["begun_at"], condition=Q(done_at__isnull=True), name="erasure_under_way"
            )
        ]

    def __str__(self) -> str:
        return str(self.account_id)
