"""What changes webhook secrets (specification, Events). One transaction each."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Case, F, QuerySet, When
from django.db.models.functions import Now

from accounts import vault
from accounts.audit import record
from accounts.models import User, WebhookSecret
from accounts.webhook_secrets import MAX_LENGTH, MIN_LENGTH, Secret, is_acceptable, new_secret

OVERLAP = timedelta(hours=24)
_READ = """
SELECT sealed, issued, previous_sealed, previous_issued,
       CASE WHEN previous_until > statement_timestamp() THEN previous_until END
  FROM accounts_webhooksecret WHERE account_id = %s
"""
NO_PREVIOUS: dict[str, None] = {
    "previous_sealed": None,
    "previous_issued": None,
    "previous_until": None,
}


class UnacceptableSecret(ValueError):
    """Not 8 to 256 characters."""


class RotationUnderWay(Exception):
    """The last rotation's old secret is still valid; another one would cut it off."""


class ChangedMeanwhile(Exception):
    """The secret is not the one that the holder had before their eyes."""


@dataclass(frozen=True, slots=True)
class Status:
    """What may be told of an account's secret without opening it. `changed_at` names its version;
    `previous_until` is None outside a rotation."""

    issued: bool
    changed_at: datetime
    previous_until: datetime | None


@dataclass(frozen=True, slots=True)
class Secrets:
    """What is in use. `previous` is None outside a rotation; until its end the single-valued
    header stays on it."""

    current: Secret
    previous: Secret | None = None
    previous_until: datetime | None = None

    @property
    def in_use(self) -> tuple[Secret, ...]:
        """The current one first."""
        return (self.current, self.previous) if self.previous else (self.current,)

    @property
    def plain_key(self) -> bytes:
        return (self.previous or self.current).plain_key


def read_secrets(account_id: str) -> Secrets:
    """The account's secrets; an account that has none yet gets its first one now.

    Raises vault.Unreadable.
    """
    row = _row(account_id)
    while row is None:
        _issue(account_id)
        row = _row(account_id)
    return _unseal(row)


def read_status(account_id: str) -> Status:
    """How the account's secret stands; an account that has none yet gets its first one now."""
    until = Case(When(previous_until__gt=Now(), then="previous_until"))
    rows = WebhookSecret.objects.filter(pk=account_id).annotate(until=until)
    found = rows.values_list("issued", "changed_at", "until")
    row = found.first()
    while row is None:
        _issue(account_id)
        row = found.first()
    return Status(*row)


@transaction.atomic
def reveal_secrets(*, account: User) -> Secrets:
    """The secrets for their holder's eyes, which the audit log tells. Raises vault.Unreadable."""
    secrets = read_secrets(account.pk)
    _record(account, account, "revealed")
    return secrets


@transaction.atomic
def set_secret(
    *, account: User, text: str, actor: User | None = None, seen: datetime | None = None
) -> None:
    """Takes the holder's own secret, at once and alone. `seen` is the version it is to replace.

    Raises UnacceptableSecret, ChangedMeanwhile.
    """
    if not is_acceptable(text):
        raise UnacceptableSecret(f"A webhook secret has {MIN_LENGTH} to {MAX_LENGTH} characters.")
    row = _locked(account, seen)
    row.update(sealed=vault.seal(text), issued=False, changed_at=Now(), **NO_PREVIOUS)
    _record(account, actor, "set")


@transaction.atomic
def replace_secret(*, account: User) -> bool:
    """A new secret at once and alone, for whoever else may know the old ones; whether there was
    any."""
    rows = WebhookSecret.objects.filter(pk=account.pk)
    fresh = new_secret()
    changed = rows.update(
        sealed=vault.seal(fresh.text), issued=fresh.issued, changed_at=Now(), **NO_PREVIOUS
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
    seen: datetime | None = None,
) -> Secret:
    """A new secret beside the old one, which stays valid for 24 hours.

    Raises RotationUnderWay inside that time, unless forced; ChangedMeanwhile.
    """
    row = _locked(account, seen)
    if read_secrets(account.pk).previous is not None and not force:
        raise RotationUnderWay
    fresh = new_secret()
    row.update(
        previous_sealed=F("sealed"),
        previous_issued=F("issued"),
        previous_until=Now() + OVERLAP,
        sealed=vault.seal(fresh.text),
        issued=fresh.issued,
        changed_at=Now(),
    )
    _record(account, actor, "rotated")
    return fresh


@transaction.atomic
def end_rotation(*, account: User, actor: User | None = None, seen: datetime | None = None) -> None:
    """Ends the old secret now; does nothing outside a rotation. Raises ChangedMeanwhile."""
    if _locked(account, seen).filter(previous_until__isnull=False).update(**NO_PREVIOUS):
        _record(account, actor, "rotation_ended")


def _row(account_id: str) -> tuple[Any, ...] | None:
    # every delivery asks for it: in SQL it costs a tenth of what the ORM makes of it
    with connection.cursor() as cursor:
        cursor.execute(_READ, [account_id])
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row


def _unseal(row: tuple[Any, ...]) -> Secrets:
    sealed, issued, previous_sealed, previous_issued, previous_until = row
    current = Secret(vault.open_sealed(sealed), issued)
    if previous_until is None:
        return Secrets(current)
    previous = Secret(vault.open_sealed(previous_sealed), previous_issued)
    return Secrets(current, previous, previous_until)


def _issue(account_id: str) -> None:
    fresh = new_secret()
    row = WebhookSecret(account_id=account_id, sealed=vault.seal(fresh.text), issued=fresh.issued)
    # somebody else may be faster, and then theirs counts
    WebhookSecret.objects.bulk_create([row], ignore_conflicts=True)


def _locked(account: User, seen: datetime | None) -> QuerySet[WebhookSecret]:
    rows = WebhookSecret.objects.filter(pk=account.pk)
    changed_at = rows.select_for_update().values_list("changed_at", flat=True).first()
    if changed_at is None:
        _issue(account.pk)
    elif seen is not None and seen != changed_at:
        raise ChangedMeanwhile
    drop_expired(rows)
    return rows


def drop_expired(secrets: QuerySet[WebhookSecret]) -> None:
    """Forgets old secrets whose time is over: one that nobody uses any more could otherwise stand
    in the way of a change of keys."""
    secrets.filter(previous_until__lte=Now()).update(**NO_PREVIOUS)


def _record(account: User, actor: User | None, what: str) -> None:
    actor_id = (actor or account).pk
    record(account_id=account.pk, actor_id=actor_id, action=f"webhook_secret.{what}")
