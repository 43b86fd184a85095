"""Requests that several people answer: any order of events against a model, and a crowd at once."""

import json
import random
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews import services
from reviews.models import Answer, Request
from reviews.queries import single_read
from reviews.representation import encode
from tests.conftest import account
from tests.portal import signed_in
from tests.reviews.conftest import Make, make_overdue
from tests.reviews.test_policies import RATING, answer, people, policy, read
from tests.reviews.test_policies import loop as loop
from webhooks.models import Delivery, LoggedEvent

DEFAULT = 1  # of RATING


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
        for value in values:
            if value in self.veto:
                return self.end("completed", "vetoed", value)
        if self.rule == "majority":
            best = max(values, key=values.count, default=None)
            votes = values.count(best) if values else 0
            if votes > self.answers / 2:
                return self.end("completed", "decided", best)
            if votes + self.answers - len(values) <= self.answers / 2:
                return self.end("timeout", "no_agreement", DEFAULT)
            if votes + most - len(values) <= self.answers / 2:
                return self.end("timeout", "unreachable", DEFAULT)
            return None
        if self.rule == "unanimous" and len(set(values)) > 1:
            return self.end("timeout", "no_agreement", DEFAULT)
        if len(values) == self.answers:
            middle = sorted(values)[(len(values) - 1) // 2]
            return self.end("completed", "decided", middle)
        if most < self.answers:
            return self.end("timeout", "unreachable", DEFAULT)
        return None


@pytest.mark.django_db
@pytest.mark.parametrize("rule", ["first", "majority", "unanimous", "median"])
@pytest.mark.parametrize("seed", range(15))
def test_any_order_of_events_ends_as_the_model(
    owner: User, loop: Loop, make: Make, rule: str, seed: int
) -> None:
    dice = random.Random(seed)
    members = people(loop, dice.randint(2, 6))
    count = 1 if rule == "first" else dice.randint(2, len(members))
    veto = [3] if dice.random() < 0.3 else []
    request = make(
        **RATING, callback_url="http://127.0.0.1:9/hook",
        policy=policy(rule, count, veto=veto, blind=dice.random() < 0.7),
    )  # fmt: skip
    model = Model(rule, count, veto, {person.pk for person in members})
    late = account("late")
    join_loop(user=late, code=loop.invite_code)
    everybody = [*members, late, owner]
    for number in range(20):
        if number in (2, 5):
            look_at_pages(request, everybody)
        happen(request, model, dice, everybody)
        check(request, model, [owner, dice.choice(everybody)])


def happen(request: Request, model: Model, dice: random.Random, everybody: list[User]) -> None:
    """Lets something happen to the request and the model."""
    person, event = dice.choice(everybody), dice.random()
    is_owner = person.pk == request.creator_id
    if event < 0.8:
        try_to_answer(request, model, person, dice.choice([1, 2, 3]))
    elif event < 0.94 and person.pk not in model.gone and not is_owner:
        services.remove_member(
            loop_id=request.loop_id, account_id=request.creator_id, member_id=person.pk
        )
        model.leave(person.pk)
    elif event > 0.98 and model.status == "pending":
        services.cancel_request(request_id=request.pk, account_id=request.creator_id)
        model.end("cancelled", None, None)
    elif event > 0.96 and model.status == "pending":
        make_overdue(request)
        model.end("timeout", "default", DEFAULT)


def try_to_answer(request: Request, model: Model, person: User, value: int) -> None:
    is_same = model.given.get(person.pk) == value
    try:
        answer(request, person, value, secret_of(person))
    except services.TransitionLost:
        assert model.status != "pending"
        assert not is_same
    except services.NotAReviewer:
        assert person.pk in model.gone
    except services.NotAsked:
        assert person.pk not in model.asked
    else:
        assert model.may_answer(person.pk) or is_same  # the same again succeeds
        if model.may_answer(person.pk):
            model.answer(person.pk, value)


def secret_of(person: User) -> str:
    return f"secret of {person.pk}"


def check(request: Request, model: Model, readers: list[User]) -> None:
    stored = read(request)
    assert (stored.status, stored.outcome) == (model.status, model.outcome)
    assert stored.answers_received == len(model.given)
    rows = Answer.objects.in_order().values_list("person_id", "data")
    assert list(rows) == list(model.given.items())
    is_open = model.status == "pending"
    ends = Delivery.objects.filter(occurrence=f"{request.pk}:end").count()
    assert ends == LoggedEvent.objects.count() == (not is_open)
    assert stored.response_data == model.value
    by = stored.response_by_id
    assert (by is not None) == (model.status == "completed")
    assert by is None or model.given[by] == model.value
    agreed = [value for value in model.given.values() if value == model.value]
    assert stored.answers_agreed == (len(agreed) if by else None)
    for reader in readers:
        if reader.pk not in model.gone:
            check_read(request, model, reader, is_hidden=is_open and stored.policy["blind"])


def check_read(request: Request, model: Model, reader: User, *, is_hidden: bool) -> None:
    """What the API tells the account and every member."""
    text = encode(single_read.read(request.pk, user_id=reader.pk)).decode()
    shown = json.loads(text)
    assert shown["answers_received"] == len(model.given)
    if is_hidden:
        assert "answers" not in shown
        assert "secret of" not in text
    else:
        given = {each["response_by"]: each["response_data"] for each in shown["answers"]}
        assert given == model.given


def look_at_pages(request: Request, everybody: list[User]) -> None:
    """While it is blind, a page shows nobody's answer but the reader's own."""
    stored = read(request)
    if stored.status != "pending" or not stored.policy["blind"]:
        return
    for reader in everybody:
        browser = signed_in(reader)
        own = secret_of(reader)
        for path in (f"/inbox/{request.pk}/", "/inbox/", "/my-work/"):
            assert "secret of" not in browser.get(path).content.decode().replace(own, "")
    browser = signed_in(everybody[-1])
    for path in ("", f"{request.pk}/", "export.csv", "export.json"):
        assert "secret of" not in load(browser, f"/dashboard/requests/{path}")


def load(browser: Client, path: str) -> str:
    response: Any = browser.get(path)
    parts = response.streaming_content if response.streaming else [response.content]
    return b"".join(parts).decode()


@pytest.mark.django_db(transaction=True)
def test_two_hundred_answers_at_once_to_a_request_of_five(loop: Loop, make: Make) -> None:
    """Each of twenty people sends ten different answers at the same moment."""
    members = people(loop, 20)
    config = {"response_type": "rating", "response_config": {"scale_max": 200}}
    request = make(**config, default_response=1, policy=policy("median", 5))
    start = threading.Barrier(200, timeout=60)
    lost: list[str] = []
    faults: list[BaseException] = []

    def press(person: User, value: int) -> None:
        try:
            start.wait()
            services.answer_request(request=request, reviewer_id=person.pk, answer=value)
        except services.TransitionLost:
            lost.append(person.pk)
        except BaseException as error:
            faults.append(error)
        finally:
            connections.close_all()

    threads = [
        threading.Thread(target=press, args=[person, number * 20 + place + 1])
        for place, person in enumerate(members)
        for number in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    stored = read(request)
    given = list(Answer.objects.values_list("person_id", "data"))
    assert len(given) == len(dict(given)) == stored.answers_received == 5
    assert (stored.status, stored.outcome) == ("completed", "decided")
    assert stored.response_data == sorted(value for _, value in given)[2]
    assert len(lost) >= 200 - 5 * 10
    assert LoggedEvent.objects.count() == 1
