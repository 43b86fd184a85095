"""Standing grants: while approving a call, a person allows equal calls for a while.

A grant holds for one loop, key and name of a call, with equal arguments in their canonical form
(RFC 8785). A request that a grant covers completes in the transaction that creates it. Neither a
call of high risk, nor a critical request, nor one of several answers is ever covered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, NamedTuple

from django.db import connection, transaction
from django.db.models.functions import Now

from accounts.audit import record
from loops.models import Loop
from loops.services import hold_members, lock_membership
from reviews import canonical, comments, policy
from reviews.insertion import insert
from reviews.lifecycle import transitions
from reviews.models import Grant, Request
from reviews.models.grants import GrantQuerySet
from reviews.response_types.approval import APPROVAL, read_proposal
from reviews.response_types.approval.names import APPROVE, HIGH
from web.phrases import say

MAX_HOURS: Final = 8
MAX_USES: Final = 100
CRITICAL: Final = "critical"
_FORBIDDEN: Final = say("This loop allows no calls for a while")

_FIND = """
SELECT g.id, g.person_id, g.names, g.digest FROM reviews_grant g
  JOIN loops_loop l ON l.id = g.loop_id AND NOT l.forbids_grants
 WHERE g.loop_id = %(loop)s AND g.account_id = %(account)s AND g.api_key_id = %(key)s
   AND g.call = %(call)s AND (g.names IS NOT NULL OR g.digest = %(digest)s)
   AND g.revoked_at IS NULL AND g.uses < g.max_uses AND g.expires_at > statement_timestamp()
 ORDER BY g.expires_at, g.id
"""
# FOR SHARE, because an owner who forbids grants, and whoever ends those of a person, only update
# the row: they wait for the calls under way.
_HOLD_LOOP = """
SELECT NOT forbids_grants FROM loops_loop WHERE id = %(loop)s AND creator_id = %(account)s FOR SHARE
"""
_HOLD_PERSON = "SELECT grants_ended_at FROM accounts_user WHERE id = %(person)s FOR SHARE"
# Whoever waits for the row sees its uses and revocation as they are then.
_SPEND = """
UPDATE reviews_grant SET uses = uses + 1
 WHERE id = %(id)s AND account_id = %(account)s AND revoked_at IS NULL AND uses < max_uses
   AND expires_at > clock_timestamp() AND created_at > coalesce(%(ended)s, '-infinity'::timestamptz)
"""


class InvalidGrant(ValueError):
    """The call may not be allowed for a while, or not so. The argument is a phrase."""


@dataclass(frozen=True, slots=True)
class Terms:
    """For how long and how often equal calls may run; `names` are the arguments that have to be
    equal, None for all of them."""

    hours: int
    uses: int
    names: Sequence[str] | None = None


class Covering(NamedTuple):
    """A grant that covers a call, and its person."""

    grant_id: str
    person_id: str


def find_obstacle(request: Request) -> str | None:
    """Returns why no standing grant can be made of the request; None if one can."""
    if request.response_type != APPROVAL or request.api_key_id is None:
        return say("Only a call that a program proposes can be allowed for a while")
    if obstacle := _find_limit(request):
        return obstacle
    if request.loop.forbids_grants:
        return _FORBIDDEN
    if APPROVE in comments.find_options_needing_comment(request):
        return say("This loop wants a comment for each approval")
    if canonical.find_fault(read_proposal(request.response_config).arguments):
        return say("These arguments cannot be compared with others")
    return None


def _find_limit(request: Request) -> str | None:
    """Says what of a request, whatever its loop, no grant may cover."""
    proposal = read_proposal(request.response_config)
    if proposal.risk == HIGH or request.priority == CRITICAL:
        return say("A call of high risk, or a critical one, is approved each time")
    if request.policy is not None and policy.read(request.policy).needs_several:
        return say("A call that several people approve is approved each time")
    if APPROVE not in proposal.actions:
        return say("This call cannot be approved as it is")
    return None


def check_terms(request: Request, terms: Terms, answer: Any) -> None:
    """Checks the terms of a grant that comes with a checked answer. Raises InvalidGrant."""
    if obstacle := find_obstacle(request):
        raise InvalidGrant(obstacle)
    if answer["action"] != APPROVE:
        raise InvalidGrant(say("Only a call that you approve unchanged can be allowed for a while"))
    if not 1 <= terms.hours <= MAX_HOURS:
        raise InvalidGrant(say("Choose 1 to %(most)s hours", most=MAX_HOURS))
    if not 1 <= terms.uses <= MAX_USES:
        raise InvalidGrant(say("Choose 1 to %(most)s uses", most=MAX_USES))
    known = read_proposal(request.response_config).arguments
    if terms.names is not None and not (terms.names and set(terms.names) <= known.keys()):
        raise InvalidGrant(say("Choose one argument of the call or more"))


def create(request: Request, terms: Terms, *, person_id: str) -> Grant:
    """Creates the grant of a request that the person approves, in the caller's transaction."""
    proposal = read_proposal(request.response_config)
    names = None if terms.names is None else sorted(set(terms.names))
    grant: Grant = Grant.objects.create(
        account_id=request.creator_id,
        loop_id=request.loop_id,
        api_key_id=request.api_key_id,
        person_id=person_id,
        request_id=request.pk,
        call=proposal.name,
        names=names,
        digest=_digest(proposal.arguments, names),
        max_uses=terms.uses,
        expires_at=Now() + timedelta(hours=terms.hours),
    )
    _record(grant, "created", actor_id=person_id)
    return grant


def hold_permission(request: Request) -> None:
    """Keeps the loop's owner from forbidding grants until the transaction ends.

    Take this lock before that on the membership. Raises InvalidGrant if the owner forbids them.
    """
    if not _fetch(_HOLD_LOOP, {"loop": request.loop_id, "account": request.creator_id})[0][0]:
        raise InvalidGrant(_FORBIDDEN)


def find_covering(request: Request) -> list[Covering]:
    """Finds the grants that cover a new request, unless its loop's rules are against it.

    One statement for an approval of a program, none for another request.
    """
    if request.response_type != APPROVAL or request.api_key_id is None or request.replaces_id:
        return []
    proposal = read_proposal(request.response_config)
    if _find_limit(request) or canonical.find_fault(proposal.arguments):
        return []
    params = {
        "loop": request.loop_id,
        "account": request.creator_id,
        "key": request.api_key_id,
        "call": proposal.name,
        "digest": _digest(proposal.arguments, None),
    }
    return [
        Covering(grant_id, person_id)
        for grant_id, person_id, names, digest in _fetch(_FIND, params)
        if _covers(proposal.arguments, names, digest)
    ]


def insert_covered(
    request: Request, covering: Sequence[Covering], *, loop_policy: str | None, announces: bool
) -> bool:
    """Inserts a request that a grant covers, and completes it; False if the grants are used up.

    Nobody is notified. Takes and raises what `insert` does.
    """
    request.grant_id = None  # an attempt under another policy may have set it
    if not covering or _find_limit(request):
        return False
    if APPROVE in comments.find_options_needing_comment(request):
        return False
    excluded = policy.read(request.policy).exclude_creator if request.policy else False
    for grant_id, person_id in covering:
        if excluded and person_id == request.creator_id:
            continue
        with transaction.atomic():
            if _spend(grant_id, person_id, request):
                request.grant_id = grant_id
                insert(request, loop_policy=loop_policy, announces=announces, notifies=False)
                _complete(request, person_id)
                return True
    return False


def _covers(arguments: Mapping[str, Any], names: Sequence[str] | None, digest: str) -> bool:
    if names is not None and not set(names) <= arguments.keys():
        return False
    return _digest(arguments, names) == digest


def _digest(arguments: Mapping[str, Any], names: Sequence[str] | None) -> str:
    chosen = arguments if names is None else {name: arguments[name] for name in names}
    return canonical.compute_digest(dict(chosen))


def _spend(grant_id: str, person_id: str, request: Request) -> bool:
    """Takes one use, in the transaction that creates the request; False if there is none left.

    The person has to be a member still, and stays one until the commit. The locks are in the order
    of those who erase a person and of those who remove a member.
    """
    ((ended_at,),) = _fetch(_HOLD_PERSON, {"person": person_id})
    by = {"loop_id": request.loop_id, "account_id": request.creator_id}
    hold_members(**by)  # as `insert` does for a policy, which would come too late
    if not lock_membership(**by, user_id=person_id):
        return False
    params = {"id": grant_id, "account": request.creator_id, "ended": ended_at}
    with connection.cursor() as cursor:
        cursor.execute(_SPEND, params)
        return bool(cursor.rowcount)


def _complete(request: Request, person_id: str) -> None:
    proposal = read_proposal(request.response_config)
    value = {"action": APPROVE, "edited": [], "arguments": proposal.arguments}
    transitions.complete_new(request, person_id=person_id, value=value)
    record(
        account_id=request.creator_id,
        actor_id=person_id,
        action="grant.used",
        subject=f"{proposal.name} ({request.pk})",
        key_id=request.api_key_id,
    )


@transaction.atomic
def revoke(grant: Grant, *, actor_id: str) -> bool:
    """Revokes the grant; once this has returned, nothing uses it. False if it was revoked.

    Requests that it has completed stay as they are. Raises Grant.DoesNotExist.
    """
    rows = Grant.objects.of_account(grant.account_id).filter(pk=grant.pk)
    locked = rows.select_for_update().get()
    if locked.revoked_at is not None:
        return False
    rows.update(revoked_at=Now())
    _record(locked, "revoked", actor_id=actor_id)
    return True


def _fetch(sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _record(grant: Grant, verb: str, *, actor_id: str) -> None:
    record(
        account_id=grant.account_id,
        actor_id=actor_id,
        action=f"grant.{verb}",
        subject=f"{grant.call} ({grant.pk})",
    )


def end_of_loop(loop: Loop) -> None:
    """Revokes the grants of a loop whose owner forbids them, in the caller's transaction."""
    _end_all(Grant.objects.filter(loop=loop), actor_id=loop.creator_id)


def end_of_member(loop_id: str, *, person_id: str, actor_id: str) -> None:
    """Revokes the grants of a member who leaves a loop, in the caller's transaction."""
    _end_all(Grant.objects.filter(loop_id=loop_id, person_id=person_id), actor_id=actor_id)


def _end_all(rows: GrantQuerySet, *, actor_id: str) -> None:
    for grant in rows.running().order_by("id"):
        revoke(grant, actor_id=actor_id)
