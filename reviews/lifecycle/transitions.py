"""Moves requests from one status to another. Nothing else writes `status`.

Each function locks its rows, reads the clock once they are locked, asks `states` whether the
transition is allowed, sets the columns, and has `_record` save them with their events. A caller
that waits for the row beyond its deadline is too late. The caller begins the transaction.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import connection, transaction

from reviews import policy, sizes
from reviews.lifecycle import events, states
from reviews.lifecycle.conditions import DUE_AT, OPEN, held_by, in_time, lapsed, overdue
from reviews.lifecycle.deciding import decide, read_members
from reviews.lifecycle.saving import COLUMNS, update_all
from reviews.lifecycle.states import Transition
from reviews.models import Answer, Request, build_answer

# With events, a batch keeps its rows locked for about 15 ms, and for about 250 ms if each has a
# context of 256 KiB. A batch of 100 takes a third less time for each request, but a whole second.
BATCH = 25
# The channel of the database's notifications. They carry the ids of requests that have ended, and
# of accounts to which something else has happened.
CHANGED_CHANNEL = "request_ended"
SETTLERS = 0x53657474  # an advisory lock of this database, shared by all settlers

# In one query, PostgreSQL would read the clock before it waits for the locks.
_LOCK = f"""
WITH locked AS MATERIALIZED (
    SELECT {", ".join(COLUMNS)} FROM reviews_request r WHERE {{}} FOR NO KEY UPDATE {{}}
)
SELECT locked.*, clock_timestamp() AS now FROM locked
"""  # noqa: S608 (nothing in it comes from outside)
_ONE = "r.id = %(id)s AND r.creator_id = %(account)s"
# Those to which the person may still give the first answer of their own.
_WITH_POLICY = f"""
    r.loop_id = %(loop)s AND {OPEN} AND r.policy IS NOT NULL AND %(person)s = ANY (r.eligible)
    AND r.id > %(last)s AND NOT EXISTS (
        SELECT FROM reviews_answer a WHERE a.request_id = r.id AND a.person_id = %(person)s)
    ORDER BY r.id LIMIT {BATCH}"""
_BATCH_OF_LOOP = f"""r.loop_id = %(loop)s AND {in_time()} AND {{}}
    ORDER BY r.priority_rank DESC, r.timeout_at, r.id LIMIT {BATCH}"""


def claim(request_id: str, *, account_id: str, person_id: str, lease: timedelta) -> bool:
    """Gives the person a claim on the request; returns False if that is not allowed."""
    request = _lock_one(states.CLAIM, request_id, account_id)
    if request is None or request.needs_several:
        return False
    request.claimed_by_id, request.claimed_at = person_id, request.now
    request.claim_expires_at = request.now + lease
    request.claim_count += 1
    _record(states.CLAIM, [request])
    return True


def release(request_id: str, *, account_id: str, person_id: str) -> bool:
    """Ends the person's own claim; returns False if that is not allowed."""
    request = _lock_one(states.RELEASE, request_id, account_id, person_id)
    if request is None:
        return False
    _end_claim(request)
    _record(states.RELEASE, [request])
    return True


def answer(
    request_id: str, *, account_id: str, person_id: str, value: Any, comment: str | None
) -> bool:
    """Stores the person's answer, which ends the request unless its policy needs more of them.

    A person's further answer replaces the one before. Returns False if that is not allowed.
    """
    request = _lock_one(states.ANSWER, request_id, account_id, person_id)
    if request is None:
        return False
    fresh = build_answer(request, person_id=person_id, data=value, comment=comment, at=request.now)
    if request.policy is None:
        fresh.save(force_insert=True)
        _complete(request, fresh)
        _record(states.ANSWER, [request])
    else:
        _store(request, fresh)
        answers = Answer.objects.by_request([request.pk])
        request.answers_received = len(answers[request.pk])
        if not _end_decided([request], answers, read_members(request.loop_id)):
            update_all([request])
    return True


def complete_new(request: Request, *, person_id: str, value: Any) -> None:
    """Completes a request that this transaction has inserted, by a standing grant of the person."""
    by = {"account_id": request.creator_id, "person_id": person_id}
    is_moved = answer(request.pk, **by, value=value, comment=None)
    assert is_moved
    request.status = states.COMPLETED


def _store(request: Request, fresh: Answer) -> None:
    """Adds an answer to a request with a policy, or changes the person's own."""
    answers = Answer.objects.filter(request=request)
    words = {"data": fresh.data, "comment": fresh.comment, "answered_at": fresh.answered_at}
    if not answers.filter(person_id=fresh.person_id).update(**words):
        fresh.save(force_insert=True)


def _end_decided(
    requests: Sequence[Request], answers: Mapping[str, list[Answer]], members: Collection[str]
) -> bool:
    """Ends those locked requests whose answers have an outcome, or can have none any more.

    The others are not written. Returns whether any has ended.
    """
    given_up = []
    completed = []
    for request in requests:
        decision = decide(request, answers[request.pk], members)
        if decision is None:
            continue
        request.outcome, request.answers_agreed = decision.outcome, decision.agreed
        if decision.answer is not None:
            _complete(request, decision.answer)
            completed.append(request)
        else:
            _end_claim(request)
            request.response_data, request.timeout_at = request.default_response, request.now
            given_up.append(request)
    _record(states.ANSWER, completed)
    _record(states.GIVE_UP, given_up)
    return bool(completed or given_up)


def _complete(request: Request, chosen: Answer) -> None:
    """Sets the outcome of a request: one of its answers."""
    request.response_data, request.response_comment = chosen.data, chosen.comment
    request.response_by_id, request.response_at = chosen.person_id, request.now
    request.claim_expires_at = None


def cancel(request_id: str, *, account_id: str, traceparent: str | None) -> Request | None:
    """Cancels the request and returns it; None if that is not allowed."""
    request = _lock_one(states.CANCEL, request_id, account_id)
    if request is not None:
        request.traceparent = traceparent or request.traceparent
        _record(states.CANCEL, [request])
    return request


def withdraw(request: Request, *, traceparent: str | None) -> bool:
    """Cancels a request locked by `lock`, a claimed one too; False if that is not allowed."""
    if not _choose(states.WITHDRAW, [request]):
        return False
    _change_withdrawn(request, traceparent)
    _record(states.WITHDRAW, [request])
    return True


def withdraw_all(loop_id: str, *, traceparent: str | None) -> None:
    """Cancels all open requests of a loop, in batches of the caller's transaction."""

    def change(request: Request) -> None:
        _change_withdrawn(request, traceparent)

    _move_all(states.WITHDRAW, OPEN, change, {"loop": loop_id})


def release_all(loop_id: str, *, person_id: str) -> None:
    """Ends the person's claims in a loop, in batches of the caller's transaction."""
    condition = held_by("%(person)s")
    _move_all(states.RELEASE, condition, _end_claim, {"loop": loop_id, "person": person_id})


def count_without(loop_id: str, *, person_id: str) -> None:
    """Ends the open requests of a loop whose policy cannot have an outcome without the person.

    In batches of the caller's transaction, in which the person has left the locked loop.
    """
    params = {"loop": loop_id, "person": person_id, "last": ""}
    members = read_members(loop_id)
    while locked := _lock(_WITH_POLICY, params):
        params["last"] = locked[-1].pk
        by_id = {request.pk: request for request in _choose(states.GIVE_UP, locked)}
        for part in sizes.split(list(by_id)):
            answers = Answer.objects.by_request(part)
            _end_decided([by_id[request_id] for request_id in part], answers, members)


def time_out(where: str = "TRUE", **params: Any) -> int:
    """Times out a batch of overdue requests that nobody has locked; returns how many.

    `where` is an SQL condition on the row `r`, over `params`. Fewer than BATCH are the last ones.
    """
    which = f"{where} AND {overdue()} ORDER BY {DUE_AT} LIMIT {BATCH}"
    with _settling() as wake:
        requests = _choose(states.TIME_OUT, _lock(which, params, "SKIP LOCKED"))
        for request in requests:
            _end_claim(request)
            request.response_data = request.default_response
            request.outcome = policy.DEFAULT if request.policy else None
            request.updated_at = request.timeout_at
        _record(states.TIME_OUT, requests, wake)
    return len(requests)


def lapse(where: str = "TRUE", **params: Any) -> int:
    """Ends a batch of claims whose lease has expired, as `time_out` does; returns how many."""
    which = f"{where} AND {lapsed()} ORDER BY r.claim_expires_at LIMIT {BATCH}"
    with _settling() as wake:
        requests = _choose(states.LAPSE, _lock(which, params, "SKIP LOCKED"))
        for request in requests:
            assert request.claim_expires_at is not None
            request.updated_at = request.claim_expires_at
            _end_claim(request)
        _record(states.LAPSE, requests, wake)
    return len(requests)


def _lock_one(
    transition: Transition, request_id: str, account_id: str, person_id: str | None = None
) -> Request | None:
    """Locks the request; returns None if it may not make the transition.

    Raises Request.DoesNotExist.
    """
    locked = lock(request_id, account_id=account_id)
    return next(iter(_choose(transition, [locked], person_id)), None)


def lock(request_id: str, *, account_id: str) -> Request:
    """Locks the request, and adds `now`, the time after that. Raises Request.DoesNotExist."""
    for request in _lock(_ONE, {"id": request_id, "account": account_id}):
        return request
    raise Request.DoesNotExist


def _lock(which: str, params: dict[str, Any], wait: str = "") -> list[Request]:
    """Locks the requests that `which` selects, and adds `now`, the time after that."""
    locked = []
    with connection.cursor() as cursor:
        cursor.execute(_LOCK.format(which, wait), params)
        for *row, now in cursor.fetchall():
            request = Request.from_db(connection.alias, COLUMNS, row)
            request.stored, request.now = row, now
            locked.append(request)
    return locked


def _choose(
    transition: Transition, locked: list[Request], person_id: str | None = None
) -> list[Request]:
    """Returns the requests that may make the transition, each updated `now`."""
    allowed = [
        request
        for request in locked
        if transition.is_allowed(request, now=request.now, person_id=person_id)
    ]
    for request in allowed:
        request.updated_at = request.now
    return allowed


def _move_all(
    transition: Transition,
    condition: str,
    change: Callable[[Request], None],
    params: dict[str, Any],
) -> None:
    """Moves all requests of a loop that may make the transition, and waits for locked ones.

    The condition leaves out what has moved and what is overdue, so each batch selects others.
    """
    which = _BATCH_OF_LOOP.format(condition)
    while locked := _lock(which, params):
        requests = _choose(transition, locked, params.get("person"))
        for request in requests:
            change(request)
        _record(transition, requests)


def _change_withdrawn(request: Request, traceparent: str | None) -> None:
    _end_claim(request)
    request.traceparent = traceparent or request.traceparent


def _end_claim(request: Request) -> None:
    request.claimed_by_id = request.claimed_at = request.claim_expires_at = None


Wake = Callable[[list[str]], None]


def _wake_after_commit(ids: list[str]) -> None:
    transaction.on_commit(lambda: wake(ids), robust=True)


def _record(
    transition: Transition, requests: Sequence[Request], wake: Wake = _wake_after_commit
) -> None:
    """Saves the moved requests, writes their events, and notifies waiting calls."""
    for request in requests:
        request.status = transition.target
    update_all(requests)
    if transition.event and requests:
        events.emit(transition.event, requests)
        is_end = transition.target in states.FINAL
        wake([request.pk if is_end else request.creator_id for request in requests])


@contextmanager
def _settling() -> Iterator[Wake]:
    """Begins a settling transaction, and yields the function that notifies waiting calls.

    The advisory lock is taken before any row lock, so that a process that finds a locked row can
    wait for all settlers. The commit waits neither for the disk nor for a missing replica. If a
    crash of the server undoes the commit, the rows are still due and are settled again with the
    same result. A later write that depends on it (an attempt of a delivery) waits for the disk for
    both. Inside a caller's transaction the commit stays synchronous.
    """
    is_own = not connection.in_atomic_block
    asynchronous = ", set_config('synchronous_commit', 'off', true)" if is_own else ""
    with transaction.atomic(savepoint=False):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_advisory_xact_lock_shared(%s){asynchronous}", [SETTLERS])
        yield wake if is_own else _wake_after_commit


def wake(ids: list[str]) -> None:
    """Notifies the calls that wait for these requests and accounts, in a transaction of its own.

    PostgreSQL commits one transaction with notifications at a time. One that waits for a replica
    would delay all others.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, changed.id)"
            " FROM unnest(%s::text[]) AS changed (id)",
            [CHANGED_CHANNEL, ids],
        )
