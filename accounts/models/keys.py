"""The tables of API keys, their calls, and stored responses to them."""

from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from accounts.models.people import User
from db.columns import bucket_constraint, owned_id_field

PERMISSIONS = ("loops:read", "loops:write", "requests:read", "requests:write")


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """Queries for API keys."""

    def of_account(self, user_id: str) -> "ApiKeyQuerySet":
        """Returns the account's keys, except deleted ones."""
        return self.filter(user_id=user_id).exclude(state=ApiKey.State.DELETED)

    def usable(self) -> "ApiKeyQuerySet":
        """Returns the keys that work now: active and not expired."""
        unexpired = models.Q(expires_at=None) | models.Q(expires_at__gt=Now())
        return self.filter(unexpired, state=ApiKey.State.ACTIVE)


class ApiKey(models.Model):
    """An API key, stored only as its digest.

    Rows of deleted keys stay, because requests refer to the key that created them. `shown_at` is
    empty until the holder has seen the key once. `replaced_by` is the successor of a rolled key,
    which then ends at `expires_at`.
    """

    class State(models.TextChoices):
        ACTIVE = "active"
        INACTIVE = "inactive"
        REVOKED = "revoked"
        DELETED = "deleted"

    id = owned_id_field("user_id")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=100)
    digest = models.BinaryField(max_length=32)
    prefix = models.CharField(max_length=16)
    last_four = models.CharField(max_length=4)
    permissions = ArrayField(models.CharField(max_length=20))
    hourly_limit = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE)
    expires_at = models.DateTimeField(null=True, blank=True)
    shown_at = models.DateTimeField(null=True, db_default=Now(), editable=False)
    replaced_by = models.OneToOneField(
        "self", null=True, editable=False, on_delete=models.PROTECT, related_name="replaces"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[Any] = ApiKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            bucket_constraint("user_id", name="api_key_in_bucket"),
            models.UniqueConstraint(fields=["digest"], name="api_key_digest_unique"),
            models.CheckConstraint(
                condition=models.Q(state__in=["active", "inactive", "revoked", "deleted"]),
                name="api_key_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(permissions__contained_by=list(PERMISSIONS)),
                name="api_key_permissions_known",
            ),
            models.CheckConstraint(
                condition=models.Q(hourly_limit__isnull=True) | models.Q(hourly_limit__gte=1),
                name="api_key_limit_positive",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…{self.last_four}"


class Usage(models.Model):
    """The calls of one key in one hour, used for the quota, the charts and the history.

    `calls` counts charged calls, `credits` the calls given back by cancels.
    """

    pk = models.CompositePrimaryKey("key_id", "hour")
    account = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="usage", db_index=False)
    hour = models.DateTimeField()
    calls = models.PositiveIntegerField()
    credits = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(credits__lte=models.F("calls")), name="usage_credits_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key_id} {self.hour:%Y-%m-%dT%H}"


class UsageRow(models.Model):
    """A view of `Usage` for the admin, which cannot use a primary key of two columns."""

    id = models.CharField(max_length=40, primary_key=True)
    key = models.ForeignKey(ApiKey, on_delete=models.DO_NOTHING, related_name="+")
    hour = models.DateTimeField()
    calls = models.PositiveIntegerField()
    credits = models.PositiveIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        managed = False
        verbose_name_plural = verbose_name = "usage"

    def __str__(self) -> str:
        return f"{self.key_id} {self.hour:%Y-%m-%dT%H}"


class StoredResponse(models.Model):
    """The response to a call with an Idempotency-Key (`accounts.idempotency`)."""

    pk = models.CompositePrimaryKey("account_id", "key")
    account = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    key = models.CharField(max_length=255)
    fingerprint = models.BinaryField()  # of the call
    status = models.PositiveSmallIntegerField()
    body = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="stored_response_by_age")]

    def __str__(self) -> str:
        return f"{self.account_id} {self.key}"
