"""Requests that several people answer."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now

from accounts.models import User
from dashboard.stats import read_days
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from reviews.lifecycle.conditions import ENDED
from reviews.models import Answer, Request
from reviews.policy import Policy
from tests.conftest import account
from tests.reviews.conftest import Make

OPTIONS = {"options": ["yes", "no", "maybe"]}
RATING = {"response_type": "rating", "response_config": {"scale_max": 5}, "default_response": 1}


@pytest.fixture
def loop(owner: User) -> Loop:
    """A loop of which the owner is the only member."""
    return create_loop(owner_id=owner.pk, name="Refund desk", icon="star")


def people(loop: Loop, count: int) -> list[User]:
    """So many people besides the owner, who have joined the loop."""
    joined = [account(f"person{number}") for number in range(count)]
    for person in joined:
        join_loop(user=person, code=loop.invite_code)
    return joined


def policy(rule: str, answers: int, **more: Any) -> dict[str, Any]:
    return Policy(rule, answers, exclude_creator=True).store() | more


def read(request: Request) -> Request:
    return services.read_request(request.pk)


def answer(request: Request, person: User, value: Any, comment: str = "") -> None:
    services.answer_request(
        request=read(request), reviewer_id=person.pk, answer=value, comment=comment
    )


@pytest.mark.django_db
class TestPeople:
    def test_who_may_answer_is_fixed_when_it_is_asked(self, loop: Loop, make: Make) -> None:
        first, second = people(loop, 2)
        request = make(policy=policy("unanimous", 2))
        late = account("late")
        join_loop(user=late, code=loop.invite_code)
        with pytest.raises(services.NotAsked):
            answer(request, late, "yes")
        assert request.broadcasted_to == 2
        assert set(request.eligible or ()) == {first.pk, second.pk}

    def test_the_creator_may_be_left_out(self, owner: User, loop: Loop, make: Make) -> None:
        people(loop, 1)
        request = make(policy=policy("first", 1))
        with pytest.raises(services.NotAsked):
            answer(request, owner, "yes")
        with pytest.raises(services.NotAsked):
            services.claim_request(request=request, reviewer_id=owner.pk)

    def test_more_answers_than_people(self, loop: Loop, make: Make) -> None:
        people(loop, 2)
        with pytest.raises(services.TooFewPeople) as few:
            make(policy=policy("majority", 3))
        assert str(few.value) == "policy.answers is 3, but 2 people may answer"
        assert not Request.objects.exists()

    def test_nobody_claims_it(self, loop: Loop, make: Make) -> None:
        first, second = people(loop, 2)
        request = make(policy=policy("unanimous", 2))
        services.claim_request(request=request, reviewer_id=first.pk)
        assert read(request).status == "pending"
        answer(request, second, "yes")

    def test_an_answer_is_replaced_while_it_decides_nothing(self, loop: Loop, make: Make) -> None:
        first, second = people(loop, 2)
        request = make(policy=policy("unanimous", 2))
        answer(request, first, "yes", "Sure")
        answer(request, first, "no")
        assert [(each.data, each.comment) for each in Answer.objects.all()] == [("no", None)]
        answer(request, second, "no")
        stored = read(request)
        assert (stored.status, stored.outcome, stored.response_data) == (
            "completed",
            "decided",
            "no",
        )
        with pytest.raises(services.TransitionLost):
            answer(request, first, "yes")

    def test_an_answer_after_its_person_has_left(self, owner: User, loop: Loop, make: Make) -> None:
        first, *_ = people(loop, 3)
        request = make(policy=policy("majority", 2))
        services.remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=first.pk)
        with pytest.raises(services.NotAReviewer):
            answer(request, first, "yes")
        assert (read(request).status, read(request).answers_received) == ("pending", 0)
        assert not Answer.objects.exists()

    def test_how_many_agree(self, loop: Loop, make: Make) -> None:
        joined = people(loop, 3)
        majority = make(policy=policy("majority", 3))
        for person, value in zip(joined, ("no", "yes", "yes"), strict=True):
            answer(majority, person, value)
        assert read(majority).answers_agreed == 2
        median = make(**RATING, policy=policy("median", 3))
        for person, stars in zip(joined, (5, 1, 3), strict=True):
            answer(median, person, stars)
        assert (read(median).response_data, read(median).answers_agreed) == (3, 1)
        dissent = make(policy=policy("unanimous", 2))
        for person, value in zip(joined[:2], ("no", "yes"), strict=True):
            answer(dissent, person, value)
        assert read(dissent).answers_agreed is None

    def test_who_has_answered_still_counts_after_leaving(
        self, owner: User, loop: Loop, make: Make
    ) -> None:
        first, second = people(loop, 2)
        request = make(policy=policy("unanimous", 2))
        answer(request, first, "yes")
        services.remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=first.pk)
        answer(request, second, "yes")
        assert read(request).outcome == "decided"

    def test_many_requests_end_when_somebody_leaves(
        self, owner: User, loop: Loop, make: Make
    ) -> None:
        first, _ = people(loop, 2)
        requests = [make(policy=policy("unanimous", 2)) for _ in range(60)]
        services.remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=first.pk)
        assert {read(each).outcome for each in requests} == {"unreachable"}


@pytest.mark.django_db
def test_a_passed_deadline_is_a_default(loop: Loop, make: Make) -> None:
    first, _ = people(loop, 2)
    request = make(policy=policy("unanimous", 2))
    answer(request, first, "yes")
    Request.objects.filter(pk=request.pk).update(timeout_at=Now() - timedelta(seconds=1))
    stored = read(request)
    assert (stored.status, stored.outcome, stored.response_data) == ("timeout", "default", "no")


@pytest.mark.django_db
@pytest.mark.parametrize("how", ["dissent", "leaving"])
def test_an_end_before_the_deadline_counts_when_it_happens(
    owner: User, loop: Loop, make: Make, how: str
) -> None:
    first, second = people(loop, 2)
    request = make(policy=policy("unanimous", 2), timeout_seconds=1_000_000)
    answer(request, first, "yes")
    if how == "dissent":
        answer(request, second, "no")
    else:
        services.remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=second.pk)
    stored = read(request)
    assert stored.status == "timeout"
    assert stored.timeout_at == stored.updated_at < request.timeout_at == stored.deadline
    (ended,) = Request.objects.values_list(ENDED, flat=True)
    assert ended == stored.updated_at
    days, _ = read_days(owner.pk)
    assert [day.timeouts for day in days] == [0] * 6 + [1]


@pytest.mark.django_db
def test_a_loops_policy_holds_for_its_requests(loop: Loop, make: Make) -> None:
    people(loop, 3)
    loops_own = policy("majority", 3)
    Loop.objects.filter(pk=loop.pk).update(policy=loops_own)
    request = make()
    assert request.policy == loops_own
    assert len(request.eligible or ()) == 3
    with pytest.raises(services.Refused, match="policy is not allowed: the loop has one"):
        make(policy=policy("unanimous", 2))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM reviews_request")
        assert cursor.fetchone() == (1,)


PROPOSAL = {
    "response_type": "approval",
    "response_config": {
        "proposal": {"name": "refund", "arguments": {"amount": 5, "note": {"b": 1, "a": 2}}},
        "actions": ["approve", "edit", "reject"],
    },
    "default_response": {"action": "reject"},
}


@pytest.mark.django_db
class TestApprovals:
    def test_equal_arguments_agree_however_they_are_spelled(self, loop: Loop, make: Make) -> None:
        first, second = people(loop, 2)
        request = make(**PROPOSAL, policy=policy("unanimous", 2))
        answer(
            request, first, {"action": "edit", "arguments": {"amount": 7, "note": {"b": 1, "a": 2}}}
        )
        answer(
            request,
            second,
            {"action": "edit", "arguments": {"note": {"a": 2, "b": 1}, "amount": 7}},
        )
        stored = read(request)
        assert (stored.status, stored.outcome) == ("completed", "decided")
        assert stored.response_data["arguments"]["amount"] == 7

    def test_another_edit_is_a_dissent(self, loop: Loop, make: Make) -> None:
        first, second = people(loop, 2)
        request = make(**PROPOSAL, policy=policy("unanimous", 2))
        answer(request, first, {"action": "approve"})
        answer(
            request,
            second,
            {"action": "edit", "arguments": {"amount": 6, "note": {"b": 1, "a": 2}}},
        )
        assert read(request).outcome == "no_agreement"

    def test_two_different_edits_are_a_dissent(self, loop: Loop, make: Make) -> None:
        first, second = people(loop, 2)
        request = make(**PROPOSAL, policy=policy("unanimous", 2))
        for person, amount in ((first, 6), (second, 7)):
            arguments = {"amount": amount, "note": {"b": 1, "a": 2}}
            answer(request, person, {"action": "edit", "arguments": arguments})
        assert read(request).outcome == "no_agreement"

    def test_a_rejection_and_a_reply_are_a_dissent(self, loop: Loop, make: Make) -> None:
        first, second = people(loop, 2)
        config = {"proposal": {"name": "restart"}, "actions": ["reject", "respond"]}
        fields = {**PROPOSAL, "response_config": config}
        request = make(**fields, policy=policy("unanimous", 2))
        answer(request, first, {"action": "reject", "message": "Why?"})
        answer(request, second, {"action": "respond", "message": "Why?"})
        assert read(request).outcome == "no_agreement"

    def test_rejections_agree_for_different_reasons(self, loop: Loop, make: Make) -> None:
        first, second = people(loop, 2)
        request = make(**PROPOSAL, policy=policy("unanimous", 2))
        answer(request, first, {"action": "reject", "message": "Too much"})
        answer(request, second, {"action": "reject", "message": "Not ours"})
        stored = read(request)
        assert (stored.outcome, stored.response_data["message"]) == ("decided", "Not ours")

    def test_a_rejection_is_a_veto(self, loop: Loop, make: Make) -> None:
        first, *_ = people(loop, 3)
        request = make(**PROPOSAL, policy=policy("majority", 3, veto=["reject"]))
        answer(request, first, {"action": "reject"})
        stored = read(request)
        assert (stored.status, stored.outcome) == ("completed", "vetoed")
        assert stored.response_data["action"] == "reject"

    @pytest.mark.parametrize("veto", [["approve"], [None, "edit", "approve"]])
    def test_an_approval_is_no_veto(self, loop: Loop, make: Make, veto: list[Any]) -> None:
        """A loop's policy may name anything, since it holds for all types."""
        first, *_ = people(loop, 3)
        request = make(**PROPOSAL, policy=policy("majority", 3, veto=veto))
        answer(request, first, {"action": "approve"})
        assert read(request).status == "pending"
