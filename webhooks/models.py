"""The webhook outbox: deliveries, as the bytes to send, and their attempts."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _lazy

from db.columns import (
    ExactJSONField,
    LookupField,
    TransactionIdField,
    bucket_constraint,
    owned_id_field,
)
from outbox.models import OutboxRow
from webhooks.trace_context import LENGTH

TEST_EVENT = "webhook.test"  # a person asks for it; it is attempted once


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    """The ways to reach a delivery."""

    def of_account(self, account_id: str) -> "DeliveryQuerySet":
        return self.filter(account_id=account_id)

    def about(self, occurrences: Iterable[str]) -> "DeliveryQuerySet":
        """The deliveries of these occurrences, found by the index that keeps them unique."""
        return self.filter(occurrence__in=list(occurrences))

    def in_state(self, state: str) -> "DeliveryQuerySet":
        """Filters by state, with the value written into the SQL.

        A statement that is planned once for any state cannot use the index of dead deliveries.
        Raises ValueError for an unknown state.
        """
        sql = f"webhooks_delivery.state = '{Delivery.State(state).value}'"
        return self.filter(RawSQL(sql, [], output_field=models.BooleanField()))  # noqa: S611

    def failing(self) -> "DeliveryQuerySet":
        """Keeps what waits after an attempt that failed; the zero is part of the index."""
        sql = "webhooks_delivery.failed_attempts > 0"
        is_failed = RawSQL(sql, [], output_field=models.BooleanField())  # noqa: S611
        return self.in_state("waiting").filter(is_failed)

    def newest_first(self) -> "DeliveryQuerySet":
        return self.order_by("-created_at", "-id")


class Delivery(OutboxRow):
    """One event for one receiver: the request's own URL, or an endpoint, which may be deleted.

    `occurrence` names what happened and is unique: the database refuses a second row for one
    final transition or one claim. The id derives from it (`webhooks.event_ids`).
    """

    class State(models.TextChoices):
        WAITING = "waiting", _lazy("Waiting")
        DELIVERED = "delivered", _lazy("Delivered")
        DEAD = "dead", _lazy("Dead")

    id = owned_id_field("account_id")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="deliveries",
        db_index=False,
        # the request that it is about refers to the account; looked up again for each of ten
        # thousand events, that takes a tenth of a sweep
        db_constraint=False,
    )
    event = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=24)
    occurrence = LookupField(max_length=60)
    url = models.TextField()
    host = models.CharField(max_length=255)
    body = models.BinaryField()
    traceparent = models.CharField(max_length=LENGTH, null=True)  # noqa: DJ001 (null is no trace)
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    is_manual = models.BooleanField(default=False)
    newest_first = models.BooleanField(db_default=False)  # of the last release; goes in the next
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    delivered_at = models.DateTimeField(null=True)
    # null where the URL is the request's own; without a constraint, as the account
    endpoint = models.ForeignKey(
        "accounts.WebhookEndpoint",
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    # the call that caused it (web.call_ids); null where background work did
    call_id = models.CharField(max_length=64, null=True, editable=False)  # noqa: DJ001

    objects: ClassVar[Any] = DeliveryQuerySet.as_manager()

    class Meta:
        constraints = [
            bucket_constraint("account_id", name="delivery_in_bucket"),
            models.UniqueConstraint(fields=["occurrence"], name="delivery_occurrence_unique"),
            models.CheckConstraint(
                condition=Q(state="delivered", delivered_at__isnull=False)
                | Q(state__in=["waiting", "dead"], delivered_at__isnull=True),
                name="delivery_delivered_at_some_time",
            ),
            models.CheckConstraint(
                condition=Q(state="waiting") | Q(claim_id__isnull=True),
                name="delivery_claimed_while_waiting",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(claim_id__isnull=False),
                name="delivery_claimed",
            ),
            models.Index(
                fields=["account", "host", "next_attempt_at"],
                condition=Q(state="waiting"),
                name="delivery_lane",
            ),
            models.Index(
                fields=["account", "next_attempt_at"],
                condition=Q(state="waiting", event=TEST_EVENT),
                name="delivery_test",
            ),
            models.Index(fields=["account", "-created_at", "-id"], name="delivery_by_account"),
            models.Index(
                fields=["account", "-created_at", "-id"],
                condition=Q(state="dead"),
                name="delivery_dead",
            ),
            models.Index(
                fields=["account", "event", "-created_at", "-id"], name="delivery_by_event"
            ),
            models.Index(fields=["account", "host", "-created_at", "-id"], name="delivery_by_host"),
            models.Index(
                fields=["account", "host", "-created_at", "-id"],
                condition=Q(state="dead"),
                name="delivery_dead_by_host",
            ),
            models.Index(
                fields=["account", "-created_at", "-id"],
                condition=Q(state="waiting", failed_attempts__gt=0),
                name="delivery_failing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.subject_id}"


class LoggedEvent(models.Model):
    """An event in the log of its account, which event streams read (`webhooks.event_log`).

    It is written in the transaction in which it happened, whether or not it is sent.
    `id` is that of the delivery, which has the body if there is one. `horizon` is the oldest
    transaction that was under way then.
    """

    id = owned_id_field("account_id")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # as in the delivery
    )
    name = models.CharField(max_length=40)
    body = models.BinaryField(null=True)
    transaction_id = TransactionIdField()
    horizon = TransactionIdField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [bucket_constraint("account_id", name="logged_event_in_bucket")]
        indexes = [
            models.Index(fields=["account", "transaction_id", "id"], name="logged_event_in_order"),
            models.Index(fields=["created_at"], name="logged_event_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.pk}"


class Attempt(models.Model):
    """One POST. The row is inserted before it; while `finished_at` is null its end is unknown."""

    id = owned_id_field("account_id")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # as in the delivery
    )
    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    is_manual = models.BooleanField(default=False)
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    status_code = models.PositiveSmallIntegerField(null=True)
    error = models.TextField(blank=True)
    request_headers = ExactJSONField(null=True)
    response_headers = ExactJSONField(null=True)
    response_body = models.BinaryField(null=True)

    class Meta:
        constraints = [bucket_constraint("account_id", name="attempt_in_bucket")]
        ordering = ["started_at", "id"]

    def __str__(self) -> str:
        return f"{self.delivery_id} at {self.started_at}"


class Circuit(models.Model):
    """The circuit breaker of an account and host; without a row it is closed.

    `failures` counts connections that failed in a row. From the fifth on nothing is attempted
    until `open_until`, and then one delivery probes. A response deletes the row, and so does
    `webhooks.retention` if nothing waits for the host and it was not open in the last day.
    """

    pk = models.CompositePrimaryKey("account_id", "host")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False)
    host = models.CharField(max_length=255)
    failures = models.PositiveIntegerField()
    open_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.host}: {self.failures}"


class FailingHost(models.Model):
    """A host of an account that fails, or did until recently (`webhooks.failing_hosts`).

    `failures` counts failed attempts in a row, of whatever kind, since `failing_since`. The first
    delivery that succeeds sets `recovered_at`. `told_at` is when the account got the email that
    this host fails, and null again once the email that it has recovered is queued; `emailed_at` is
    the last email of either kind. A row is deleted when nobody needs it any more.
    """

    pk = models.CompositePrimaryKey("account_id", "host")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False)
    host = models.CharField(max_length=255)
    failing_since = models.DateTimeField()
    failures = models.PositiveIntegerField()
    last_failed_at = models.DateTimeField()
    last_status = models.PositiveSmallIntegerField(null=True)
    last_error = models.TextField(blank=True)
    recovered_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)
    emailed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["account", "failing_since", "host"],
                condition=Q(recovered_at__isnull=True),
                name="failing_host_now",
            ),
            models.Index(
                fields=["failures"],
                condition=Q(recovered_at__isnull=True, told_at__isnull=True),
                name="failing_host_untold",
            ),
            models.Index(
                fields=["recovered_at"],
                condition=Q(recovered_at__isnull=False),
                name="failing_host_recovered",
            ),
            models.Index(fields=["last_failed_at"], name="failing_host_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.host}: {self.failures}"
