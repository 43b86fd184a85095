"""Two reviewers and a cancel at once, three hundred times: exactly one of them wins."""

import threading
from collections import Counter
from collections.abc import Callable

import pytest
from django.db import connections

from accounts.models import User
from accounts.quota import Account
from loops.models import Loop
from reviews.models import Request
from reviews.services import (
    TransitionLost,
    answer_request,
    cancel_request,
    claim_request,
    create_request,
)
from tests.api.bodies import QUESTION

pytestmark = pytest.mark.django_db(transaction=True)

Move = Callable[[Request], object]


@pytest.fixture
def make(owner: User, loop: Loop) -> Callable[[int], list[Request]]:
    """A function that creates so many pending requests."""
    account = Account(id=owner.pk, email=owner.email, name=owner.name, is_active=True)

    def create(count: int) -> list[Request]:
        return [
            create_request(loop_id=loop.pk, account=account, fields=dict(QUESTION))
            for _ in range(count)
        ]

    return create


def race(requests: list[Request], moves: dict[str, Move]) -> list[list[str]]:
    """The names of those whose move got through, for each request."""
    start = threading.Barrier(len(moves), timeout=60)
    winners: list[list[str]] = [[] for _ in requests]
    broken: list[BaseException] = []
    told: set[tuple[bool, str]] = set()

    def run(name: str, move: Move) -> None:
        try:
            for place, request in enumerate(requests):
                start.wait()
                try:
                    move(request)
                except TransitionLost as lost:
                    told.add((lost.request.pk == request.pk, lost.request.status))
                else:
                    winners[place].append(name)
        except BaseException as error:
            broken.append(error)
            start.abort()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=item) for item in moves.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not broken, broken
    assert told <= {(True, "completed"), (True, "claimed"), (True, "cancelled")}
    return winners


@pytest.mark.contract("claim.race", "state.completed", "state.cancelled")
def test_two_reviewers_and_a_cancel(
    owner: User, member: User, make: Callable[[int], list[Request]]
) -> None:
    requests = make(300)
    winners = race(
        requests,
        {
            "owner": lambda request: answer_request(
                request=request, reviewer_id=owner.pk, answer="yes"
            ),
            "member": lambda request: answer_request(
                request=request, reviewer_id=member.pk, answer="no"
            ),
            "cancel": lambda request: cancel_request(request_id=request.pk, account_id=owner.pk),
        },
    )
    assert Counter(len(names) for names in winners) == {1: 300}
    final = Request.objects.in_bulk([request.pk for request in requests])
    for request, [name] in zip(requests, winners, strict=True):
        row = final[request.pk]
        outcome = (row.status, row.response_by_id, row.response_data)
        assert (
            outcome
            == {
                "owner": ("completed", owner.pk, "yes"),
                "member": ("completed", member.pk, "no"),
                "cancel": ("cancelled", None, None),
            }[name]
        )


@pytest.mark.contract("claim.race", "claim.lease", "claim.answer")
def test_two_claims_and_a_cancel(
    owner: User, member: User, make: Callable[[int], list[Request]]
) -> None:
    requests = make(100)
    winners = race(
        requests,
        {
            "owner": lambda request: claim_request(request=request, reviewer_id=owner.pk),
            "member": lambda request: claim_request(request=request, reviewer_id=member.pk),
            "cancel": lambda request: cancel_request(request_id=request.pk, account_id=owner.pk),
        },
    )
    assert Counter(len(names) for names in winners) == {1: 100}
    final = Request.objects.in_bulk([request.pk for request in requests])
    for request, [name] in zip(requests, winners, strict=True):
        row = final[request.pk]
        assert (row.status, row.claimed_by_id, row.claim_count) == {
            "owner": ("claimed", owner.pk, 1),
            "member": ("claimed", member.pk, 1),
            "cancel": ("cancelled", None, 0),
        }[name]


@pytest.mark.contract("claim.race")
def test_a_claim_and_an_answer_of_another(
    owner: User, member: User, make: Callable[[int], list[Request]]
) -> None:
    requests = make(100)
    winners = race(
        requests,
        {
            "claim": lambda request: claim_request(request=request, reviewer_id=owner.pk),
            "answer": lambda request: answer_request(
                request=request, reviewer_id=member.pk, answer="no"
            ),
        },
    )
    assert Counter(len(names) for names in winners) == {1: 100}
