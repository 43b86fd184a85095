"""The columns that the rows of every channel have."""

from django.db import models
from django.db.models.functions import Now


class OutboxRow(models.Model):
    """A message to send. Its channel says which rows wait, and what their account and lane are.

    While it waits, it is due at `next_attempt_at`. While it is claimed, `claim_id` fences writes,
    and `next_attempt_at` is the end of the lease.
    """

    next_attempt_at = models.DateTimeField(db_default=Now())
    claim_id = models.CharField(max_length=24, null=True)  # noqa: DJ001 (null is no claim)
    failed_attempts = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        abstract = True
