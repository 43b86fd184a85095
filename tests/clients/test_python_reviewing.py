"""`reviewloop inbox`, `show`, `answer` and `watch`, and the class Reviewer behind them."""

import json
import os
import pty
import signal
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reviewloop import Forbidden, InvalidCall, NotFound, Reviewer, StateConflict, Unauthorized
from reviewloop.invisible import clean

from accounts.models import User
from loops.models import Loop
from reviews.models import Answer, Grant, Request
from reviews.policy import Policy
from reviews.services import claim_request
from tests.accounts.tokens import token_of
from tests.clients.conftest import Shell, finish
from tests.clients.gate import Fault, Gate
from tests.reviews.approvals import ARGUMENTS, PROPOSAL, turn_into_approval
from tests.reviews.conftest import Make
from tests.reviews.conftest import make as make
from tests.reviews.grants import Agent
from tests.waiting import wait_until
from web.sanitize import show_invisible

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token(member: User, loop: Loop) -> str:
    return token_of(member)


@pytest.fixture
def terminal(shell: Shell, token: str) -> Shell:
    """The shell of the person, who has no API key."""
    return replace(shell, key="", variables={"REVIEW_LOOP_REVIEW_TOKEN": token})


class TestInbox:
    def test_plain_lines_in_a_pipe(self, terminal: Shell, owner: User, make: Make) -> None:
        first = make(priority="critical", request_text="Ship\n\x1b[2Jit?")
        held = make(priority="low", request_text="Refund?", timeout_seconds=86_000)
        claim_request(request=held, reviewer_id=owner.pk)
        code, printed, complaints = finish(terminal.start("inbox"))
        assert (code, complaints) == (0, "")
        assert printed.splitlines() == [
            f"{first.pk}  critical    9m  Refund desk  Ship ‹U+001B›[2Jit?",
            f"{held.pk}  low        23h  Refund desk  Refund?  (somebody else is on it)",
        ]
        rows = json.loads(finish(terminal.start("inbox", "--json"))[1])
        assert [row["id"] for row in rows] == [first.pk, held.pk]
        assert json.loads(finish(terminal.start("inbox", "--json", "--loop", "0" * 24))[1]) == []

    def test_colours_in_a_terminal(self, terminal: Shell, make: Make) -> None:
        make(priority="critical")
        reading, writing = pty.openpty()
        coloured = replace(terminal, stdout=writing)
        assert finish(coloured.start("inbox"))[0] == 0
        assert b"\x1b[31mcritical" in os.read(reading, 10_000)
        assert finish(coloured.start("inbox", NO_COLOR="1"))[0] == 0
        assert b"\x1b[" not in os.read(reading, 10_000)

    def test_nothing_waits(self, terminal: Shell) -> None:
        assert finish(terminal.start("inbox")) == (0, "", "No questions wait for you.\n")

    def test_without_a_token(self, shell: Shell) -> None:
        said = "reviewloop: REVIEW_LOOP_REVIEW_TOKEN is not set: it is a review token"
        code, _, complaints = finish(shell.start("inbox"))
        assert (code, complaints[: len(said)]) == (1, said)
        as_token = shell.start("inbox", REVIEW_LOOP_REVIEW_TOKEN=shell.key)
        assert "Invalid review token" in finish(as_token)[2]


class TestShow:
    def test_a_call(self, terminal: Shell, make: Make) -> None:
        request = make(context={"ticket": 7})
        turn_into_approval(request.pk, actions=["approve", "edit", "reject"])
        code, printed, _ = finish(terminal.start("show", request.pk))
        assert code == 0
        for line in (
            "Should we refund order 4821?",
            "Loop: Refund desk",
            '  "ticket": 7',
            "Call: refund",
            '  "order": "A-1042",',
            "Answer: approve, edit, reject",
            'If nobody answers: {"action": "reject"}',
        ):
            assert line in printed.splitlines()
        assert json.loads(finish(terminal.start("show", request.pk, "--json"))[1])["context"]

    def test_nothing_commands_the_terminal(self, terminal: Shell, make: Make) -> None:
        nasty = "\x1b]0;x\x07 \u202e\x9b2J pay\u3164\u200d\ufe0f\U000e0041\rno"
        request = make(request_text=nasty, context={nasty: nasty})
        for command in (("show", request.pk), ("inbox",)):
            printed = finish(terminal.start(*command))[1]
            assert all(letter.isprintable() or letter == "\n" for letter in printed)
            assert "‹U+001B›]0;x‹U+0007› ‹U+202E›‹U+009B›2J" in printed
        shown = finish(terminal.start("show", request.pk))[1]
        assert "pay‹U+3164›‹U+200D›‹U+FE0F›‹U+E0041›‹U+000D›no" in shown

    @given(st.text() | st.text(st.sampled_from("\u200d\ufe0fa👩❤1\u20e3क葛\U000e0100 \n")))
    def test_it_shows_what_the_pages_show(self, text: str) -> None:
        assume(not set("\t\r") & set(text))
        assert clean(text) == show_invisible(text)


def test_the_name_of_a_call_is_one_line(terminal: Shell, make: Make) -> None:
    request = make()
    name = "read_file\n{}\nRisk: low\nx"
    turn_into_approval(request.pk, proposal={**PROPOSAL, "name": name, "risk": "high"})
    _, printed, _ = finish(terminal.start("show", request.pk))
    lines = printed.splitlines()
    assert "Call: read_file‹U+000A›{}‹U+000A›Risk: low‹U+000A›x" in lines
    assert "Risk: low" not in lines


class TestAnswer:
    def test_a_choice(self, terminal: Shell, make: Make) -> None:
        request = make()
        answering = terminal.start("answer", request.pk, "yes", "--comment", "Fine")
        assert finish(answering) == (0, "Answered: yes\n", "")
        request.refresh_from_db()
        assert (request.response_data, request.response_comment) == ("yes", "Fine")
        late = finish(terminal.start("answer", request.pk, "no"))
        assert late[0] == 1
        assert "Request cannot be answered in current state" in late[2]

    def test_a_wrong_one(self, terminal: Shell, make: Make) -> None:
        code, _, complaints = finish(terminal.start("answer", make().pk, "perhaps"))
        assert code == 1
        assert complaints == ("reviewloop: Invalid answer: Choose one of the options (HTTP 400)\n")

    def test_an_approval_with_edits(self, terminal: Shell, make: Make) -> None:
        request = make()
        turn_into_approval(request.pk, actions=["approve", "edit", "reject"], editable=["amount"])
        changed = json.dumps({**ARGUMENTS, "amount": 35})
        answering = terminal.start("answer", request.pk, "edit", "--arguments", changed)
        assert finish(answering)[0] == 0
        request.refresh_from_db()
        assert request.response_data["edited"] == ["amount"]

    def test_an_edit_without_arguments(self, terminal: Shell, make: Make) -> None:
        """It is no approval of the call as it is."""
        request = make()
        turn_into_approval(request.pk, actions=["approve", "edit", "reject"], editable=["amount"])
        code, _, complaints = finish(terminal.start("answer", request.pk, "edit"))
        assert (code, "edit needs --arguments" in complaints) == (1, True)
        reading, writing = pty.openpty()
        answering = replace(terminal, stdin=writing).start("answer", request.pk)
        wait_until(lambda: Request.objects.get(pk=request.pk).status == "claimed")
        changed = json.dumps({**ARGUMENTS, "amount": 35})
        os.write(reading, f"edit\nnonsense\n{changed}\n".encode())
        _, printed, _ = finish(answering)
        assert "not JSON" in printed
        request.refresh_from_db()
        assert request.response_data["edited"] == ["amount"]

    @pytest.mark.parametrize("typed", ["NaN", "1e999"])
    def test_what_is_no_number(self, terminal: Shell, make: Make, typed: str) -> None:
        request = make(
            response_type="number", response_config={"max_value": 10}, default_response=0
        )
        reading, writing = pty.openpty()
        answering = replace(terminal, stdin=writing).start("answer", request.pk)
        wait_until(lambda: Request.objects.get(pk=request.pk).status == "claimed")
        os.write(reading, f"{typed}\n".encode())
        code, _, complaints = finish(answering)
        assert code == 1
        assert "(HTTP 400)" in complaints, complaints
        assert Request.objects.get(pk=request.pk).status == "pending"

    def test_an_approval_for_a_while(self, terminal: Shell, owner: User, loop: Loop) -> None:
        agent = Agent(owner, loop)
        words = ("approve", "--allow", "2", "--uses", "3", "--same", "order, amount")
        assert finish(terminal.start("answer", agent.ask().pk, *words))[0] == 0
        grant = Grant.objects.get()
        assert (grant.names, grant.max_uses) == (["amount", "order"], 3)
        assert agent.ask().grant_id == grant.pk

    def test_several_people(self, terminal: Shell, make: Make) -> None:
        request = make(policy={"rule": "unanimous", "answers": 2, "blind": True,
                               "exclude_creator": False, "veto": []})  # fmt: skip
        answering = terminal.start("answer", request.pk, "yes")
        assert finish(answering)[1] == "Your answer is stored. The question waits for others.\n"
        assert "You answered: yes" in finish(terminal.start("show", request.pk))[1]

    def test_in_a_pipe_nobody_is_asked(self, terminal: Shell, make: Make) -> None:
        code, _, complaints = finish(terminal.start("answer", make().pk))
        assert (code, "ANSWER is missing" in complaints) == (2, True)

    def test_a_person_is_asked(self, terminal: Shell, member: User, make: Make) -> None:
        request = make()
        reading, writing = pty.openpty()
        answering = replace(terminal, stdin=writing).start("answer", request.pk)
        wait_until(lambda: Request.objects.get(pk=request.pk).claimed_by_id == member.pk)
        os.write(reading, b"yes\n")
        assert "Answered: yes" in finish(answering)[1]

    def test_who_leaves_releases_it(self, terminal: Shell, member: User, make: Make) -> None:
        request = make()
        _, writing = pty.openpty()
        answering = replace(terminal, stdin=writing).start("answer", request.pk)
        wait_until(lambda: Request.objects.get(pk=request.pk).claimed_by_id == member.pk)
        answering.send_signal(signal.SIGINT)
        assert finish(answering)[0] == 130
        assert Request.objects.get(pk=request.pk).status == "pending"


def test_watch(terminal: Shell, make: Make) -> None:
    first = make()
    watching = terminal.start("watch", "--interval", "5", "--json")
    assert watching.stdout
    assert json.loads(watching.stdout.readline())["id"] == first.pk
    second = make()
    assert json.loads(watching.stdout.readline())["id"] == second.pk
    watching.send_signal(signal.SIGINT)
    assert finish(watching)[:2] == (0, "")


def test_watching_goes_on_after_a_failure(terminal: Shell, gate: Gate, make: Make) -> None:
    gate.faults = [Fault(429, {"Retry-After": "1"}) for _ in range(2)]
    first = make()
    watching = terminal.start("watch", "--interval", "5", "--json")
    assert watching.stdout
    assert json.loads(watching.stdout.readline())["id"] == first.pk
    watching.send_signal(signal.SIGINT)
    assert finish(watching)[0] == 0


def test_a_program(
    gate: Gate, token: str, owner: User, member: User, outsider: User, make: Make
) -> None:
    request, theirs = make(), make(policy=Policy(exclude_creator=True).store())
    with Reviewer(gate.url, token) as reviewer:
        assert [row["id"] for row in reviewer.inbox()] == [request.pk, theirs.pk]
        assert reviewer.claim(request.pk)["claimed_by"] == member.pk
        assert reviewer.release(request.pk)["may_answer"] is True
        with pytest.raises(InvalidCall):
            reviewer.answer(request.pk, "perhaps")
        assert reviewer.answer(request.pk, "yes")["status"] == "completed"
        with pytest.raises(StateConflict) as lost:
            reviewer.answer(request.pk, "no")
        assert lost.value.data["status"] == "completed"
        assert lost.value.repeats == 0
    with Reviewer(gate.url, token_of(owner)) as creator, pytest.raises(Forbidden):
        creator.answer(theirs.pk, "yes")
    with Reviewer(gate.url, token_of(outsider)) as stranger, pytest.raises(NotFound):
        stranger.read(theirs.pk)
    with Reviewer(gate.url, "rl_review_x") as nobody, pytest.raises(Unauthorized):
        nobody.read(theirs.pk)
    assert Answer.objects.count() == 1
