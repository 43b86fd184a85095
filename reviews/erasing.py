"""Erases a person: their account, and their name wherever other accounts see it.

`begin` is one transaction. From then on nobody can sign in or call with their keys, and every page,
API read, export and search shows a pseudonym. `finish` does the rest in batches, and can be
repeated.

The person's own rows are removed: loops, requests with their answers, keys, devices, sessions.
Their work for others stays under the pseudonym: answers, claims and views of requests.
"""

import json
import logging
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts import vault
from accounts.audit import record
from accounts.erasing import anonymize, is_erased, lock_person, remove_records, rewrite_audit
from accounts.models import User
from accounts.notices import Origin, notify
from db import pruning
from db.time_limits import allow_longer
from loops.models import Loop, Membership
from loops.services import lock_loop, touch
from mailing.erasing import forget_mail_to
from reviews import counters
from reviews.models import (
    Answer,
    Counter,
    EmailPreference,
    Erasure,
    ExportLease,
    Grant,
    PushSubscription,
    Request,
)
from reviews.receipts.services import rename_erased
from reviews.retention import remove_requests
from reviews.services import remove_member
from webhooks.erasing import remove_all, rewrite_bodies
from webhooks.models import Delivery

log = logging.getLogger(__name__)

BEGIN_SECONDS = 60.0  # a person can be in hundreds of loops
_OWN = f"""
SELECT id, claim_count FROM reviews_request WHERE creator_id = %s
 ORDER BY created_at DESC, id DESC LIMIT {pruning.BATCH} FOR UPDATE
"""  # noqa: S608 (nothing in it comes from outside)


class AlreadyErased(Exception):
    """The account has been made anonymous before."""


@transaction.atomic
def begin(*, person: User, origin: Origin | None = None) -> None:
    """Makes the account anonymous at once, and leaves the rest to `finish`.

    Their confirmed addresses get an email. `origin` is None where the operator does it. Raises
    AlreadyErased.
    """
    allow_longer(BEGIN_SECONDS)
    locked, addresses, passed_on = lock_person(person)
    if is_erased(locked):
        raise AlreadyErased
    forget_mail_to(addresses)
    notify(account=locked, action="account.erased", origin=origin)
    _lock_loops(locked, addresses)
    accounts = _leave_loops(locked, addresses)
    _close_own_loops(locked)
    PushSubscription.objects.filter(user=locked).delete()
    EmailPreference.objects.filter(user=locked).delete()
    anonymize(locked, addresses)
    record(account_id=locked.pk, actor_id=locked.pk, action="account.erased")
    until = {address: time.isoformat() for address, time in passed_on.items()}
    found = {"addresses": addresses, "accounts": accounts, "passed_on": until}
    Erasure.objects.create(account=locked, sealed=vault.seal(json.dumps(found)))


def finish_all(*, until: float) -> int:
    """Finishes all erasures that have begun; returns how many are done.

    Starts no batch after `until`. A failure for one person does not stop the others.
    """
    waiting = Erasure.objects.filter(done_at=None).order_by("begun_at")
    done = 0
    for account_id in waiting.values_list("pk", flat=True):
        try:
            done += finish(account_id, until=until)
        except Exception:
            log.exception("Erasing %s cannot be finished", account_id)
    return done


def finish(account_id: str, *, until: float) -> bool:
    """Removes the rest of an anonymous person; returns False if time ran out.

    Raises vault.Unreadable if no key decrypts the person's addresses. By then their own rows are
    removed, but not their addresses in the rows of other accounts.
    """
    row = Erasure.objects.select_related("account").get(pk=account_id)
    if row.done_at is not None:
        return True
    with transaction.atomic():  # loops that the person joined concurrently
        _leave_loops(row.account, [])
    pruning.run_batches(lambda: _remove_own_requests(account_id), until=until)
    remove_all(account_id, until=until)
    if (
        Request.objects.created_by(account_id).exists()
        or Delivery.objects.of_account(account_id).exists()
    ):
        return False
    _remove_own_loops(account_id)
    remove_records(account_id)
    found: dict[str, Any] = json.loads(vault.open_sealed(row.sealed))
    _rewrite_others(row.account, found)
    _rename_in_receipts(row.account)
    Erasure.objects.filter(pk=account_id).update(done_at=Now(), sealed=b"")
    return True


def _lock_loops(person: User, addresses: list[str]) -> None:
    """Locks the loops that a person owns, is in or is invited to, in the order of their ids."""
    invited = Q(status=Membership.Status.PENDING, email__in=addresses)
    places = Membership.objects.filter(Q(user=person) | invited)
    loop_ids = list(places.values_list("loop_id", flat=True))
    loop_ids += Loop.objects.of_creator(person.pk).values_list("pk", flat=True)
    loops = Loop.objects.filter(pk__in=loop_ids).order_by("pk")
    list(loops.select_for_update(no_key=True).values_list("pk"))


def _leave_loops(person: User, addresses: list[str]) -> list[str]:
    """Ends memberships in other accounts' loops, and invitations; returns these accounts."""
    theirs = Membership.objects.exclude(account_id=person.pk)
    joined = theirs.filter(user=person).order_by("loop_id").select_related("loop")
    accounts = set()
    for membership in joined:
        accounts.add(membership.account_id)
        if membership.loop.deleted_at is None:
            place = {"loop_id": membership.loop_id, "account_id": membership.account_id}
            remove_member(**place, member_id=person.pk, actor_id=person.pk)
        else:
            membership.delete()
    pending = theirs.filter(status=Membership.Status.PENDING)
    invited = pending.filter(email__in=addresses).order_by("loop_id").select_related("loop")
    for membership in invited:
        if membership.loop.deleted_at is None:
            lock_loop(membership.loop_id, account_id=membership.account_id)
            touch(membership.loop_id, account_id=membership.account_id)
        membership.delete()
    return sorted(accounts)


def _close_own_loops(person: User) -> None:
    """Deletes the person's own loops, after concurrent creations of requests in them."""
    own = Loop.objects.of_creator(person.pk)
    list(own.order_by("pk").select_for_update().values_list("pk"))
    own.update(deleted_at=Now(), updated_at=Now())


@transaction.atomic
def _remove_own_requests(account_id: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_OWN, [account_id])
        found = cursor.fetchall()
    remove_requests(account_id, found, waiting=True)
    return len(found)


def _remove_own_loops(account_id: str) -> None:
    ExportLease.objects.filter(account_id=account_id).delete()
    while counters.aggregate() == counters.AGGREGATE_BATCH:
        pass
    with transaction.atomic():
        Counter.objects.filter(creator_id=account_id, n=0, scope_id=account_id).delete()
        loop_ids = list(Loop.objects.filter(creator_id=account_id).values_list("pk", flat=True))
        Counter.objects.filter(n=0, scope_id__in=loop_ids).delete()
        Membership.objects.filter(account_id=account_id, loop_id__in=loop_ids).delete()
        Grant.objects.of_account(account_id).delete()
        Loop.objects.filter(creator_id=account_id).delete()


def _rename_in_receipts(person: User) -> None:
    """Writes the pseudonym into the receipts of what the person approved for others."""
    last = ""
    while batch := rename_erased(person, after=last, limit=pruning.BATCH):
        last = batch[-1]


def _rewrite_others(person: User, found: dict[str, Any]) -> None:
    """Writes the pseudonym into the audit logs and the stored events of other accounts."""
    accounts: set[Any] = set(found["accounts"])
    for address in found["addresses"]:
        accounts.update(rewrite_audit(person.pk, address, person.name, until=None))
    passed_on = found.get("passed_on", {})  # the version before this one stores none
    for address, time in passed_on.items():
        until = datetime.fromisoformat(time)
        accounts.update(rewrite_audit(person.pk, address, person.name, until=until))
    answered = Answer.objects.filter(person=person).order_by()
    accounts.update(answered.values_list("account_id", flat=True).distinct())
    for account_id in sorted(accounts):
        rewrite_bodies(account_id, person_id=person.pk, name=person.name, email=person.email)
