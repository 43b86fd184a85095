"""The table of export leases."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models


class ExportLease(models.Model):
    """An account's export that is under way. One account has one at a time.

    The lease of a killed process expires: after `expires_at` the next export replaces it.
    """

    account = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    token = models.CharField(max_length=24)
    expires_at = models.DateTimeField()

    objects: ClassVar[Any] = models.Manager()

    def __str__(self) -> str:
        return str(self.account_id)
