"""Standing grants: what they cover, on which terms they are given, and what it costs."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import ApiKey, AuditEntry, User
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from reviews.grants import InvalidGrant, Terms
from reviews.models import Grant, Notification
from reviews.policy import Policy
from reviews.queries.decisions import Span, write_lines
from tests.conftest import Api
from tests.reviews.conftest import FIELDS, acting
from tests.reviews.grants import ARGUMENTS, Agent, allow, is_covered
from webhooks.endpoints import create_endpoint
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(owner: User, loop: Loop) -> Agent:
    return Agent(owner, loop)


class TestCovered:
    @pytest.mark.contract("grant.covered")
    def test_it_completes_at_once(
        self, agent: Agent, owner: User, member: User, mailoutbox: Any
    ) -> None:
        grant = allow(agent.ask(), member)
        Notification.objects.all().delete()
        request = agent.ask()
        assert agent.created["status"] == "completed"
        assert not Notification.objects.exists()
        shown = Api(agent.key).get(f"/v1/api/requests/{request.pk}").json()["data"]["request"]
        assert (shown["answered_by"], shown["grant_id"]) == ("grant", grant.pk)
        assert shown["response_by_user"]["name"] == "Member"
        assert shown["response_data"] == {
            "action": "approve", "edited": [], "arguments": ARGUMENTS,
        }  # fmt: skip
        grant.refresh_from_db()
        assert grant.uses == 1
        entry = AuditEntry.objects.get(action="grant.used")
        assert (entry.account, entry.actor) == (owner, member)
        assert entry.subject == f"refund ({request.pk})"

    @pytest.mark.contract("grant.covered")
    def test_it_is_redeemed_like_any_other(self, agent: Agent, member: User) -> None:
        allow(agent.ask(), member)
        request = agent.ask()
        path = f"/v1/api/requests/{request.pk}/redeem"
        for status in (200, 409):
            response = Api(agent.key).post(path, {"arguments": ARGUMENTS})
            assert response.status_code == status

    @pytest.mark.contract("grant.covered")
    def test_its_event(self, agent: Agent, member: User) -> None:
        allow(agent.ask(), member)
        request = agent.ask(callback_url="https://hook.example/")
        (delivery,) = Delivery.objects.filter(subject_id=request.pk)
        assert delivery.event == "request.completed"
        shown = json.loads(bytes(delivery.body))["data"]["request"]
        assert (shown["answered_by"], shown["grant_id"]) == ("grant", request.grant_id)

    def test_the_export_of_decisions_tells_it(
        self, agent: Agent, member: User, loop: Loop, owner: User
    ) -> None:
        allow(agent.ask(), member)
        agent.ask()
        lines = "".join(write_lines(Span(loop.pk, owner.pk))).splitlines()
        assert [json.loads(line)["answered_by"] for line in lines] == ["grant", "human"]

    @pytest.mark.contract("grant.equal")
    @pytest.mark.parametrize(
        "raw",
        [
            '{"lines": [{"b": 2, "a": 1}], "amount": 40, "order": "é-1042"}',
            '{"order": "\\u00e9-1042", "amount": 4e1, "lines": [{"a": 1.0, "b": 2}]}',
        ],
        ids=["order of names", "spelling"],
    )
    def test_equal_canonically(self, agent: Agent, member: User, raw: str) -> None:
        allow(agent.ask(), member)
        assert is_covered(agent.ask(raw=raw))

    @pytest.mark.contract("grant.equal")
    @pytest.mark.parametrize(
        "changes",
        [
            {"order": "e\u0301-1042"},
            {"amount": "40"},
            {"amount": 40.5},
            {"lines": [{"a": 1, "b": 2}, {}]},
            {"lines": [{"a": True, "b": 2}]},
            {"more": None},
        ],
        ids=["unicode form", "a string", "a number", "an item", "true", "one more"],
    )
    def test_not_equal(self, agent: Agent, member: User, changes: dict[str, Any]) -> None:
        allow(agent.ask(), member)
        assert not is_covered(agent.ask({**ARGUMENTS, **changes}))

    @pytest.mark.contract("grant.equal")
    def test_named_arguments(self, agent: Agent, member: User) -> None:
        allow(agent.ask(), member, Terms(hours=1, uses=5, names=["order"]))
        assert is_covered(agent.ask({"order": "é-1042"}))
        assert is_covered(agent.ask({**ARGUMENTS, "amount": 99, "more": 1}))
        assert not is_covered(agent.ask({**ARGUMENTS, "order": "B-1"}))
        assert not is_covered(agent.ask({"amount": 40}))

    @pytest.mark.contract("grant.bound")
    def test_bound_to_loop_key_and_name(
        self, agent: Agent, owner: User, member: User, loop: Loop
    ) -> None:
        allow(agent.ask(), member)
        other = create_loop(owner_id=owner.pk, name="Other", icon="star")
        join_loop(user=member, code=other.invite_code)
        assert not is_covered(Agent(owner, loop).ask())
        assert not is_covered(agent.ask(proposal={"name": "Refund"}))
        agent.loop = other
        assert not is_covered(agent.ask())
        agent.loop = loop
        assert is_covered(agent.ask())

    @pytest.mark.contract("grant.never")
    def test_what_it_never_covers(self, agent: Agent, member: User, owner: User) -> None:
        allow(agent.ask(), member, Terms(hours=8, uses=100))
        for changes in (
            {"proposal": {"risk": "high"}},
            {"priority": "critical"},
            {"policy": {"rule": "unanimous", "answers": 2}},
            {"config": {"actions": ["reject", "respond"]}},
            {"replaces": agent.ask().pk},
        ):
            assert not is_covered(agent.ask(**changes)), changes
        assert is_covered(agent.ask(proposal={"risk": "medium"}))
        assert is_covered(agent.ask(policy={"exclude_creator": True}))

    @pytest.mark.contract("grant.never")
    def test_not_where_the_policy_excludes_who_granted(self, agent: Agent, owner: User) -> None:
        allow(agent.ask(), owner)
        assert not is_covered(agent.ask(policy={"exclude_creator": True}))
        assert is_covered(agent.ask())

    @pytest.mark.contract("grant.never")
    def test_under_the_policy_of_the_loop(self, agent: Agent, member: User, loop: Loop) -> None:
        allow(agent.ask(), member)
        Loop.objects.filter(pk=loop.pk).update(policy=Policy("unanimous", 2).store())
        assert not is_covered(agent.ask())
        assert Grant.objects.get().uses == 0
        Loop.objects.filter(pk=loop.pk).update(policy=Policy(exclude_creator=True).store())
        request = agent.ask()
        assert is_covered(request)
        assert request.outcome == "decided"

    @pytest.mark.contract("grant.never")
    def test_where_an_approval_needs_a_comment(
        self, agent: Agent, member: User, loop: Loop
    ) -> None:
        allow(agent.ask(), member)
        Loop.objects.filter(pk=loop.pk).update(comment_required_for=["Approve"])
        assert not is_covered(agent.ask())


class TestTerms:
    @pytest.mark.contract("grant.terms")
    @pytest.mark.parametrize(
        ("terms", "said"),
        [
            (Terms(0, 1), "Choose 1 to 8 hours"),
            (Terms(9, 1), "Choose 1 to 8 hours"),
            (Terms(1, 0), "Choose 1 to 100 uses"),
            (Terms(1, 101), "Choose 1 to 100 uses"),
            (Terms(1, 1, []), "Choose one argument of the call or more"),
            (Terms(1, 1, ["none"]), "Choose one argument of the call or more"),
        ],
    )
    def test_wrong_terms(self, agent: Agent, member: User, terms: Terms, said: str) -> None:
        request = agent.ask()
        with pytest.raises(InvalidGrant, match=said):
            allow(request, member, terms)
        assert services.read_request(request.pk).status == "pending"

    @pytest.mark.contract("grant.never")
    def test_calls_that_are_approved_each_time(self, agent: Agent, member: User) -> None:
        for changes, said in (
            ({"proposal": {"risk": "high"}}, "approved each time"),
            ({"priority": "critical"}, "approved each time"),
            ({"policy": {"rule": "majority", "answers": 2}}, "several people"),
        ):
            with pytest.raises(InvalidGrant, match=said):
                allow(agent.ask(**changes), member)
        editable = agent.ask(config={"actions": ["approve", "edit", "reject"]})
        with pytest.raises(InvalidGrant, match="unchanged"):
            allow(editable, member, action="edit", arguments={**ARGUMENTS, "amount": 1})
        with pytest.raises(InvalidGrant, match="unchanged"):
            allow(editable, member, action="reject")
        assert not Grant.objects.exists()


class TestStatements:
    """To look for grants is one statement more for an approval, and none for other requests."""

    def count(self, agent: Agent, owner: User, loop: Loop, **changes: Any) -> int:
        proposal = {"name": "refund", "arguments": ARGUMENTS}
        fields = {
            **FIELDS,
            "response_type": "approval",
            "response_config": {"proposal": proposal},
            "default_response": {"action": "reject"},
            **changes,
        }
        key_id = ApiKey.objects.get(user=owner).pk
        with CaptureQueriesContext(connection) as queries:
            services.create_request(
                loop_id=loop.pk, account=acting(owner), fields=fields, api_key_id=key_id
            )
        return len(queries)

    def test_how_many(self, agent: Agent, owner: User, member: User, loop: Loop) -> None:
        own = ("response_type", "response_config", "default_response")
        yes_no = {name: FIELDS[name] for name in own}
        high = {"proposal": {"name": "refund", "arguments": ARGUMENTS, "risk": "high"}}
        allow(agent.ask({"another": "call"}), member)
        assert self.count(agent, owner, loop, **yes_no) == 1
        assert self.count(agent, owner, loop, response_config=high) == 1
        assert self.count(agent, owner, loop, priority="critical") == 1
        assert self.count(agent, owner, loop) == 2
        Loop.objects.update(policy=Policy(exclude_creator=True).store())
        with_policy = self.count(agent, owner, loop, **yes_no)
        assert self.count(agent, owner, loop) == with_policy + 1
        create_endpoint(
            account=owner, url="https://router.example/", events=["request.created"], loop_ids=None
        )
        with_events = self.count(agent, owner, loop, **yes_no)
        assert self.count(agent, owner, loop) == with_events + 1

    def test_with_many_grants_that_name_arguments(
        self, agent: Agent, owner: User, member: User, loop: Loop
    ) -> None:
        for number in range(20):
            allow(agent.ask({"number": number}), member, Terms(1, 1, ["number"]))
        assert self.count(agent, owner, loop) == 2
