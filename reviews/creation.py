"""Creates requests, under the policy of their loop and as the next version of another one."""

import json
from datetime import timedelta
from typing import Any

from django.db import transaction

from accounts.quota import Account
from db.ids import owned_id
from loops.models import Loop
from outbox.items import Item
from reviews import policy
from reviews.grants import Covering, find_covering, insert_covered
from reviews.insertion import OtherPolicy, Refused, Wanted, insert, of_loop
from reviews.models import Request
from reviews.notifications.push.channel import DISPATCHER, Push
from reviews.response_types import get_response_type
from reviews.response_types.policies import check_rule
from reviews.versions import insert_version
from web.phrases import say

DEFERRED_TIMEOUT = timedelta(days=30)


class LoopHasPolicy(Refused):
    """The loop's policy holds for all its requests, so none may have its own."""


class UnfitPolicy(Refused):
    """The loop's policy is not possible for the response type."""


class LoopGone(Exception):
    """The loop was already deleted."""


def create_request(
    *,
    loop_id: str,
    account: Account,
    fields: dict[str, Any],
    api_key_id: str | None = None,
    request_id: str | None = None,
    asked_through: str = "",
    traceparent: str | None = None,
) -> Request:
    """Creates a pending request for every active member (docs/contract.md, `create`).

    A call that a standing grant covers is completed at once; to look for one is a statement more
    for an approval (`reviews.grants`).

    `fields` are those of `RequestInput`; `asked_through` is shown to the account; webhooks continue
    the trace of `traceparent`. It is one statement and its own transaction; with a policy the
    transaction has two, and a loop's takes another statement. `replaces`, which cancels an open
    older version, takes several, and so does a webhook endpoint that wants the event. Pushes leave
    after the commit, on other threads: `notifications_sent` is 0 here and counts later.

    Raises LoopGone, NotTheOwner, NoActiveMembers, Refused, and IntegrityError if `request_id`, from
    the token of a form, has already created its request.
    """
    columns = {"timeout_seconds": int(DEFERRED_TIMEOUT.total_seconds()), **fields}
    request = Request(
        replaces_id=columns.pop("replaces", None),
        **columns,
        id=request_id or owned_id(account.id),
        loop_id=loop_id,
        creator_id=account.id,
        api_key_id=api_key_id,
        asked_through=asked_through,
        traceparent=traceparent,
    )
    pushes = _insert_by_policy(request)
    if pushes:
        transaction.on_commit(lambda: DISPATCHER.send_now(pushes), robust=True)
    return request


def _insert_by_policy(request: Request) -> list[Item[Push]]:
    """Inserts the request under its loop's policy, if the loop has one.

    Raises LoopGone, LoopHasPolicy, UnfitPolicy, and what `insert_version` raises.
    """
    own, known, announces = request.policy, None, False
    covering = find_covering(request)
    while True:
        try:
            return _insert(request, covering, known, announces=announces)
        except Wanted:  # no statement more for accounts without
            announces = True
            continue
        except Loop.DoesNotExist:
            raise LoopGone from None
        except OtherPolicy as other:  # no statement more for loops without
            if own is not None and other.text is not None:
                sentence = say("policy is not allowed: the loop has one for all its requests")
                raise LoopHasPolicy(sentence) from None
            known = other.text
        request.policy = own if known is None else json.loads(known)
        if known is not None:
            _check_rule(request)


def _check_rule(request: Request) -> None:
    try:
        check_rule(policy.read(request.policy), get_response_type(request.response_type))
    except policy.InvalidPolicy as error:
        raise UnfitPolicy(of_loop(error.args[0])) from None


def _insert(
    request: Request, covering: list[Covering], loop_policy: str | None, *, announces: bool
) -> list[Item[Push]]:
    """Inserts the request: completed by a standing grant, as the next version, or pending."""
    if request.replaces_id:
        return insert_version(request, loop_policy=loop_policy, announces=announces)
    if insert_covered(request, covering, loop_policy=loop_policy, announces=announces):
        return []
    return insert(request, loop_policy=loop_policy, announces=announces)
