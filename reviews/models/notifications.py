"""Push subscriptions, email preferences, and the notifications to send."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _lazy

from db.columns import LookupField, bucket_constraint, owned_id_field
from outbox.models import OutboxRow


class PushSubscription(models.Model):
    """A browser that agreed to pushes: a PushSubscription of the Push API.

    `test_result` is of the last test push: '' while there is none, 'accepted', 'gone', 'busy'
    (never sent), or the error.
    """

    id = owned_id_field("user_id")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="push_subscriptions"
    )
    endpoint = LookupField(max_length=2048)
    host = models.CharField(max_length=255)
    p256dh = models.CharField(max_length=100)
    auth = models.CharField(max_length=30)
    label = models.CharField(max_length=60)
    is_on = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    last_used_at = models.DateTimeField(null=True)
    test_sent_at = models.DateTimeField(null=True)
    test_result = models.CharField(max_length=500, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            bucket_constraint("user_id", name="push_subscription_in_bucket"),
            models.UniqueConstraint(fields=["endpoint"], name="push_subscription_endpoint_unique"),
        ]

    def __str__(self) -> str:
        return self.label


class EmailPreference(models.Model):
    """The requests about which a person gets emails; without a row, all of them.

    Emails go to people who have no push subscription that is on. `mailed_at` is when the last
    one was claimed.
    """

    class Mails(models.TextChoices):
        EVERY = "every", _lazy("Every question")
        CRITICAL = "critical", _lazy("Critical questions only")
        NONE = "none", _lazy("None")

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="email_preference",
    )
    mails = models.CharField(
        max_length=8, choices=Mails, default=Mails.EVERY, db_default=Mails.EVERY
    )
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(mails__in=["every", "critical", "none"]), name="email_preference_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.mails} for {self.user_id}"


class Notification(OutboxRow):
    """One message to send: one request, to one push subscription or to one person by email.

    The statement that creates the request inserts it. It belongs to the request's account, since
    the recipient may review for many. `lane` is the host of the push service.
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
    # No foreign key: the database would read the whole table for each deleted request. The code
    # that deletes a request deletes its notifications first (`reviews.retention`).
    request = models.ForeignKey(
        "reviews.Request",
        on_delete=models.CASCADE,
        related_name="notifications",
        db_index=False,
        db_constraint=False,
    )
    recipient = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    channel = models.CharField(max_length=4, choices=Channel)
    # No foreign key: the concurrent removal of a subscription must not fail the creation of a
    # request. A notification without its subscription is dropped when it is due.
    subscription = models.ForeignKey(
        PushSubscription,
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    lane = models.CharField(max_length=255, blank=True, default="", db_default="")
    state = models.CharField(
        max_length=7, choices=State, default=State.WAITING, db_default=State.WAITING
    )
    error = models.CharField(max_length=500, blank=True, default="", db_default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    done_at = models.DateTimeField(null=True)
    # the call that created the request (web.call_ids)
    call_id = models.CharField(max_length=64, null=True, editable=False)  # noqa: DJ001

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        constraints = [
            bucket_constraint("account_id", name="notification_in_bucket"),
            models.UniqueConstraint(
                fields=["request", "subscription"],
                condition=Q(channel="push"),
                name="notification_once_per_subscription",
            ),
            models.UniqueConstraint(
                fields=["request", "recipient"],
                condition=Q(channel="mail"),
                name="notification_once_by_mail",
            ),
            models.CheckConstraint(
                condition=Q(channel="push", subscription__isnull=False)
                | Q(channel="mail", subscription__isnull=True),
                name="notification_by_push_or_mail",
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", done_at__isnull=True)
                | Q(state__in=["sent", "dropped"], done_at__isnull=False),
                name="notification_waiting_or_done",
            ),
        ]
        indexes = [
            models.Index(
                fields=["account", "lane", "next_attempt_at"],
                condition=Q(state="waiting", channel="push"),
                name="notification_push_lane",
            ),
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(claim_id__isnull=False),
                name="notification_claimed",
            ),
            models.Index(
                fields=["recipient", "next_attempt_at"],
                condition=Q(state="waiting", channel="mail"),
                name="notification_mail_lane",
            ),
            models.Index(
                fields=["done_at"], condition=Q(done_at__isnull=False), name="notification_done"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel} of {self.request_id} to {self.recipient_id}"
