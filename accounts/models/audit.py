"""The table of the audit log."""

from django.db import models
from django.db.models.functions import Now

from accounts.models.keys import ApiKey
from accounts.models.people import User
from db.columns import bucket_constraint, owned_id_field


class AuditEntry(models.Model):
    """An entry of the audit log: who did what to an account.

    A trigger refuses changes, except those of `accounts.erasing` and `accounts.retention`.


    `actor` is empty for a failed sign-in. `key` is set if a program did it with an API key.
    """

    id = owned_id_field("account_id")
    account = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="audit", db_index=False
    )
    actor = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    action = models.CharField(max_length=50)
    subject = models.CharField(max_length=200, blank=True)
    key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    ip = models.GenericIPAddressField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [bucket_constraint("account_id", name="audit_entry_in_bucket")]
        indexes = [models.Index(fields=["account", "-created_at"], name="audit_by_account")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
