"""The table of standing grants of approvals."""

from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from db.columns import bucket_constraint, owned_id_field
from loops.models import Loop
from web.sanitize import show_invisible


class GrantQuerySet(models.QuerySet["Grant"]):
    """Filters for grants."""

    def of_account(self, account_id: str) -> "GrantQuerySet":
        return self.filter(account_id=account_id)

    def of_person(self, person_id: str) -> "GrantQuerySet":
        return self.filter(person_id=person_id)

    def with_clock(self) -> "GrantQuerySet":
        """Adds `now`, the database's time."""
        columns: dict[str, Any] = {"now": Now()}
        return self.annotate(**columns)

    def running(self) -> "GrantQuerySet":
        """Keeps the grants that may cover a call now."""
        return self.filter(revoked_at=None, expires_at__gt=Now(), uses__lt=F("max_uses"))


class Grant(models.Model):
    """A person's approval of the next equal calls of one key in a loop.

    `names` are the arguments that have to be equal, null for all of them. `digest` is that of
    their canonical form. The arguments themselves are those of `request_id`, which was approved;
    retention may have removed it. `account` is the loop's creator.
    """

    id = owned_id_field("account_id")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # the loop has the foreign key
    )
    loop = models.ForeignKey(Loop, on_delete=models.PROTECT, related_name="grants", db_index=False)
    api_key = models.ForeignKey(
        "accounts.ApiKey", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="grants", db_index=False
    )
    request_id = models.CharField(max_length=24)
    call = models.CharField(max_length=200)
    names = ArrayField(models.CharField(max_length=200), null=True)
    digest = models.CharField(max_length=64)
    max_uses = models.PositiveSmallIntegerField()
    uses = models.PositiveSmallIntegerField(default=0, db_default=0)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    objects: ClassVar[Any] = GrantQuerySet.as_manager()
    now: datetime  # by GrantQuerySet.with_clock()

    class Meta:
        constraints = [
            bucket_constraint("account_id", name="grant_in_bucket"),
            models.CheckConstraint(condition=Q(uses__lte=F("max_uses")), name="grant_uses_bounded"),
            models.UniqueConstraint(fields=["request_id"], name="one_grant_a_request"),
        ]
        indexes = [
            models.Index(fields=["loop", "api_key", "call", "expires_at"], name="grant_of_call"),
            models.Index(fields=["person", "-created_at", "-id"], name="grant_of_person"),
            models.Index(fields=["account", "-created_at", "-id"], name="grant_of_account"),
        ]

    def __str__(self) -> str:
        return self.call

    @property
    def is_running(self) -> bool:
        """Tells whether it may cover a call, by the rows as they were read with `now`."""
        person, key = self.person, self.api_key
        is_over = (
            self.revoked_at is not None
            or self.expires_at <= self.now
            or self.uses >= self.max_uses
            or self.loop.deleted_at is not None
            or key.state in (key.State.REVOKED, key.State.DELETED)
            or (person.grants_ended_at is not None and self.created_at <= person.grants_ended_at)
        )
        return not is_over

    @property
    def shown_call(self) -> str:
        """The name of the call with its invisible characters written out, as for the names."""
        return show_invisible(self.call)

    @property
    def shown_names(self) -> list[str]:
        return [show_invisible(name) for name in self.names or ()]
