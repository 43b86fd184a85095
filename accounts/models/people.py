"""The tables of people, and of addresses that are not yet theirs."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models, transaction
from django.db.models.functions import Lower, Now

from accounts.emails import clean_address, match_email
from db.columns import LookupField, account_id_field
from db.ids import new_id


class UserManager(BaseUserManager["User"]):
    """Creates users for Django's own tools; our code uses `accounts.services.create_account`."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=clean_address(email), **fields)
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
    `grants_ended_at` ends the standing grants of before (`reviews.grants`).
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
    grants_ended_at = models.DateTimeField(null=True, blank=True)
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
    def preferred_language(self) -> str:
        """The language of emails and notifications to this person."""
        return self.language or self.browser_language

    def get_short_name(self) -> str:
        return self.name or self.email.partition("@")[0]


class ReservedId(models.Model):
    """The user id that invitations to an address (in lowercase) show."""

    user_id = LookupField(max_length=24, primary_key=True)
    email = LookupField(max_length=254)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["email"], name="reserved_email_unique")]

    def __str__(self) -> str:
        return str(self.email)


class EmailedCode(models.Model):
    """The number of tries that a sign-in code has left; the session has everything else about it.

    A count in the session could be undone: requests of one browser overwrite each other's changes.
    """

    id = LookupField(max_length=24, primary_key=True, default=new_id, editable=False)
    tries_left = models.PositiveSmallIntegerField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="emailed_code_by_age")]

    def __str__(self) -> str:
        return str(self.pk)
