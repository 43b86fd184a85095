"""Reads and changes webhook secrets (docs/webhooks.md). Each change is one transaction."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, QuerySet, When
from django.db.models.functions import Now

from accounts import vault
from accounts.audit import record
from accounts.models import User, WebhookSecret
from accounts.notices import Origin, notify
from accounts.secured import lock_account
from accounts.webhook_secrets import (
    MAX_LENGTH,
    MIN_LENGTH,
    Secret,
    is_acceptable,
    is_of_standard,
    new_secret,
)
from web.pasted import clean, trim

OVERLAP = timedelta(hours=24)
COLUMNS = """sealed, issued, previous_sealed, previous_issued,
       CASE WHEN previous_until > statement_timestamp() THEN previous_until END"""  # for `unseal`
_READ = f"SELECT {COLUMNS} FROM accounts_webhooksecret WHERE account_id = %s"  # noqa: S608
NO_PREVIOUS: dict[str, None] = {
    "previous_sealed": None,
    "previous_issued": None,
    "previous_until": None,
}


class UnacceptableSecret(ValueError):
    """The secret does not have 8 to 256 characters."""


class NotIssued(ValueError):
    """The secret has the prefix of issued secrets but is not one of those in use."""


class RotationUnderWay(Exception):
    """The old secret of the last rotation is still valid; another rotation would end it."""


class ChangedMeanwhile(Exception):
    """The secret changed after the holder opened the page."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an account's secret, without the secret itself.

    `changed_at` identifies its version. `previous_until` is None outside a rotation.
    """

    issued: bool
    changed_at: datetime
    previous_until: datetime | None


@dataclass(frozen=True, slots=True)
class Secrets:
    """The valid secrets of an account. `previous` is None outside a rotation.

    During a rotation, the single-valued signature header uses `previous`.
    """

    current: Secret
    previous: Secret | None = None
    previous_until: datetime | None = None

    @property
    def in_use(self) -> tuple[Secret, ...]:
        """The valid secrets, the current one first."""
        return (self.current, self.previous) if self.previous else (self.current,)

    @property
    def plain_key(self) -> bytes:
        return (self.previous or self.current).plain_key


def read_secrets(account_id: str) -> Secrets:
    """Returns the account's secrets; creates the first one if there is none.

    Raises vault.Unreadable.
    """
    row = _fetch_row(account_id)
    while row is None:
        _create_secret(account_id)
        row = _fetch_row(account_id)
    return unseal(row)


def read_status(account_id: str) -> Status:
    """Returns the state of the account's secret; creates the first secret if there is none."""
    until = Case(When(previous_until__gt=Now(), then="previous_until"))
    rows = WebhookSecret.objects.filter(pk=account_id).annotate(until=until)
    values = rows.values_list("issued", "changed_at", "until")
    row = values.first()
    while row is None:
        _create_secret(account_id)
        row = values.first()
    return Status(*row)


@transaction.atomic
def reveal_secrets(*, account: User, origin: Origin | None = None) -> Secrets:
    """Returns the secrets to show to the holder; adds an audit entry.

    Raises vault.Unreadable, AccountSecured.
    """
    lock_account(account)
    secrets = read_secrets(account.pk)
    _record(account, account, "revealed")
    notify(account=account, action="webhook_secret.revealed", origin=origin)
    return secrets


@transaction.atomic
def set_secret(
    *,
    account: User,
    text: str,
    actor: User | None = None,
    version: datetime | None = None,
    origin: Origin | None = None,
) -> None:
    """Sets the holder's own secret; the old secrets end at once. `version` is the one to replace.

    A secret that we issued, and that is still in use, stays the issued one.
    Raises UnacceptableSecret, InvisibleCharacter, NotIssued, ChangedMeanwhile, AccountSecured.
    """
    lock_account(account)
    if not is_acceptable(trim(text)):
        raise UnacceptableSecret(f"A webhook secret has {MIN_LENGTH} to {MAX_LENGTH} characters.")
    text = clean(text)
    row = _lock_row(account, version)
    issued = is_of_standard(text)
    if issued and Secret(text, issued=True) not in read_secrets(account.pk).in_use:
        raise NotIssued
    row.update(sealed=vault.seal(text), issued=issued, changed_at=Now(), **NO_PREVIOUS)
    _record(account, actor, "set")
    notify(account=account, action="webhook_secret.set", origin=origin)


@transaction.atomic
def replace_secret(*, account: User) -> bool:
    """Replaces the secret and ends the old ones at once; False if there was none.

    For an account whose old secrets may be known to somebody else.
    """
    rows = WebhookSecret.objects.filter(pk=account.pk)
    secret = new_secret()
    changed = rows.update(
        sealed=vault.seal(secret.text), issued=secret.issued, changed_at=Now(), **NO_PREVIOUS
    )
    if changed:
        _record(account, account, "replaced")
    return bool(changed)


@transaction.atomic
def rotate_secret(
    *,
    account: User,
    force: bool = False,
    actor: User | None = None,
    version: datetime | None = None,
    origin: Origin | None = None,
) -> Secret:
    """Creates a new secret; the old one stays valid for 24 hours.

    Raises ChangedMeanwhile, and RotationUnderWay during these 24 hours unless `force` is set.
    """
    row = _lock_row(account, version)
    if read_secrets(account.pk).previous is not None and not force:
        raise RotationUnderWay
    secret = put_next(row)
    _record(account, actor, "rotated")
    notify(account=account, action="webhook_secret.rotated", origin=origin)
    return secret


@transaction.atomic
def end_rotation(
    *, account: User, actor: User | None = None, version: datetime | None = None
) -> None:
    """Ends the old secret now; does nothing outside a rotation. Raises ChangedMeanwhile."""
    if _lock_row(account, version).filter(previous_until__isnull=False).update(**NO_PREVIOUS):
        _record(account, actor, "rotation_ended")


def _fetch_row(account_id: str) -> tuple[Any, ...] | None:
    # every delivery reads this, and plain SQL costs a tenth of the ORM
    with connection.cursor() as cursor:
        cursor.execute(_READ, [account_id])
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


def unseal(row: tuple[Any, ...]) -> Secrets:
    """Decrypts the columns in COLUMNS. Raises vault.Unreadable."""
    sealed, issued, previous_sealed, previous_issued, previous_until = row
    current = Secret(vault.open_sealed(sealed), issued)
    if previous_until is None:
        return Secrets(current)
    previous = Secret(vault.open_sealed(previous_sealed), previous_issued)
    return Secrets(current, previous, previous_until)


def _create_secret(account_id: str) -> None:
    secret = new_secret()
    row = WebhookSecret(account_id=account_id, sealed=vault.seal(secret.text), issued=secret.issued)
    # a secret that another process created first stays
    WebhookSecret.objects.bulk_create([row], ignore_conflicts=True)


def _lock_row(account: User, version: datetime | None) -> QuerySet[WebhookSecret]:
    rows = WebhookSecret.objects.filter(pk=account.pk)
    changed_at = rows.select_for_update().values_list("changed_at", flat=True).first()
    if changed_at is None:
        _create_secret(account.pk)
    elif version is not None and version != changed_at:
        raise ChangedMeanwhile
    drop_expired(rows)
    return rows


def put_next(rows: QuerySet[Any]) -> Secret:
    """Replaces the secret of one row by a new one; the old one stays valid for 24 hours."""
    secret = new_secret()
    rows.update(
        previous_sealed=F("sealed"),
        previous_issued=F("issued"),
        previous_until=Now() + OVERLAP,
        sealed=vault.seal(secret.text),
        issued=secret.issued,
        changed_at=Now(),
    )
    return secret


def drop_expired(secrets: QuerySet[Any]) -> None:
    """Removes secrets that are no longer valid; otherwise they could block a key rotation."""
    secrets.filter(previous_until__lte=Now()).update(**NO_PREVIOUS)


def _record(account: User, actor: User | None, verb: str) -> None:
    actor_id = (actor or account).pk
    record(account_id=account.pk, actor_id=actor_id, action=f"webhook_secret.{verb}")
