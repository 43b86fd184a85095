"""Review tokens and their revocation: no call uses one after its revocation has returned."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections, transaction

from accounts import key_format, proofs, review_quota, review_tokens
from accounts.models import ReviewToken, User
from loops.models import Loop
from reviews.models import Answer, Request
from reviews.services import create_request, remove_member
from tests.accounts.tokens import revoke, row_of, token_of
from tests.api.bodies import QUESTION
from tests.backends import waiting_for_locks
from tests.conftest import Api
from tests.reviews.conftest import acting
from tests.waiting import wait_until

RACES = 50


def make(owner: User, loop: Loop) -> Request:
    return create_request(loop_id=loop.pk, account=acting(owner), fields=dict(QUESTION))


def answer(secret: str, request_id: str) -> int:
    path = f"/v1/review/requests/{request_id}/answer"
    status: int = Api(secret).post(path, {"answer": "yes"}).status_code
    return status


def begin(action: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Runs the action in a thread; the list gets its result."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(action())
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


@contextmanager
def locked(request: Request) -> Iterator[None]:
    """Locks the request, so that answers wait."""
    with transaction.atomic():
        Request.objects.select_for_update().get(pk=request.pk)
        yield


@pytest.mark.django_db(transaction=True)
@pytest.mark.contract("review.revoke")
@pytest.mark.parametrize("how", ["revoked", "all revoked", "removed"])
def test_a_revocation_waits_for_the_answer_under_way(
    owner: User, member: User, loop: Loop, how: str
) -> None:
    request, late = make(owner, loop), make(owner, loop)
    secret = token_of(member)
    ends: dict[str, Callable[[], Any]] = {
        "revoked": lambda: revoke(secret),
        "all revoked": lambda: review_tokens.revoke_all(member.pk),
        "removed": lambda: remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=member.pk),
    }
    with locked(request):
        answering, status = begin(lambda: answer(secret, request.pk))
        wait_until(lambda: waiting_for_locks() == 1)
        ending, ended = begin(ends[how])
        wait_until(lambda: waiting_for_locks() == 2)
        assert not ended
    answering.join()
    ending.join()
    assert status == [200]
    assert ended
    assert answer(secret, late.pk) == 401
    assert Answer.objects.filter(person=member).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.contract("review.revoke")
def test_an_answer_waits_for_the_revocation_under_way(
    owner: User, member: User, loop: Loop
) -> None:
    request, secret = make(owner, loop), token_of(member)
    with transaction.atomic():
        review_tokens.lock_all(member.pk)
        answering, status = begin(lambda: answer(secret, request.pk))
        wait_until(lambda: waiting_for_locks() == 1)
        revoke(secret)
    answering.join()
    assert status == [401]
    assert not Answer.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.contract("review.revoke")
def test_no_use_after_a_revocation_has_returned(owner: User, member: User, loop: Loop) -> None:
    late = []
    for _ in range(RACES):
        secret = token_of(member)
        requests = [make(owner, loop) for _ in range(4)]
        start = threading.Barrier(5, timeout=60)

        def use(request: Request, secret: str = secret, start: Any = start) -> int:
            start.wait()
            return answer(secret, request.pk)

        uses = [begin(lambda each=each: use(each)) for each in requests]  # type: ignore[misc]
        start.wait()
        revoke(secret)
        before = Answer.objects.count()
        for thread, _ in uses:
            thread.join()
        assert {status for _, (status,) in uses} <= {200, 401}
        late.append(Answer.objects.count() - before)
    assert sum(late) == 0


@pytest.mark.django_db
def test_the_checksum_is_checked_without_a_query(
    member: User, django_assert_num_queries: Any
) -> None:
    secret = token_of(member)
    wrong = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    with django_assert_num_queries(0):
        assert review_quota.charge(wrong) is None
        assert review_quota.charge(key_format.new_key()) is None
    with django_assert_num_queries(1):
        assert review_quota.charge(secret)
    assert row_of(secret).calls == 1
    assert review_quota.find_caller(secret)
    assert row_of(secret).calls == 1


@pytest.mark.django_db
def test_securing_the_account_revokes_all(member: User) -> None:
    secrets = [token_of(member) for _ in range(2)]
    revoke(secrets[0])
    changes = proofs.secure_account(member, member.email, None, keep_password=True)
    assert "the review tokens were revoked" in changes
    assert not ReviewToken.objects.usable().exists()
    assert not proofs.revoke_review_tokens(member)
