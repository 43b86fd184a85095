"""Inserts a request and its notifications in one statement, which is its own transaction."""

from contextlib import nullcontext
from typing import Any

from django.db import connection, transaction
from psycopg.types.json import Json

from db.columns import dumps
from loops.models import Loop
from loops.services import AUDIENCE, hold_members
from outbox.items import Item
from reviews import policy
from reviews.lifecycle.events import emit_created
from reviews.lifecycle.states import CREATED
from reviews.models import Request
from reviews.notifications import enqueue
from reviews.notifications.enqueue import ENQUEUE
from reviews.notifications.push.channel import Push
from web.phrases import say
from webhooks.emission import wants

_INPUT = (
    "id", "api_key_id", "processing_type", "type", "priority", "request_text",
    "image_url", "context", "timeout_seconds", "response_type", "response_config",
    "default_response", "platform", "platform_version", "callback_url",
    "metadata", "asked_through", "traceparent", "policy", "replaces_id",
    "grant_id",
)  # fmt: skip
_PARAMS = (*_INPUT, "loop_id", "creator_id")
_JSON = ("context", "response_config", "default_response", "metadata", "policy")
_COMPUTED = {
    "loop_id": "loop_id",
    "creator_id": "owner_id",
    "status": "'pending'",
    "eligible": "CASE WHEN %(has_policy)s THEN ARRAY(SELECT id::text FROM reviewers) END",
    "claim_count": "0",
    "broadcasted_to": "members",
    "notifications_sent": "0",
    "timeout_at": "statement_timestamp() + make_interval(secs => %(timeout_seconds)s)",
    "created_at": "statement_timestamp()",
    "updated_at": "statement_timestamp()",
}
_IS_WANTED = wants("e", account="%(creator_id)s", event=f"'{CREATED}'", loop="%(loop_id)s::text")
_INSERT = f"""
WITH {AUDIENCE}, wanted AS (
    SELECT EXISTS (SELECT FROM accounts_webhookendpoint e WHERE {_IS_WANTED}) AS is_wanted
), made AS (
    INSERT INTO reviews_request ({", ".join([*_INPUT, *_COMPUTED])})
    SELECT {", ".join([*(f"%({name})s" for name in _INPUT), *_COMPUTED.values()])}
      FROM audience CROSS JOIN wanted WHERE owner_id = %(creator_id)s AND members >= %(answers)s
       AND loop_policy::text IS NOT DISTINCT FROM %(loop_policy)s::text
       AND (%(announces)s OR NOT is_wanted)
    RETURNING id, creator_id, loop_id, priority, timeout_at, created_at
), {ENQUEUE}
SELECT owner_id = %(creator_id)s, loop_policy::text, members, timeout_at, created_at, items,
       is_wanted
  FROM audience CROSS JOIN wanted LEFT JOIN made ON true CROSS JOIN pushes
"""  # noqa: S608 (nothing in it comes from outside)


class NotTheOwner(Exception):
    """The account did not create the loop, so it may not create requests in it."""


class NoActiveMembers(Exception):
    """Nobody in the loop would receive the request."""


class Refused(ValueError):
    """The request does not fit its loop. The argument is a phrase for the account."""


class TooFewPeople(Refused):
    """The policy needs more answers than people may give."""


class OtherPolicy(Exception):
    """The loop's policy is another one than the caller knew. `text` is its JSON, None for none."""

    def __init__(self, text: str | None) -> None:
        super().__init__(text)
        self.text = text


class Wanted(Exception):
    """A webhook endpoint wants the event of the creation, which takes a transaction."""


def insert(
    request: Request,
    *,
    loop_policy: str | None = None,
    announces: bool = False,
    notifies: bool = True,
) -> list[Item[Push]]:
    """Inserts a new request for the active members of its loop, and sets the fields that SQL
    computes.

    `loop_policy` is the JSON of the loop's policy, as the caller knows it. With `announces`, the
    caller's transaction also gets the event of the creation. Nobody is notified unless it
    `notifies`. Returns the pushes, claimed for this process, which sends them after the commit. Who
    may answer by a policy is fixed here, so nobody joins or leaves the loop meanwhile, which takes
    a transaction of two statements.

    Raises Loop.DoesNotExist where the loop is gone, NotTheOwner, OtherPolicy, NoActiveMembers,
    TooFewPeople, Wanted, and IntegrityError where the id is taken.
    """
    params = _build_params(request, loop_policy, announces=announces, notifies=notifies)
    has_policy = request.policy is not None
    with transaction.atomic() if announces or has_policy else nullcontext():
        if has_policy:
            hold_members(request.loop_id, account_id=request.creator_id)
        with connection.cursor() as cursor:
            cursor.execute(_INSERT, params)
            row = cursor.fetchone()
        if row is None:
            raise Loop.DoesNotExist
        is_owner, found, members, request.timeout_at, request.created_at, items, is_wanted = row
        if not is_owner:
            raise NotTheOwner
        if found != loop_policy:
            raise OtherPolicy(found)
        if request.created_at is None:
            raise _explain(request, members, params["answers"], is_loops=loop_policy is not None)
        request.broadcasted_to, request.updated_at = members, request.created_at
        request._state.adding = False  # the row has its instance
        if is_wanted:
            emit_created(request)
    return enqueue.read_items(items, request, claim_id=params["push_claim"])


def _build_params(
    request: Request, loop_policy: str | None, *, announces: bool, notifies: bool
) -> dict[str, Any]:
    rule = policy.read(request.policy) if request.policy else policy.Policy()
    params: dict[str, Any] = {
        **{name: getattr(request, name) for name in _PARAMS},
        **enqueue.parameters(notifies=notifies),
        "has_policy": request.policy is not None,
        "answers": rule.answers,
        "but": request.creator_id if rule.exclude_creator else None,
        "loop_policy": loop_policy,
        "announces": announces,
    }
    for name in _JSON:
        if params[name] is not None:
            params[name] = Json(params[name], dumps=dumps)
    return params


def _explain(request: Request, members: int, answers: int, *, is_loops: bool) -> Exception:
    """Tells why a request of the owner was not inserted under the loop's policy."""
    if members >= answers:
        return Wanted()
    if request.policy is None:
        return NoActiveMembers()
    sentence = say(
        "%(field)s is %(needed)s, but %(able)s people may answer",
        field="policy.answers",
        needed=answers,
        able=members,
    )
    return TooFewPeople(of_loop(sentence) if is_loops else sentence)


def of_loop(error: str) -> str:
    """Says that an error is about the loop's policy, not about one of the request."""
    return say("The loop's %(error)s", error=error)
