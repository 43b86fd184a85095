"""The queue of emails."""

from django.db import models
from django.db.models.functions import Now

from db.columns import LookupField
from db.ids import new_id
from outbox.models import OutboxRow


class QueuedMail(OutboxRow):
    """An email that waits for the mail server. The row is deleted once it is sent or given up.

    `sealed` is the whole email, encrypted, because it may contain a code or a link that signs
    somebody in. After `expires_at` it is not sent.
    """

    id = LookupField(primary_key=True, max_length=24, default=new_id, editable=False)
    sealed = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["next_attempt_at"], name="queued_mail_due")]

    def __str__(self) -> str:
        return str(self.pk)
