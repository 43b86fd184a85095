"""The table of requests."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Now
from django.db.models.lookups import IsNull
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from db.columns import ExactJSONField, bucket_constraint, owned_id_field
from loops.models import Loop, Membership
from reviews import policy, response_types
from reviews.lifecycle import states
from reviews.lifecycle.conditions import ENDED, IS_DUE, is_free_for
from reviews.models.metadata import PAIRS
from web.languages import translate
from webhooks.trace_context import LENGTH

if TYPE_CHECKING:
    from reviews.models.answers import AnswerQuerySet

PROCESSING_TYPES = ("time-sensitive", "deferred")
CONTENT_TYPES = ("markdown", "image")
PLATFORMS = ("web_portal", "api", "mobile", "webhook", "n8n", "zapier")
PRIORITIES = ("low", "medium", "high", "critical")
_RANK = Case(
    *(When(priority=name, then=Value(rank)) for rank, name in enumerate(PRIORITIES)),
    output_field=models.SmallIntegerField(),
)
# reviews.lifecycle.conditions.DUE_AT
_DUE_AT = Case(When(status__in=["pending", "claimed"], then=F("timeout_at")))


class RequestQuerySet(models.QuerySet["Request"]):
    """Filters and columns for requests as they are stored; `reviews.lifecycle.settling` settles
    what is due."""

    def with_clock(self) -> "RequestQuerySet":
        """Adds `now`, the database's time."""
        columns: dict[str, Any] = {"now": Now()}
        return self.annotate(**columns)

    def created_by(self, user_id: str) -> "RequestQuerySet":
        return self.filter(creator_id=user_id)

    def visible_to(self, user_id: str) -> "RequestQuerySet":
        """Keeps requests that the user created, or may review as an active member of the loop."""
        return self.filter(Q(creator_id=user_id) | is_member_of_loop(user_id))

    def reviewable_by(self, user_id: str) -> "RequestQuerySet":
        """Keeps requests sent to a loop where the user is an active member."""
        return self.filter(is_member_of_loop(user_id))

    def for_inbox(self) -> "RequestQuerySet":
        """Loads what a row of the inbox shows, without the large columns."""
        return (
            self.with_clock()
            .select_related("loop", "claimed_by")
            .defer("context", "metadata", "response_config", "default_response", "response_data")
        )

    def for_single_read(self) -> "RequestQuerySet":
        """Loads what a single read shows, and adds `is_due`: whether to settle the request."""
        is_due = models.ExpressionWrapper(IS_DUE, output_field=models.BooleanField())
        successors = Request.objects.filter(replaces_id=OuterRef("pk")).values("pk")
        columns: dict[str, Any] = {"is_due": is_due, "superseded_by_id": Subquery(successors)}
        people = ("creator", "response_by", "claimed_by")
        return self.with_clock().annotate(**columns).select_related("loop", *people, "feedback")


def is_member_of_loop(user_id: str) -> Exists:
    """Tells whether the user is an active member of the outer query's request's loop."""
    return Exists(Membership.objects.active().filter(loop_id=OuterRef("loop_id"), user_id=user_id))


class Request(models.Model):
    """One review task. Only `reviews.lifecycle.transitions` writes `status`."""

    class Priority(models.TextChoices):
        LOW = "low", _lazy("Low")
        MEDIUM = "medium", _lazy("Medium")
        HIGH = "high", _lazy("High")
        CRITICAL = "critical", _lazy("Critical")

    id = owned_id_field("creator_id")
    loop = models.ForeignKey(
        Loop, on_delete=models.PROTECT, related_name="requests", db_index=False
    )
    creator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="requests",
        db_index=False,
    )
    api_key = models.ForeignKey(
        "accounts.ApiKey", null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    processing_type = models.CharField(max_length=14)
    type = models.CharField(max_length=8)
    priority = models.CharField(max_length=8, choices=Priority)
    priority_rank = models.GeneratedField(
        expression=_RANK, output_field=models.SmallIntegerField(), db_persist=True
    )
    request_text = models.TextField()
    image_url = models.TextField(null=True)  # noqa: DJ001 (the API returns null)
    context = ExactJSONField(null=True)
    timeout_seconds = models.PositiveIntegerField()
    response_type = models.CharField(max_length=13)
    response_config = ExactJSONField()
    default_response = ExactJSONField()
    platform = models.CharField(max_length=10)
    platform_version = models.TextField(null=True)  # noqa: DJ001
    callback_url = models.TextField(null=True)  # noqa: DJ001
    # strings by name, for the account that created the request; null without any
    metadata = ExactJSONField(null=True)
    # reviews.policy, with all its fields; null where the first answer of any member decides
    policy = ExactJSONField(null=True)
    eligible = ArrayField(models.CharField(max_length=24), null=True)  # who may answer, by a policy
    # the intermediary of the program, such as "MCP"; '' for a direct call of the API
    asked_through = models.CharField(max_length=100, default="", db_default="")
    # the version before this one; the database sets it to null when that one is removed
    replaces = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    # the standing grant that completed the request (reviews.grants)
    grant = models.ForeignKey(
        "reviews.Grant",
        null=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    # of the last call that sent one (webhooks.trace_context)
    traceparent = models.CharField(max_length=LENGTH, null=True)  # noqa: DJ001 (null is no trace)

    status = models.CharField(max_length=9, default=states.PENDING)
    timeout_at = models.DateTimeField()
    response_data = ExactJSONField(null=True)
    response_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    response_at = models.DateTimeField(null=True)
    response_comment = models.TextField(null=True)  # noqa: DJ001 (the API returns null)
    outcome = models.CharField(max_length=12, null=True)  # noqa: DJ001 (null without a policy)
    answers_received = models.PositiveSmallIntegerField(default=0, db_default=0)
    # how many of them equal the outcome; null unless a policy has made it of answers
    answers_agreed = models.PositiveSmallIntegerField(null=True)
    claimed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="claims",
        db_index=False,
    )
    claimed_at = models.DateTimeField(null=True)
    claim_expires_at = models.DateTimeField(null=True)
    claim_count = models.PositiveIntegerField(default=0)
    broadcasted_to = models.PositiveIntegerField()
    notifications_sent = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    texts_removed_at = models.DateTimeField(null=True)  # by reviews.retention

    objects: ClassVar[Any] = RequestQuerySet.as_manager()
    now: datetime  # by RequestQuerySet.with_clock()
    stored: list[Any]  # all columns as they were locked, by lifecycle.transitions
    is_due: bool  # by RequestQuerySet.for_single_read()
    # The next version, by RequestQuerySet.for_single_read(). An open request has none.
    superseded_by_id: str | None = None

    class Meta:
        constraints = [
            bucket_constraint("creator_id", name="request_in_bucket"),
            models.CheckConstraint(
                condition=Q(status__in=states.STATUSES), name="request_status_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    status=states.COMPLETED, response_by__isnull=False, response_at__isnull=False
                )
                | ~Q(status=states.COMPLETED)
                & Q(response_by__isnull=True, response_at__isnull=True),
                name="request_completed_iff_answered",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=[states.COMPLETED, states.TIMEOUT], response_data__isnull=False
                )
                | ~Q(status__in=[states.COMPLETED, states.TIMEOUT]) & Q(response_data__isnull=True),
                name="request_data_iff_ended_with_one",
            ),
            models.CheckConstraint(
                condition=Q(response_comment__isnull=True) | Q(status=states.COMPLETED),
                name="request_comment_only_on_an_answer",
            ),
            models.CheckConstraint(
                condition=~Q(status=states.CLAIMED)
                | Q(claimed_by__isnull=False, claimed_at__isnull=False)
                & Q(claim_expires_at__isnull=False),
                name="request_claimed_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(texts_removed_at__isnull=True) | Q(status__in=sorted(states.FINAL)),
                name="request_open_with_texts",
            ),
            models.UniqueConstraint(
                fields=["replaces"],
                condition=Q(replaces__isnull=False),
                name="request_replaced_once",
            ),
        ]
        indexes = [
            models.Index(fields=["creator", "-created_at", "-id"], name="request_account"),
            models.Index(
                fields=["creator", "status", "-created_at", "-id"], name="request_account_status"
            ),
            models.Index(
                fields=["creator", "status", "-priority_rank", "-created_at", "-id"],
                name="request_account_both",
            ),
            models.Index(fields=["loop", "-created_at", "-id"], name="request_loop"),
            models.Index(
                fields=["loop", "status", "-created_at", "-id"], name="request_loop_status"
            ),
            models.Index(
                fields=["loop", "status", "-priority_rank", "-created_at", "-id"],
                name="request_loop_both",
            ),
            models.Index(
                fields=["loop", "-priority_rank", "timeout_at", "id"],
                condition=Q(status__in=["pending", "claimed"]),
                name="request_inbox",
            ),
            models.Index(_DUE_AT, condition=Q(IsNull(_DUE_AT, False)), name="request_overdue"),
            models.Index(
                fields=["response_by", "-response_at", "-id"],
                condition=Q(response_by__isnull=False),
                name="request_answered_by",
            ),
            models.Index(
                fields=["creator", "response_by", "-created_at", "-id"],
                condition=Q(response_by__isnull=False),
                name="request_by_answerer",
            ),
            # without fastupdate, so that no read looks through what was not yet sorted in
            GinIndex(
                PAIRS,
                condition=Q(metadata__isnull=False),
                fastupdate=False,
                name="request_metadata",
            ),
            models.Index(
                fields=["loop", "id"],
                condition=Q(policy__isnull=False, status__in=["pending", "claimed"]),
                name="request_open_policy",
            ),
            models.Index(
                fields=["claim_expires_at"],
                condition=Q(status="claimed"),
                name="request_lease",
            ),
            models.Index(
                fields=["claimed_by"], condition=Q(status="claimed"), name="request_holder"
            ),
            models.Index(
                fields=["creator", "response_at"],
                include=["created_at"],
                condition=Q(response_at__isnull=False),
                name="request_answers",
            ),
            models.Index(
                fields=["creator", "timeout_at"],
                condition=Q(status="timeout"),
                name="request_timeouts",
            ),
            *(
                models.Index(  # reviews.retention
                    F("loop"),
                    ENDED,
                    condition=Q(status__in=["completed", "timeout", "cancelled"])
                    & Q(texts_removed_at__isnull=has_texts),
                    name=name,
                )
                for name, has_texts in (
                    ("request_with_texts", True),
                    ("request_without_texts", False),
                )
            ),
        ]

    def __str__(self) -> str:
        return self.id

    def format_answer(self, answer: object) -> str:
        """Formats an answer to this request for people: labels instead of values."""
        if answer in ("", {}) and self.texts_removed_at:
            return _("Text removed")
        kind = response_types.get_response_type(self.response_type)
        return translate(kind.format_answer(self.response_config, answer))

    def list_parts(self, answer: object) -> list[tuple[str, str]]:
        """Returns the titles and values of an answer of several fields, for people."""
        kind = response_types.get_response_type(self.response_type)
        parts = kind.list_parts(self.response_config, answer)
        return [(title, translate(words)) for title, words in parts]

    @property
    def needs_several(self) -> bool:
        """Tells whether several answers make the outcome. Then nobody can claim the request."""
        return self.policy is not None and policy.read(self.policy).needs_several

    @property
    def shows_answers(self) -> bool:
        """Tells whether others may see the answers by the policy, or how many say the same."""
        return self.policy is not None and (
            self.status in states.FINAL or not policy.read(self.policy).blind
        )

    def list_readable_answers(self, reader_id: str) -> "AnswerQuerySet":
        """Selects the answers that a reviewer may see, the oldest first: all of them by the
        policy, or the reviewer's own."""
        answers: AnswerQuerySet = self.answers.in_order()
        return answers if self.shows_answers else answers.filter(person_id=reader_id)

    def asks(self, person_id: str) -> bool:
        """Tells whether the person, a member, is among those who may answer."""
        return self.eligible is None or person_id in self.eligible

    def is_free_for(self, person_id: str) -> bool:
        """Tells whether the person may answer, by the columns as they were read."""
        is_free = is_free_for(person_id, status=self.status, holder_id=self.claimed_by_id)
        return is_free and self.asks(person_id)

    @property
    def deadline(self) -> datetime:
        """When people had to answer. `timeout_at` is earlier where the request ended before it,
        because its answers could have no outcome any more."""
        return self.created_at + timedelta(seconds=self.timeout_seconds)

    @property
    def answered_by(self) -> str | None:
        """The source of the answer: `human`, `grant`, `default` or None."""
        return states.name_source(self.status, by_grant=self.grant_id is not None)
