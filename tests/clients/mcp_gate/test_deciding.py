"""Calls that people decide about."""

import json
from concurrent.futures import Future
from typing import Any

import pytest
from mcp_types import CallToolResult
from reviewloop import Client

from accounts.models import User
from loops.models import Loop
from reviews.models import Receipt, Request
from reviews.policy import Policy
from reviews.services import answer_request, cancel_request
from tests.clients.conftest import let_time_run_out
from tests.clients.gate import Gate
from tests.clients.mcp_gate.conftest import Stand, open_request, text_of
from tests.waiting import stretched, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
ARGUMENTS = {"order": "1042", "amount": 80.5}


def decide(by: User, action: str, number: int = 1, **more: Any) -> Request:
    """A person decides about the latest request."""
    request = open_request(number)
    answer_request(request=request, reviewer_id=by.pk, answer={"action": action, **more})
    return request


def result_of(calling: "Future[CallToolResult]") -> CallToolResult:
    return calling.result(stretched(30))


def told(calling: "Future[CallToolResult]") -> tuple[bool, str]:
    result = result_of(calling)
    return bool(result.is_error), text_of(result)


@MODES
def test_an_approved_call_runs_once(stand: Stand, loop: Loop, member: User, mode: str) -> None:
    with stand.host(stand.command(), mode) as host:
        calling = host.call("refund", **ARGUMENTS)
        request = open_request()
        assert stand.calls == []
        decide(member, "approve")
        assert told(calling) == (False, "Refunded 80.5 of 1042")
    assert stand.calls == [{"tool": "refund", **ARGUMENTS}]
    assert request.response_config == {
        "proposal": {"name": "refund", "arguments": ARGUMENTS, "risk": "high"},
        "actions": ["approve", "edit", "reject", "respond"],
    }
    assert request.request_text == "**May an agent call this tool of `shop`?**"
    assert request.context == {
        "server": "shop",
        "description": "Sends money back to a customer.",
    }
    assert (request.timeout_seconds, request.priority) == (600, "medium")
    assert Receipt.objects.get().redeemed_at is not None


@MODES
def test_an_edited_call_runs_as_the_person_wants_it(
    stand: Stand, loop: Loop, member: User, mode: str
) -> None:
    with stand.host(stand.command(), mode) as host:
        calling = host.call("refund", **ARGUMENTS)
        decide(member, "edit", arguments={"order": "1042", "amount": 25.5})
        assert told(calling) == (
            False,
            "A person changed the arguments of this call before it ran:\n"
            "- amount: 80.5 became 25.5\n"
            "It ran once, with the arguments of the person. The result follows. "
            "Do not call it again with your own arguments.\n"
            "Refunded 25.5 of 1042",
        )
    assert stand.calls == [{"tool": "refund", "order": "1042", "amount": 25.5}]


def test_an_edited_call_keeps_its_structure(stand: Stand, loop: Loop, member: User) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("weigh", parcel="a")
        decide(member, "edit", arguments={"parcel": "b"})
        result = result_of(calling)
    assert result.structured_content == {"grams": 12.5}
    assert '- parcel: "a" became "b"' in text_of(result)
    assert stand.calls == [{"tool": "weigh", "parcel": "b"}]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, "A person rejected this call, so it was not made."),
        ({"message": "Too much."}, "A person rejected this call, so it was not made: Too much."),
    ],
)
def test_a_rejected_call_does_not_run(
    stand: Stand, loop: Loop, member: User, more: dict[str, Any], sentence: str
) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        decide(member, "reject", **more)
        assert told(calling) == (True, sentence)
    assert stand.calls == []


def test_a_reply_is_what_the_agent_gets(stand: Stand, loop: Loop, member: User) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        decide(member, "respond", message="It was refunded yesterday.")
        assert told(calling) == (False, "It was refunded yesterday.")
        calling = host.call("weigh", parcel="a")  # a host wants its structure, or an error
        decide(member, "respond", number=2, message="We have no scale.")
        assert told(calling) == (
            True,
            "A person replied instead of running it: We have no scale.",
        )
    assert stand.calls == []


def test_silence_is_no_yes(stand: Stand, loop: Loop) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        let_time_run_out(open_request())
        assert told(calling) == (True, "Nobody decided in time, so the call was not made.")
    assert stand.calls == []


def test_people_who_do_not_agree_are_no_yes(
    stand: Stand, loop: Loop, owner: User, member: User
) -> None:
    Loop.objects.update(policy=Policy("unanimous", 2).store())
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        request = open_request()
        for person, action in ((owner, "approve"), (member, "reject")):
            answer_request(request=request, reviewer_id=person.pk, answer={"action": action})
        assert told(calling) == (True, "People did not agree, so the call was not made.")
        calling = host.call("refund", **ARGUMENTS)
        request = open_request(2)
        answer_request(request=request, reviewer_id=member.pk, answer={"action": "approve"})
        let_time_run_out(request)
        assert told(calling) == (True, "Too few people decided in time, so the call was not made.")
    assert stand.calls == []


def test_a_question_that_is_taken_back_is_no_yes(stand: Stand, loop: Loop, owner: User) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        cancel_request(request_id=open_request().pk, account_id=owner.pk)
        sentence = "The question was taken back, so the call was not made."
        assert told(calling) == (True, sentence)
    assert stand.calls == []


def test_an_approval_that_is_spent_elsewhere_is_no_yes(
    stand: Stand, loop: Loop, member: User, gate: Gate
) -> None:
    door, stand.url = gate, gate.url
    door.hold = ("POST", "/redeem", "before")
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        request = decide(member, "approve")
        assert door.held.wait(stretched(30))
        with Client(f"{door.site}/v1", stand.key) as elsewhere:
            elsewhere.requests.redeem(request.pk, ARGUMENTS)
        door.release()
        is_error, text = told(calling)
    assert is_error
    assert text.startswith("The call was not made: Receipt was already redeemed")
    assert stand.calls == []


def test_a_redemption_whose_response_was_lost_lets_one_call_through(
    stand: Stand, loop: Loop, member: User, gate: Gate
) -> None:
    door, stand.url = gate, gate.url
    door.hold = ("POST", "/redeem", "after")
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        decide(member, "approve")
        assert door.held.wait(stretched(30))
        assert Receipt.objects.get().redeemed_at is not None
        assert stand.calls == []
        door.release()
        assert told(calling) == (False, "Refunded 80.5 of 1042")
    assert stand.calls == [{"tool": "refund", **ARGUMENTS}]


def test_a_service_that_is_away_is_no_yes(stand: Stand, loop: Loop) -> None:
    stand.url = "http://127.0.0.1:9/v1"  # nobody listens there
    with stand.host(stand.command(*stand.rules("patience = 0"))) as host:
        is_error, sentence = told(host.call("refund", **ARGUMENTS))
    assert is_error
    assert sentence.startswith("The call was not made: http://127.0.0.1:9/v1: ")
    assert stand.calls == []


def test_a_wrong_key_is_no_yes(stand: Stand, loop: Loop) -> None:
    stand.key = "rl_live_nonsense"
    with stand.host(stand.command()) as host:
        expected = (True, "The call was not made: Invalid API key (HTTP 401)")
        assert told(host.call("refund", **ARGUMENTS)) == expected
    assert stand.calls == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"amount": 2**60}, "amount must be between -9007199254740991 and 9007199254740991"),
        ({"text": "\0"}, "NUL"),
        ({str(number): number for number in range(101)}, "100"),
    ],
)
def test_arguments_that_nobody_can_be_asked_about(
    stand: Stand, loop: Loop, arguments: dict[str, Any], sentence: str
) -> None:
    with stand.host(stand.command()) as host:
        is_error, text = told(host.call("refund", **arguments))
    assert is_error
    assert text.startswith("The call was not made: ")
    assert sentence in text
    assert stand.calls == []
    assert not Request.objects.exists()


def test_a_tool_that_changes_while_a_person_decides(stand: Stand, loop: Loop, member: User) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        open_request()
        result_of(host.call("change"))
        decide(member, "approve")
        assert told(calling) == (
            True,
            "The server changed this tool while a person decided, so the call was not made.",
        )
        assert not Receipt.objects.exists()
        calling = host.call("refund", order="1042", cents=80)
        decide(member, "approve", number=2)
        assert told(calling) == (False, "Refunded 80 cents of 1042")
    assert stand.calls == [{"tool": "refund", "order": "1042", "cents": 80}]


@pytest.mark.parametrize("rules", ["", 'actions = ["edit"]'])
def test_a_call_that_has_nothing_to_edit(
    stand: Stand, loop: Loop, member: User, rules: str
) -> None:
    with stand.host(stand.command(*stand.rules(rules))) as host:
        calling = host.call("break_cup")
        request = decide(member, "approve")
        assert told(calling) == (True, "Error executing tool break_cup: The cup is broken")
    assert "edit" not in request.response_config["actions"]
    assert stand.calls == [{"tool": "break_cup"}]


def test_a_tool_that_is_not_listed(stand: Stand, loop: Loop) -> None:
    with stand.host(stand.command()) as host:
        assert told(host.call("nothing")) == (
            True,
            "The call was not made: the server lists no tool 'nothing'",
        )
    assert not Request.objects.exists()


def test_rules_of_a_file(stand: Stand, loop: Loop, member: User) -> None:
    rules = """
        ask = ["read_*", "refund"]
        pass = ["refund", "weigh"]
        refuse = ["break_*"]
        timeout = "1h"
        priority = "high"
        actions = ["approve", "reject"]
    """
    with stand.host(stand.command(*stand.rules(rules))) as host:
        assert not told(host.call("weigh", parcel="a"))[0]
        assert told(host.call("break_cup")) == (
            True,
            "The rules of this gate refuse break_cup, so the call was not made.",
        )
        assert not Request.objects.exists()
        calls: list[tuple[str, dict[str, Any]]] = [
            ("read_order", {"order": "7"}),
            ("refund", ARGUMENTS),
        ]
        for number, (tool, arguments) in enumerate(calls, start=1):
            calling = host.call(tool, **arguments)
            request = decide(member, "reject", number=number)
            assert (request.timeout_seconds, request.priority) == (3600, "high")
            assert request.response_config["actions"] == ["approve", "reject"]
            assert told(calling)[0]
    assert stand.calls == [{"tool": "weigh", "parcel": "a"}]


@MODES
def test_a_server_that_asks_back(stand: Stand, loop: Loop, member: User, mode: str) -> None:
    """One approval is enough for the rounds of one call, in which the edit holds."""
    with stand.host(stand.command(), mode) as host:
        calling = host.call("close", order="1042")
        decide(member, "edit", arguments={"order": "1043"})
        is_error, text = told(calling)
    assert not is_error
    assert text.endswith("Closed 1043: accept")
    assert '- order: "1042" became "1043"' in text
    assert stand.calls == [{"tool": "close", "order": "1043", "action": "accept"}]
    assert Request.objects.count() == 1


def test_the_host_hears_that_the_call_goes_on(stand: Stand, loop: Loop, member: User) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        wait_until(lambda: len(host.progress) >= 2, 30)
        decide(member, "approve")
        result_of(calling)
    numbers = [number for number, _ in host.progress]
    assert numbers == sorted(set(numbers))
    assert {message for _, message in host.progress} == {"Waiting for a person to decide"}


def test_a_hundred_calls_at_once(stand: Stand, loop: Loop, member: User) -> None:
    """The person approves every second one. Each approval lets one call through."""
    with stand.host(stand.command()) as host:
        calling = {
            number: host.call("refund", order=str(number), amount=number) for number in range(100)
        }
        asked: set[str] = set()

        def answer_all() -> bool:
            for request in Request.objects.filter(status="pending"):
                number = request.response_config["proposal"]["arguments"]["amount"]
                action = "reject" if number % 2 else "approve"
                answer_request(request=request, reviewer_id=member.pk, answer={"action": action})
                asked.add(request.pk)
            return len(asked) == 100

        wait_until(answer_all, 120)
        for number, call in calling.items():
            is_error, text = told(call)
            assert is_error == bool(number % 2)
            assert is_error or text == f"Refunded {number}.0 of {number}"
    assert sorted(each["amount"] for each in stand.calls) == list(range(0, 100, 2))
    assert Receipt.objects.filter(redeemed_at__isnull=False).count() == 50
    assert Request.objects.count() == 100


def test_nothing_of_the_environment_is_sent(stand: Stand, loop: Loop, member: User) -> None:
    with stand.host(stand.command(), WAREHOUSE="a secret of ours") as host:
        calling = host.call("refund", **ARGUMENTS)
        request = decide(member, "reject")
        told(calling)
    sent = [request.request_text, request.response_config, request.context, request.metadata]
    written = json.dumps([*sent, request.platform_version])
    for name, value in stand.variables(WAREHOUSE="a secret of ours").items():
        assert name not in written
        assert value not in written


def test_a_call_that_the_host_repeats(stand: Stand, loop: Loop, member: User) -> None:
    """An approval is spent with its call: the same call again is another question."""
    with stand.host(stand.command()) as host:
        for number in (1, 2):
            calling = host.call("refund", **ARGUMENTS)
            decide(member, "approve", number=number)
            assert told(calling) == (False, "Refunded 80.5 of 1042")
    assert len(stand.calls) == 2
    assert Receipt.objects.count() == 2
