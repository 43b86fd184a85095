"""The tables of users, API keys, webhook secrets, usage and the audit log."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from django.db.models.functions import Lower, Now

from accounts.emails import match_email
from db.columns import LookupField, account_id_field, bucket_constraint, owned_id_field

PERMISSIONS = ("loops:read", "loops:write", "requests:read", "requests:write")


class UserManager(BaseUserManager["User"]):
    """Creates users for Django's own tools; our code uses `accounts.services.create_account`."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=email.lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    @transaction.atomic
    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Creates an operator with a confirmed address; only the command line calls this."""
        user = self.create_user(email, password, is_staff=True, is_superuser=True, **fields)
        addresses: Any = user.emailaddress_set  # type: ignore[attr-defined]
        addresses.create(email=user.email, primary=True, verified=True)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(match_email(username or ""))


class User(AbstractBaseUser, PermissionsMixin):
    """A person with an email address: account holder, reviewer, or both.

    Operators set `is_active`. Keys of an inactive account get 403 on all endpoints except /test.
    """

    id = account_id_field()
    email = models.EmailField(max_length=254)
    name = models.CharField(max_length=100, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    hourly_limit = models.PositiveIntegerField(null=True, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC")
    language = models.CharField(max_length=10, blank=True, default="", db_default="")  # as chosen
    browser_language = models.CharField(
        max_length=10, default="en", db_default="en"
    )  # as last seen
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    setup_hidden_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="user_email_unique"),
            models.CheckConstraint(
                condition=models.Q(hourly_limit__isnull=True) | models.Q(hourly_limit__gte=1),
                name="user_limit_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.email

    @property
    def spoken_language(self) -> str:
        """The language of emails and notifications to this person."""
        return self.language or self.browser_language

    def get_short_name(self) -> str:
        return self.name or self.email.partition("@")[0]


class ReservedId(models.Model):
    """The user id of an invited address (in lowercase) that no account has confirmed yet."""

    user_id = LookupField(max_length=24, primary_key=True)
    email = LookupField(max_length=254)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["email"], name="reserved_email_unique")]

    def __str__(self) -> str:
        return str(self.email)


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


class WebhookSecret(models.Model):
    """The encrypted secret that signs an account's webhooks.

    During a rotation, `previous` stays valid until `previous_until`.
    """

    account = models.OneToOneField(
        User, primary_key=True, on_delete=models.PROTECT, related_name="webhook_secret"
    )
    sealed = models.BinaryField()
    issued = models.BooleanField()
    previous_sealed = models.BinaryField(null=True)
    previous_issued = models.BooleanField(null=True)
    previous_until = models.DateTimeField(null=True)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    previous_sealed__isnull=True,
                    previous_issued__isnull=True,
                    previous_until__isnull=True,
                )
                | models.Q(
                    previous_sealed__isnull=False,
                    previous_issued__isnull=False,
                    previous_until__isnull=False,
                ),
                name="webhook_secret_previous_whole",
            )
        ]

    def __str__(self) -> str:
        return f"secret of {self.account_id}"


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


class AuditEntry(models.Model):
    """An entry of the audit log: who did what to an account. The database refuses changes.

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
