"""Who is told how, and what they are still to be told. `reviews.models` makes them known."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from db.columns import LookupField, in_bucket_of, owned_id_field


class Device(models.Model):
    """A browser that asked for pushes: a subscription of the Push API."""

    id = owned_id_field("user_id")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="devices"
    )
    endpoint = LookupField(max_length=2048)
    host = models.CharField(max_length=255)
    p256dh = models.CharField(max_length=100)
    auth = models.CharField(max_length=30)
    label = models.CharField(max_length=60)
    is_on = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            in_bucket_of("user_id", name="device_in_bucket"),
            models.UniqueConstraint(fields=["endpoint"], name="device_endpoint_unique"),
        ]

    def __str__(self) -> str:
        return self.label


class MailChoice(models.Model):
    """Which requests a person without a device gets by e-mail; without a row every one."""

    class Mails(models.TextChoices):
        EVERY = "every", "Every question"
        CRITICAL = "critical", "Critical questions only"
        NONE = "none", "None"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="mail_choice",
    )
    mails = models.CharField(
        max_length=8, choices=Mails, default=Mails.EVERY, db_default=Mails.EVERY
    )
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(mails__in=["every", "critical", "none"]), name="mail_choice_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.mails} for {self.user_id}"


class Notification(models.Model):
    """One person to be told of one request, on one device or by e-mail.

    Inserted by the statement that creates the request, whose account owns it: the recipient may
    review for many. Waiting, it is due at `next_attempt_at`; leased, `claim_id` says by whom, and
    `next_attempt_at` is the lease's end.
    """

    class Channel(models.TextChoices):
        PUSH = "push"
        MAIL = "mail"

    class State(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        DROPPED = "dropped"

    id = owned_id_field("account_id")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # the request refers to it
    )
    request = models.ForeignKey(
        "reviews.Request", on_delete=models.CASCADE, related_name="notifications", db_index=False
    )
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    channel = models.CharField(max_length=4, choices=Channel)
    # No foreign key: a device that is removed at the wrong moment must not fail a creation.
    # What waits for one that is gone is dropped when it is due.
    device = models.ForeignKey(
        Device,
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    state = models.CharField(
        max_length=7, choices=State, default=State.WAITING, db_default=State.WAITING
    )
    claim_id = models.CharField(max_length=24, null=True)  # noqa: DJ001
    next_attempt_at = models.DateTimeField()
    failed_attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    error = models.CharField(max_length=500, blank=True, default="", db_default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    done_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        constraints = [
            in_bucket_of("account_id", name="notification_in_bucket"),
            models.UniqueConstraint(
                fields=["request", "device"],
                condition=Q(channel="push"),
                name="notification_once_per_device",
            ),
            models.UniqueConstraint(
                fields=["request", "recipient"],
                condition=Q(channel="mail"),
                name="notification_once_by_mail",
            ),
            models.CheckConstraint(
                condition=Q(channel="push", device__isnull=False)
                | Q(channel="mail", device__isnull=True),
                name="notification_on_device_or_by_mail",
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", done_at__isnull=True)
                | Q(state__in=["sent", "dropped"], done_at__isnull=False),
                name="notification_waiting_or_done",
            ),
        ]
        indexes = [
            models.Index(
                fields=["channel", "next_attempt_at"],
                condition=Q(state="waiting"),
                name="notification_due",
            ),
            models.Index(
                fields=["recipient"],
                condition=Q(state="waiting", channel="mail"),
                name="notification_mail_of",
            ),
            models.Index(
                fields=["done_at"], condition=Q(done_at__isnull=False), name="notification_done"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel} of {self.request_id} to {self.recipient_id}"
