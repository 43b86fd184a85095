"""Makes an account anonymous: removes what names the person, and keeps the row for references.

Answers to other accounts' requests, and their audit logs, still refer to the same id. Its name is
now a random pseudonym, from which nobody can compute the person.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.admin.models import LogEntry
from django.db import connection, transaction

from accounts import sessions
from accounts.audit import MAX_SUBJECT
from accounts.emails import fold_address, lock_address, match_email
from accounts.models import (
    ApiKey,
    AuditEntry,
    ReservedId,
    ReviewToken,
    StoredResponse,
    Usage,
    User,
    WebhookEndpoint,
)
from accounts.models import WebhookSecret as Secret
from web.domains import to_unicode

DOMAIN = "erased.invalid"  # a name that nobody can register (RFC 6761)
_ADDED, _CONFIRMED = "account.email_added", "account.email_confirmed"
_OF_ADDRESSES = (_ADDED, _CONFIRMED, "account.email_removed")
_ALLOW = "SELECT set_config('review_loop.audit', 'erase', true)"
_EMPTY_AUDIT = """
UPDATE accounts_auditentry SET subject = '', ip = NULL
 WHERE account_id = %s AND (subject <> '' OR ip IS NOT NULL)
"""
_FIND_SUBJECTS = """
SELECT id, account_id, subject FROM accounts_auditentry
 WHERE account_id <> %s AND strpos(lower(subject), %s) > 0
   AND created_at <= coalesce(%s, 'infinity'::timestamptz)
"""
# Not as a part of a longer address.
_WHOLE = r"(?<![\w.+-]){}(?![\w-]|\.\w)"
_WRITE_SUBJECT = "UPDATE accounts_auditentry SET subject = %s WHERE id = %s AND account_id = %s"


def is_erased(user: User) -> bool:
    """Tells whether the account has been made anonymous."""
    return user.email.endswith(f"@{DOMAIN}")


class Person(NamedTuple):
    """An account that is erased, with the addresses that it has or had.

    `passed_on` are former ones that another account has confirmed since, with the times when this
    account removed them.
    """

    user: User
    addresses: list[str]
    passed_on: dict[str, datetime]


def lock_person(person: User) -> Person:
    """Locks an account and its addresses, and returns both as they are now.

    An unconfirmed address that the account merely added may be somebody else's, so it does not
    count.
    """
    rows = EmailAddress.objects.filter(user=person, verified=True)
    own = {person.email, *rows.values_list("email", flat=True)}
    former = read_former_addresses(person.pk)
    for address in sorted({*own, *former}):
        lock_address(address)
    others = EmailAddress.objects.exclude(user=person).filter(email__in=former, verified=True)
    passed_on = {email: former[email] for email in others.values_list("email", flat=True)}
    user = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    return Person(user, sorted({*own, *former} - passed_on.keys()), passed_on)


def read_former_addresses(account_id: str) -> dict[str, datetime]:
    """Reads from an account's audit log which confirmed addresses it removed, and when.

    The address of a sign-up with a code is confirmed without an entry. Only the account's first
    confirmation removes the address of another sign-up, which is why removals before it do not
    count.
    """
    entries = AuditEntry.objects.filter(
        account_id=account_id, actor_id=account_id, action__in=_OF_ADDRESSES
    )
    is_confirmed = False
    unconfirmed: set[str] = set()
    former: dict[str, datetime] = {}
    for entry in entries.order_by("created_at", "id"):
        address = fold_address(entry.subject)
        if entry.action == _ADDED:
            unconfirmed.add(address)
        elif entry.action == _CONFIRMED:
            is_confirmed = True
            unconfirmed.discard(address)
        elif is_confirmed and address not in unconfirmed:
            former[address] = entry.created_at
    return former


def anonymize(person: User, addresses: Sequence[str]) -> None:
    """Removes the person's names and means to sign in, in the caller's transaction."""
    sessions.end_sessions(person.pk, except_key=None)
    Authenticator.objects.filter(user=person).delete()
    EmailAddress.objects.filter(user=person).delete()
    for address in addresses:
        ReservedId.objects.filter(match_email(address)).delete()
    pseudonym = f"Erased person {secrets.token_hex(3)}"
    person.email, person.name = f"erased-{person.pk}@{DOMAIN}", pseudonym
    person.is_active = person.is_staff = person.is_superuser = False
    person.time_zone, person.language, person.browser_language = "UTC", "", "en"
    person.last_login = None
    person.set_unusable_password()
    person.save()
    LogEntry.objects.filter(object_id=person.pk).update(object_repr=pseudonym)
    ApiKey.objects.filter(user=person).update(
        state=ApiKey.State.DELETED, name="", prefix="", last_four=""
    )
    ReviewToken.objects.filter(user=person).delete()
    Secret.objects.filter(account=person).delete()
    WebhookEndpoint.objects.filter(account=person).delete()


@transaction.atomic
def remove_records(account_id: str) -> None:
    """Removes an account's usage, its stored responses, and the subjects in its audit log.

    The entries of the audit log stay, in their order.
    """
    Usage.objects.filter(account_id=account_id).delete()
    StoredResponse.objects.filter(account_id=account_id).delete()
    with connection.cursor() as cursor:
        cursor.execute(_ALLOW)
        cursor.execute(_EMPTY_AUDIT, [account_id])


@transaction.atomic
def rewrite_audit(
    account_id: str, address: str, pseudonym: str, *, until: datetime | None
) -> list[str]:
    """Replaces an address by the pseudonym in other accounts' audit logs.

    Leaves entries after `until` unchanged. Finds long addresses, which subjects hold cut, and the
    domains in their own letters of version 0.1. Returns the accounts in which the person acted.
    """
    local, _, domain = address.rpartition("@")
    with connection.cursor() as cursor:
        cursor.execute(_ALLOW)
        for form in {address, f"{local}@{to_unicode(domain)}"}:
            recorded = form[:MAX_SUBJECT]
            cursor.execute(_FIND_SUBJECTS, [account_id, recorded, until])
            whole = re.compile(_WHOLE.format(re.escape(recorded)), re.IGNORECASE)
            for pk, owner_id, subject in cursor.fetchall():
                rewritten = whole.sub(pseudonym, subject)[:MAX_SUBJECT]
                cursor.execute(_WRITE_SUBJECT, [rewritten, pk, owner_id])
    acted = AuditEntry.objects.filter(actor_id=account_id).exclude(account_id=account_id)
    return list(acted.order_by().values_list("account_id", flat=True).distinct())
