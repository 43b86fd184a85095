"""The queue of emails."""

from django.db import models
from django.db.models.functions import Now

from db.columns import LookupField
from db.ids import new_id


class QueuedMail(models.Model):
    """An email that waits for the mail server. The row is deleted once it is sent or given up.

    `sealed` is the whole email, encrypted, because it may contain a code or a link that signs
    somebody in. While it waits, it is due at `next_attempt_at`; while it is claimed, `claim_id`
    fences writes, and `next_attempt_at` is the end of the lease. After `expires_at` it is not sent.
    """

    id = LookupField(primary_key=True, max_length=24, default=new_id, editable=False)
    sealed = models.BinaryField()
    next_attempt_at = models.DateTimeField(db_default=Now())
    claim_id = models.CharField(max_length=24, null=True)  # noqa: DJ001 (null is no claim)
    failed_attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["next_attempt_at"], name="queued_mail_due")]

    def __str__(self) -> str:
        return str(self.pk)
