"""Requests that several people answer: against a model, and in races."""

import random
import threading
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models.functions import Now

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from reviews.models import Answer, Request
from reviews.policy import Policy
from reviews.queries import single_read
from tests.conftest import account
from tests.reviews.conftest import Make, make_overdue
from webhooks.models import Delivery, LoggedEvent

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


@dataclass
class Model:
    """What must become of a request, in as few words as possible."""

    rule: str
    answers: int
    veto: list[Any]
    asked: set[str]
    gone: set[str] = field(default_factory=set)
    given: dict[str, Any] = field(default_factory=dict)  # the newest last
    status: str = "pending"
    outcome: str | None = None
    value: Any = None

    def end(self, status: str, outcome: str | None, value: Any) -> None:
        self.status, self.outcome, self.value = status, outcome, value

    def may_answer(self, person: str) -> bool:
        return self.status == "pending" and person in self.asked - self.gone

    def answer(self, person: str, value: Any) -> None:
        self.given.pop(person, None)
        self.given[person] = value
        self.judge()

    def leave(self, person: str) -> None:
        self.gone.add(person)
        if self.status == "pending" and person in self.asked and person not in self.given:
            self.judge()

    def judge(self) -> None:
        values = list(self.given.values())
        left = len(self.asked - self.gone - self.given.keys())
        most = min(len(values) + left, self.answers)  # that can ever be in
        default = ("timeout", "default")
        for value in values:
            if value in self.veto:
                return self.end("completed", "vetoed", value)
        if self.rule == "majority":
            best = max(values, key=values.count, default=None)
            votes = values.count(best) if values else 0
            if votes > self.answers / 2:
                return self.end("completed", "decided", best)
            if votes + self.answers - len(values) <= self.answers / 2:
                return self.end("timeout", "no_agreement", default)
            if votes + most - len(values) <= self.answers / 2:
                return self.end("timeout", "unreachable", default)
            return None
        if self.rule == "unanimous" and len(set(values)) > 1:
            return self.end("timeout", "no_agreement", default)
        if len(values) == self.answers:
            middle = sorted(values)[(len(values) - 1) // 2]
            return self.end("completed", "decided", middle)
        if most < self.answers:
            return self.end("timeout", "unreachable", default)
        return None


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(60))
def test_any_order_of_events_ends_as_the_model(
    owner: User, loop: Loop, make: Make, seed: int
) -> None:
    dice = random.Random(seed)
    members = people(loop, dice.randint(2, 6))
    rule = dice.choice(["majority", "unanimous", "median"])
    count = dice.randint(2, len(members))
    values: list[Any] = [1, 2, 3]
    veto = [3] if dice.random() < 0.3 else []
    blind = dice.random() < 0.7
    request = make(
        **RATING, callback_url="http://127.0.0.1:9/hook",
        policy=policy(rule, count, veto=veto, blind=blind),
    )  # fmt: skip
    model = Model(rule, count, veto, {person.pk for person in members})
    for _ in range(20):
        person, event = dice.choice(members), dice.random()
        if event < 0.8:
            value = dice.choice(values)
            try:
                answer(request, person, value)
            except (services.TransitionLost, services.NotAReviewer):
                same = model.given.get(person.pk) == value
                assert not model.may_answer(person.pk) or same
            else:
                if model.may_answer(person.pk):
                    model.answer(person.pk, value)
                else:  # the same answer again succeeds
                    assert model.given[person.pk] == value
        elif event < 0.94 and person.pk not in model.gone:
            services.remove_member(
                loop_id=loop.pk, account_id=owner.pk, member_id=person.pk, actor_id=person.pk
            )
            model.leave(person.pk)
        elif event > 0.98 and model.status == "pending":
            services.cancel_request(request_id=request.pk, account_id=owner.pk)
            model.end("cancelled", None, None)
        elif event > 0.96 and model.status == "pending":
            make_overdue(request)
            model.end("timeout", "default", ("timeout", "default"))
        check(request, model)


def check(request: Request, model: Model) -> None:
    stored = read(request)
    assert (stored.status, stored.outcome) == (model.status, model.outcome)
    assert stored.answers_received == len(model.given)
    assert dict(Answer.objects.values_list("person_id", "data")) == model.given
    ends = Delivery.objects.filter(occurrence=f"{request.pk}:end").count()
    assert ends == (model.status != "pending")
    if model.status == "completed":
        assert stored.response_data == model.value
        assert model.given[stored.response_by_id] == model.value
    elif model.status == "timeout":
        assert (stored.response_data, stored.response_by_id) == (1, None)
    is_hidden = model.status == "pending" and stored.policy["blind"]
    assert not (is_hidden and LoggedEvent.objects.exists())
    shown = single_read.read(request.pk, user_id=request.creator_id)
    assert ("answers" in shown) == (not is_hidden)
    assert shown["answers_received"] == len(model.given)


@pytest.mark.django_db(transaction=True)
def test_two_hundred_answers_to_a_request_of_five(owner: User, loop: Loop, make: Make) -> None:
    members = people(loop, 20)
    request = make(policy=policy("majority", 5), response_config=OPTIONS)
    gate, lost = threading.Barrier(20), []

    def press(person: User) -> None:
        gate.wait()
        for number in range(10):
            try:
                answer(request, person, ["yes", "no", "maybe"][number % 3])
            except services.TransitionLost:
                lost.append(person)
        connections.close_all()

    threads = [threading.Thread(target=press, args=[person]) for person in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = read(request)
    assert stored.status in ("completed", "timeout")
    assert Answer.objects.filter(request=request).count() == stored.answers_received <= 5
    assert lost
    assert LoggedEvent.objects.count() <= 1


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
        assert read(request).status == "pending"

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
