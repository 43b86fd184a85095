"""/v1/review/requests: a person reviews with a token, by the rules of the portal."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from pytest_django import Settings

from accounts.models import ReviewToken, User
from accounts.operator_services import switch_account
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews.models import Request, Viewer
from reviews.policy import Policy
from reviews.services import delete_loop, remove_member
from tests.accounts.tokens import revoke, row_of, token_of
from tests.api import moments
from tests.api.test_query_counts import statements
from tests.api.wire import NOWHERE, Api, Ask, body_of, granted, json_of, refused, refused_at
from tests.conftest import Api as Nobody
from tests.conftest import account
from tests.reviews.approvals import ARGUMENTS, turn_into_approval
from tests.reviews.grants import ARGUMENTS as ARGUMENTS_OF_AGENT
from tests.reviews.grants import Agent

pytestmark = pytest.mark.django_db
LIST = "/v1/review/requests"
FORM: dict[str, Any] = {
    "response_type": "form",
    "response_config": {
        "schema": {
            "type": "object",
            "properties": {"amount": {"type": "number"}},
            "required": ["amount"],
        }
    },
    "default_response": {"amount": 0},
}


@pytest.fixture
def token(member: User, loop: Loop) -> str:
    return token_of(member)


def path(request_id: str, what: str = "") -> str:
    return f"{LIST}/{request_id}{what}"


def listed(api: Api, token: str, query: str = "") -> list[str]:
    data = granted(api(token).get(LIST + query), "Review requests retrieved successfully")
    return [row["id"] for row in data["requests"]]


def read(api: Api, token: str, request_id: str) -> dict[str, Any]:
    data = granted(api(token).get(path(request_id)), "Review request retrieved successfully")
    shown: dict[str, Any] = data["request"]
    return shown


def send(api: Api, token: str, request_id: str, answer: Any, **more: Any) -> Any:
    return api(token).post(path(request_id, "/answer"), {"answer": answer, **more})


def answer(api: Api, token: str, request_id: str, value: Any, **more: Any) -> dict[str, Any]:
    sent = send(api, token, request_id, value, **more)
    shown: dict[str, Any] = granted(sent, "Request answered successfully")["request"]
    return shown


class TestTokens:
    @pytest.mark.contract("review.token")
    def test_a_token_is_no_key_and_a_key_no_token(
        self, api: Api, token: str, member_key: str, loop: Loop, ask: Ask
    ) -> None:
        asked = ask()
        for call in ("/v1/test", "/v1/api/requests", f"/v1/api/requests/{asked}"):
            refused(api(token).get(call), 401, "Invalid API key")
        created = api(token).post(f"/v1/api/loops/{loop.pk}/requests", {})
        refused(created, 401, "Invalid API key")
        refused(api(member_key).get(LIST), 401, "Invalid review token")
        refused(api(member_key).post(path(asked, "/claim")), 401, "Invalid review token")
        assert api(token).post("/mcp", {}).status_code == 401

    @pytest.mark.contract("review.token")
    def test_what_a_wrong_token_gets(self, api: Api, token: str, member: User) -> None:
        changed = token[:-1] + ("a" if token[-1] != "a" else "b")
        for wrong in ("nonsense", changed, "rl_review_"):
            refused(api(wrong).get(LIST), 401, "Invalid review token")
        refused(api("").get(LIST), 401, "Empty API key")
        refused(Nobody(None).get(LIST), 401, "Missing Authorization header")
        late = token_of(member, days=0)
        refused(api(late).get(LIST), 401, "Review token has expired or was revoked")
        revoke(token)
        refused(api(token).get(LIST), 401, "Review token has expired or was revoked")

    @pytest.mark.contract("review.token")
    def test_only_its_digest_is_stored_and_its_last_use(self, api: Api, token: str) -> None:
        assert row_of(token).last_used_at is None
        api(token).get(LIST)
        row = row_of(token)
        assert row.last_used_at is not None
        assert token not in str(ReviewToken.objects.filter(pk=row.pk).values().get())

    @pytest.mark.contract("review.token")
    def test_it_ends_with_the_last_membership(
        self, api: Api, token: str, owner: User, member: User, loop: Loop, ask: Ask
    ) -> None:
        asked = ask()
        other = create_loop(owner_id=owner.pk, name="Second", icon="bell")
        join_loop(user=member, code=other.invite_code)
        remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=member.pk)
        assert listed(api, token) == []
        refused(send(api, token, asked, "yes"), 404, "Request not found")
        remove_member(loop_id=other.pk, account_id=owner.pk, member_id=member.pk)
        refused(api(token).get(LIST), 401, "Review token has expired or was revoked")
        join_loop(user=member, code=Loop.objects.get(pk=loop.pk).invite_code)
        refused(api(token).get(LIST), 401, "Review token has expired or was revoked")

    def test_an_account_that_is_switched_off(
        self, api: Api, token: str, member: User, operator: User
    ) -> None:
        switch_account(account=member, is_active=False, actor=operator)
        refused(api(token).get(LIST), 403, "Access denied to this resource")

    @pytest.mark.contract("review.quota")
    def test_its_own_limit(
        self, api: Api, token: str, settings: Settings, steady_hour: None
    ) -> None:
        settings.REVIEW_HOURLY_LIMIT = 2
        first = api(token).get(LIST)
        assert (first["X-RateLimit-Limit"], first["X-RateLimit-Remaining"]) == ("2", "1")
        assert api(token).get(LIST)["X-RateLimit-Remaining"] == "0"
        over = api(token).get(LIST)
        assert over.status_code == 429
        assert body_of(over)["data"]["usage_limit"] == 2
        ReviewToken.objects.update(hour=F("hour") - timedelta(hours=1))
        assert api(token).get(LIST)["X-RateLimit-Remaining"] == "1"
        assert row_of(token).calls == 1


class TestReading:
    @pytest.mark.contract("review.list")
    def test_the_inbox(
        self, api: Api, token: str, owner: User, member: User, loop: Loop, ask: Ask
    ) -> None:
        low, high, done, held = (
            ask(priority="low"),
            ask(priority="critical"),
            ask(),
            ask(priority="high"),
        )
        moments.answer(done, owner)
        moments.claim(held, owner)
        data = granted(api(token).get(LIST), "Review requests retrieved successfully")
        assert [row["id"] for row in data["requests"]] == [high, held, low]
        assert [row["may_answer"] for row in data["requests"]] == [True, False, True]
        assert (data["count"], data["total"], data["has_more"]) == (3, 3, False)
        assert data["requests"][1]["claimed_by"] == owner.pk
        assert data["requests"][0]["loop_name"] == "Refund desk"
        assert listed(api, token, "?limit=1&offset=1") == [held]
        assert listed(api, token, f"?loop_id={loop.pk.upper()}") == [high, held, low]
        assert listed(api, token, f"?loop_id={NOWHERE}") == []
        refused(api(token).get(f"{LIST}?loop_id=x"), 400, "Invalid loop ID format")
        refused_at(api(token).get(f"{LIST}?limit=0"), "Validation failed", "limit")

    @pytest.mark.contract("review.list", "review.policy")
    def test_hidden_questions_are_not_listed(
        self, api: Api, token: str, owner: User, ask: Ask
    ) -> None:
        asked = ask(policy={"exclude_creator": True})
        assert listed(api, token) == [asked]
        assert listed(api, token_of(owner)) == []
        several = ask(policy=Policy("majority", 2).store())
        assert listed(api, token) == [asked, several]
        answer(api, token, several, "yes")
        assert listed(api, token) == [asked]

    @pytest.mark.contract("review.read")
    def test_a_request(self, api: Api, token: str, member: User, ask: Ask) -> None:
        asked = ask(
            context={"order": 7}, metadata={"secret": "x"}, callback_url="https://u:p@hook.example/"
        )
        shown = read(api, token, asked.upper())
        assert shown["id"] == asked
        assert (shown["context"], shown["status"]) == ({"order": 7}, "pending")
        assert (shown["may_answer"], shown["your_answer"]) == (True, None)
        assert not {"metadata", "callback_url", "platform", "api_key_id"} & shown.keys()
        assert Viewer.objects.get(request_id=asked).person_id == member.pk

    @pytest.mark.contract("review.read")
    def test_others_learn_nothing(self, api: Api, outsider: User, loop: Loop, ask: Ask) -> None:
        asked, stranger = ask(), token_of(outsider)
        for what, method in (("", "get"), ("/claim", "post"), ("/release", "post")):
            for request_id in (asked, NOWHERE):
                gone = getattr(api(stranger), method)(path(request_id, what))
                refused(gone, 404, "Request not found")
        refused(send(api, stranger, asked, "yes"), 404, "Request not found")
        refused(api(stranger).get(path("x")), 400, "Invalid request ID format")
        assert listed(api, stranger) == []

    @pytest.mark.contract("review.policy")
    def test_blind_answers_stay_hidden_until_the_end(
        self, api: Api, token: str, owner: User, member: User, loop: Loop, ask: Ask
    ) -> None:
        third = account("third")
        join_loop(user=third, code=loop.invite_code)
        blind = ask(policy=Policy("majority", 3, blind=True).store())
        seen = ask(policy=Policy("majority", 3, blind=False).store())
        for asked in (blind, seen):
            moments.answer(asked, owner, "yes")
        shown = read(api, token, blind)
        assert "answers" not in shown
        assert shown["answers_received"] == 1
        assert [each["response_by"] for each in read(api, token, seen)["answers"]] == [owner.pk]
        own = answer(api, token, blind, "no")
        assert (own["status"], own["your_answer"]["response_data"]) == ("pending", "no")
        assert "answers" not in own
        ended = answer(api, token_of(third), blind, "no")
        assert (ended["status"], ended["outcome"]) == ("completed", "decided")
        assert len(ended["answers"]) == 3


class TestAnswering:
    @pytest.mark.contract("review.claim")
    def test_claim_and_release(
        self, api: Api, token: str, owner: User, member: User, loop: Loop, ask: Ask
    ) -> None:
        asked = ask()
        data = granted(api(token).post(path(asked, "/claim")), "Request claimed successfully")
        assert (data["request"]["status"], data["request"]["claimed_by"]) == ("claimed", member.pk)
        first = data["request"]["claim_expires_at"]
        again = granted(api(token).post(path(asked, "/claim")), "Request claimed successfully")
        assert again["request"]["claim_expires_at"] > first
        theirs = token_of(owner)
        held = {"status": "claimed", "claimed_by": member.pk}
        refused(
            api(theirs).post(path(asked, "/claim")),
            *(409, "Request cannot be claimed in current state", held),
        )
        refused(
            api(theirs).post(path(asked, "/release")),
            *(409, "Request cannot be released in current state", held),
        )
        refused(
            send(api, theirs, asked, "yes"),
            *(409, "Request cannot be answered in current state", held),
        )
        data = granted(api(token).post(path(asked, "/release")), "Request released successfully")
        assert (data["request"]["status"], data["request"]["may_answer"]) == ("pending", True)

    @pytest.mark.contract("review.answer")
    def test_an_answer(self, api: Api, token: str, plenty: str, member: User, ask: Ask) -> None:
        asked = ask()
        shown = answer(api, token, asked, "later", comment="Not today")
        assert (shown["status"], shown["response_data"]) == ("completed", "later")
        assert (shown["response_comment"], shown["response_by"]) == ("Not today", member.pk)
        assert shown["your_answer"]["response_data"] == "later"
        single = json_of(api(plenty).get(f"/v1/api/requests/{asked}"))["data"]["request"]
        assert (single["response_data"], single["response_by"]) == ("later", member.pk)
        assert answer(api, token, asked, "later", comment="Not today")["status"] == "completed"
        over = {"status": "completed", "claimed_by": None}
        refused(
            send(api, token, asked, "yes"),
            *(409, "Request cannot be answered in current state", over),
        )

    @pytest.mark.contract("review.answer")
    def test_invalid_answers(self, api: Api, token: str, loop: Loop, ask: Ask) -> None:
        asked = ask()
        refused(
            send(api, token, asked, "perhaps"),
            *(400, "Invalid answer", "Choose one of the options"),
        )
        refused(send(api, token, asked, None), 400, "Invalid answer", "Choose one of the options")
        refused(
            api(token).post(path(asked, "/answer"), {}),
            *(400, "Validation failed", "answer is required"),
        )
        assert api(token).post(path(asked, "/answer"), b"{").status_code == 400
        long = send(api, token, asked, "yes", comment="x" * 2001)
        refused(long, 400, "Validation failed", "comment must be at most 2000 characters")
        Loop.objects.filter(pk=loop.pk).update(comment_required_for=["yes"])
        bare = send(api, token, asked, "yes")
        refused(bare, 400, "Invalid answer", "Add a comment. It’s required for “yes”")
        assert Request.objects.get(pk=asked).status == "pending"

    @pytest.mark.contract("review.answer")
    def test_a_form(self, api: Api, token: str, ask: Ask) -> None:
        asked = ask(**FORM)
        data = body_of(send(api, token, asked, {"amount": "many"}))
        assert data["msg"] == "Invalid answer"
        assert "amount" in data["data"]
        assert answer(api, token, asked, {"amount": 5})["response_data"] == {"amount": 5}

    @pytest.mark.contract("review.answer")
    def test_an_approval_with_edits(self, api: Api, token: str, ask: Ask) -> None:
        asked, fixed = ask(), ask()
        turn_into_approval(asked, actions=["approve", "edit", "reject"], editable=["amount"])
        turn_into_approval(fixed, actions=["approve", "reject"])
        changed = {**ARGUMENTS, "amount": 35}
        sneaked = {**changed, "order": "B-1"}
        for arguments in (sneaked, {**ARGUMENTS, "more": 1}):
            refusal = send(api, token, asked, {"action": "edit", "arguments": arguments})
            assert body_of(refusal)["msg"] == "Invalid answer"
        without = send(api, token, asked, {"action": "edit"})
        rule = "Give all arguments of the proposal, and no others"
        refused(without, 400, "Invalid answer", rule)
        refusal = send(api, token, fixed, {"action": "edit", "arguments": changed})
        refused(refusal, 400, "Invalid answer", "Choose what to do")
        shown = answer(api, token, asked, {"action": "edit", "arguments": changed})
        assert shown["response_data"] == {
            "action": "edit", "edited": ["amount"], "arguments": changed,
        }  # fmt: skip
        assert answer(api, token, fixed, {"action": "approve"})["response_data"] == {
            "action": "approve", "edited": [], "arguments": ARGUMENTS,
        }  # fmt: skip

    @pytest.mark.contract("grant.terms", "grant.covered")
    def test_an_approval_that_holds_for_a_while(
        self, api: Api, owner: User, token: str, loop: Loop
    ) -> None:
        agent = Agent(owner, loop)
        high = agent.ask(proposal={"risk": "high"}).pk
        decision, terms = {"action": "approve"}, {"hours": 2, "uses": 1, "arguments": ["order"]}
        refused(
            send(api, token, high, decision, grant=terms),
            *(400, "Invalid grant"),
            "A call of high risk, or a critical one, is approved each time",
        )
        asked = agent.ask().pk
        for grant, said in (
            ("long", "grant must be an object"),
            ({"hours": 9, "uses": 1}, "hours must be an integer between 1 and 8"),
            ({"hours": 8}, "uses is required"),
        ):
            refused(send(api, token, asked, decision, grant=grant), 400, "Validation failed", said)
        assert answer(api, token, asked, decision, grant=terms)["status"] == "completed"
        covered = agent.ask({**ARGUMENTS_OF_AGENT, "amount": 1})
        shown = read(api, token, covered.pk)
        assert (shown["answered_by"], shown["grant_id"]) == ("grant", covered.grant_id)
        assert agent.ask().status == "pending"

    @pytest.mark.contract("review.policy")
    def test_the_policy_excludes_the_person(
        self, api: Api, token: str, owner: User, ask: Ask
    ) -> None:
        asked, theirs = ask(policy={"exclude_creator": True}), token_of(owner)
        sentence = "The policy does not let you answer this request"
        refused(send(api, theirs, asked, "yes"), 403, sentence)
        refused(api(theirs).post(path(asked, "/claim")), 403, sentence)
        assert read(api, theirs, asked)["may_answer"] is False
        assert answer(api, token, asked, "yes")["status"] == "completed"

    @pytest.mark.contract("review.policy")
    def test_another_answer_replaces_ones_own(
        self, api: Api, token: str, owner: User, loop: Loop, ask: Ask
    ) -> None:
        asked = ask(policy=Policy("unanimous", 2).store())
        answer(api, token, asked, "no")
        assert answer(api, token, asked, "yes")["your_answer"]["response_data"] == "yes"
        claimed = granted(api(token).post(path(asked, "/claim")), "Request claimed successfully")
        assert claimed["request"]["status"] == "pending"  # nobody claims what several answer
        assert answer(api, token_of(owner), asked, "yes")["outcome"] == "decided"

    @pytest.mark.contract("review.state")
    def test_late(self, api: Api, token: str, owner: User, loop: Loop, ask: Ask) -> None:
        asked = ask()
        moments.let_pass(asked, hours=2)
        refused(
            send(api, token, asked, "yes"),
            *(409, "Request cannot be answered in current state"),
            {"status": "timeout", "claimed_by": None},
        )
        gone = ask()
        delete_loop(loop_id=loop.pk, account_id=owner.pk)
        refused(send(api, token, gone, "yes"), 404, "Request not found")

    def test_with_an_idempotency_key(self, api: Api, token: str, ask: Ask) -> None:
        asked = ask()
        body, key = {"answer": "yes"}, {"Idempotency-Key": "one"}
        first = api(token).post(path(asked, "/answer"), body, **key)
        again = api(token).post(path(asked, "/answer"), body, **key)
        assert (first.status_code, again["Idempotent-Replayed"]) == (200, "true")
        assert again.content == first.content
        assert row_of(token).calls == 1
        revoke(token)
        refused(
            api(token).post(path(asked, "/answer"), body, **key),
            *(401, "Review token has expired or was revoked"),
        )

    def test_a_repeated_call_after_the_person_left_the_loop(
        self, api: Api, token: str, owner: User, member: User, loop: Loop, ask: Ask
    ) -> None:
        other = create_loop(owner_id=owner.pk, name="Second", icon="bell")
        join_loop(user=member, code=other.invite_code)
        asked = ask()
        claimed, answered = path(asked, "/claim"), path(asked, "/answer")
        key, body = {"Idempotency-Key": "one"}, {"answer": "yes"}
        assert api(token).post(claimed, {}, **{"Idempotency-Key": "two"}).status_code == 200
        assert api(token).post(answered, body, **key).status_code == 200
        remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=member.pk)
        refused(api(token).post(answered, body, **key), 404, "Request not found")
        again = api(token).post(claimed, {}, **{"Idempotency-Key": "two"})
        refused(again, 404, "Request not found")


def test_how_many_statements(api: Api, token: str, member: User, loop: Loop, ask: Ask) -> None:
    counts = []
    for rows in (1, 30):
        asked = [ask() for _ in range(rows)]
        counts.append(statements(lambda: api(token).get(LIST)))
    assert counts == [3, 3]  # the token, the number, the rows
    one = asked[0]
    assert statements(lambda: api(token).get(path(one))) == 4  # the token, row, viewer, answers
    claims = [statements(lambda: api(token).post(path(one, "/claim"))) for _ in range(2)]
    assert claims == [12, 8]
    assert statements(lambda: api(token).post(path(one, "/release"))) == 7
    body = {"answer": "yes"}
    assert statements(lambda: api(token).post(path(one, "/answer"), body)) == 11
