"""The command `reviewloop`, as a shell sees it."""

import json
import os
import pty
import signal
from pathlib import Path

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request, cancel_request
from tests.clients.conftest import Shell, answer, asked, finish, let_time_run_out

pytestmark = pytest.mark.django_db(transaction=True)

ASK = ("ask", "Ship it?", "--options", "yes,no", "--timeout", "10m", "--default", "no")
NUMBER = ("ask", "How many?", "--type", "number", "--config", '{"max_value": 5}')


def test_a_person_answers(shell: Shell, loop: Loop, member: User) -> None:
    asking = shell.start(*ASK, "--loop", loop.name, "--priority", "high")
    request = answer("yes", member)
    assert finish(asking) == (0, "yes\n", f"Asked: request {request.pk}\n")
    assert (request.timeout_seconds, request.priority) == (600, "high")


def test_nobody_answers(shell: Shell, loop: Loop) -> None:
    asking = shell.start(*ASK)
    let_time_run_out(asked())
    assert finish(asking)[:2] == (3, "no\n")


def test_the_request_is_cancelled(shell: Shell, loop: Loop, owner: User) -> None:
    asking = shell.start(*ASK)
    request = asked()
    cancel_request(request_id=request.pk, account_id=owner.pk)
    code, printed, complaints = finish(asking)
    assert (code, printed) == (4, "")
    assert complaints.splitlines()[-1] == f"reviewloop: Request {request.pk} was cancelled"


def test_a_form(shell: Shell, loop: Loop, member: User, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"größe": {"type": "integer"}}}
    file = tmp_path / "form.json"
    file.write_text(json.dumps(schema), encoding="utf-8")
    asking = shell.start("ask", "Which?", "--form", str(file), "--default", '{"größe": 0}')
    request = answer({"größe": 5}, member)
    assert finish(asking)[:2] == (0, '{"größe": 5}\n')
    assert (request.response_type, request.response_config) == ("form", {"schema": schema})
    assert request.default_response == {"größe": 0}


def test_a_form_that_is_no_schema(shell: Shell, loop: Loop, tmp_path: Path) -> None:
    file = tmp_path / "form.json"
    for text, complaint in (
        ("[]", "not a JSON object"),
        ("{", "not JSON"),
        ('{"type": "object", "properties": {"a": {"$ref": "#"}}}', "schema.properties.a.type must"),
    ):
        file.write_text(text)
        asking = shell.start("ask", "Which?", "--form", str(file), "--default", "{}")
        code, _, complaints = finish(asking)
        assert code in (1, 2)
        assert complaint in complaints
    missing = shell.start("ask", "Which?", "--form", str(tmp_path / "none"), "--default", "{}")
    assert "No such file" in finish(missing)[2]
    file.write_text('{"type": "object", "properties": {}}')
    twice = shell.start(*ASK, "--form", str(file), "--config", '{"schema": {}}')
    assert "--config must not have schema: another option says it" in finish(twice)[2]
    both = shell.start(*ASK, "--form", str(file), "--type", "text")
    assert "not allowed with argument" in finish(both)[2]


def test_two_people_decide(shell: Shell, loop: Loop, owner: User, member: User) -> None:
    asking = shell.start(*ASK, "--policy", '{"rule": "unanimous", "answers": 2}')
    request = asked()
    for person in (owner, member):
        answer_request(
            request=Request.objects.get(pk=request.pk), reviewer_id=person.pk, answer="yes"
        )
    assert finish(asking)[:2] == (0, "yes\n")


def test_the_next_version_of_a_question(shell: Shell, loop: Loop, member: User) -> None:
    asking = shell.start(*ASK, "--json")
    older = asked()
    again = shell.start(*ASK, "--replaces", older.pk)
    code, printed, _ = finish(asking)
    newer = Request.objects.get(replaces=older)
    assert (code, json.loads(printed)) == (
        4,
        {"status": "cancelled", "request_id": older.pk, "superseded_by": newer.pk},
    )
    answer_request(request=newer, reviewer_id=member.pk, answer="yes")
    assert finish(again)[:2] == (0, "yes\n")


def test_json(shell: Shell, loop: Loop, member: User) -> None:
    words = ("--type", "multi_select", "--options", "red,green,blue", "--default", "red,blue")
    named = ("--metadata", "order=7", "--metadata", "a=b=c")
    asking = shell.start("ask", "Which?", *words, "--context", '{"order": 7}', *named, "--json")
    request = answer(["green", "blue"], member, comment="Größer ✓")
    code, printed, _ = finish(asking)
    assert (code, request.context, request.default_response) == (0, {"order": 7}, ["red", "blue"])
    assert request.metadata == {"order": "7", "a": "b=c"}
    assert printed.isascii()
    assert json.loads(printed) == {
        "status": "completed",
        "value": ["green", "blue"],
        "by_human": True,
        "comment": "Größer ✓",
        "request_id": request.pk,
    }


APPROVE = ("ask", "May I?", "--approve", "issue_refund", "--arguments", '{"id": 7, "größe": 1.5}')


def test_an_approval(shell: Shell, loop: Loop, member: User) -> None:
    actions = ("--actions", "approve,edit,reject", "--risk", "high")
    asking = shell.start(*APPROVE, *actions, "--config", '{"editable": ["id"]}')
    edited = {"action": "edit", "arguments": {"id": 8, "größe": 1.5}}
    request = answer(edited, member)
    assert request.response_config == {
        "proposal": {"name": "issue_refund", "arguments": {"id": 7, "größe": 1.5}, "risk": "high"},
        "actions": ["approve", "edit", "reject"],
        "editable": ["id"],
    }
    assert request.default_response == {"action": "reject"}
    assert finish(asking)[:2] == (0, '{"id": 8, "größe": 1.5}\n')


def test_a_rejection_has_an_exit_code_of_its_own(shell: Shell, loop: Loop, member: User) -> None:
    asking = shell.start(*APPROVE)
    answer({"action": "reject", "message": "Too much."}, member)
    code, printed, complaints = finish(asking)
    assert (code, printed) == (5, "")
    assert complaints.endswith("reviewloop: rejected: Too much.\n")


def test_an_approval_that_nobody_gives(shell: Shell, loop: Loop) -> None:
    asking = shell.start(*APPROVE, "--json")
    let_time_run_out(asked())
    code, printed, _ = finish(asking)
    assert (code, json.loads(printed)["value"]) == (3, {"action": "reject"})


def test_a_number(shell: Shell, loop: Loop, member: User) -> None:
    config = ("--type", "number", "--config", '{"max_value": 9, "decimal_places": 1}')
    asking = shell.start("ask", "How many?", *config, "--default", "0")
    assert answer(2.5, member).default_response == 0
    assert finish(asking)[:2] == (0, "2.5\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("ask", "Ship it?", "--options", "yes,no"), "are required: --default"),
        ((*ASK, "--timeout", "10 years"), "a time-out is 60 seconds to 24 hours"),
        ((*ASK, "--options", "yes,,no"), "an option is empty"),
        ((*ASK, "--config", "[]"), "not a JSON object"),
        ((*ASK, "--context", '{"n": 1e999}'), "not JSON"),
        ((*ASK, "--config", '{"a": {"n": 1, "n": 2}}'), "the name 'n' occurs twice"),
        ((*APPROVE, "--arguments", '{"a": [{"n": 1, "n": 1}]}'), "the name 'n' occurs twice"),
        (("redeem", "0", "--arguments", '{"n": 1, "n": 2}'), "the name 'n' occurs twice"),
        (("answer", "0", "edit", "--arguments", '{"n": 1, "n": 2}'), "the name 'n' occurs twice"),
        ((*ASK, "--metadata", "order"), "not KEY=VALUE"),
        ((*ASK, "--metadata", "=7"), "not KEY=VALUE"),
        ((*ASK, "--resume", ""), "the name is empty"),
        ((*ASK, "--risk", "high"), "--arguments, --actions and --risk need --approve"),
        ((*APPROVE, "--options", "a,b"), "--approve has no --options, --form and --type"),
        ((*APPROVE, "--default", "yes"), "--approve needs no --default"),
        (
            (*APPROVE, "--config", '{"proposal": {"name": "refund"}}'),
            "--config must not have proposal: another option says it",
        ),
        (
            (*APPROVE, "--actions", "approve", "--config", '{"actions": ["edit"]}'),
            "--config must not have actions: another option says it",
        ),
        ((*APPROVE, "--arguments", "[]"), "not a JSON object"),
        ((), "are required: command"),
    ],
)
def test_wrong_usage(shell: Shell, words: tuple[str, ...], sentence: str) -> None:
    code, printed, complaints = finish(shell.start(*words))
    assert (code, printed) == (2, "")
    assert sentence in complaints


@pytest.mark.parametrize(
    ("words", "environment", "sentence"),
    [
        ((*ASK, "--default", "perhaps"), {}, "Invalid default response: default_response must"),
        (ASK, {"REVIEW_LOOP_KEY": "rl_live_nonsense"}, "Invalid API key (HTTP 401)"),
        (ASK, {"REVIEW_LOOP_KEY": ""}, "REVIEW_LOOP_KEY is not set: it is an API key"),
        ((*NUMBER, "--default", "1e999"), {}, "Invalid default response"),
        ((*ASK, "--loop", "Nobody"), {}, "There is no loop 'Nobody'. Your loops: Refund desk."),
        ((*ASK, "--resume", "/dev/null/q.json"), {}, "/dev/null"),
    ],
)
def test_errors(
    shell: Shell, loop: Loop, words: tuple[str, ...], environment: dict[str, str], sentence: str
) -> None:
    code, printed, complaints = finish(shell.start(*words, **environment))
    assert (code, printed) == (1, "")
    assert complaints.splitlines()[-1].startswith("reviewloop: ")
    assert sentence in complaints
    assert "Traceback" not in complaints


def test_the_first_loop_is_made(shell: Shell, owner: User) -> None:
    asking = shell.start(*ASK)
    answer("yes", owner)
    code, printed, complaints = finish(asking)
    assert (code, printed) == (0, "yes\n")
    link = Loop.objects.get().join_url
    assert complaints.startswith(f"Made the loop 'Questions'. Reviewers join at {link}\n")


def test_loops(shell: Shell, loop: Loop) -> None:
    assert finish(shell.start("loops")) == (0, f"{loop.pk}     2 active  Refund desk\n", "")
    code, printed, _ = finish(shell.start("loops", "--json"))
    assert (code, json.loads(printed)[0]["id"]) == (0, loop.pk)


def test_control_c_leaves_the_request_open(shell: Shell, loop: Loop) -> None:
    asking = shell.start(*ASK)
    request = asked()
    asking.send_signal(signal.SIGINT)
    code, printed, complaints = finish(asking)
    assert (code, printed) == (130, "")
    assert "Traceback" not in complaints
    assert Request.objects.get(pk=request.pk).status == "pending"


ANSWER = "Größer ✓ 重要"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_where_no_terminal_is_the_answer_is_utf_8(
    shell: Shell, loop: Loop, member: User, encoding: str
) -> None:
    words = ("ask", "What?", "--default", "nothing")
    asking = shell.start(*words, PYTHONIOENCODING=encoding)
    answer(ANSWER, member)
    assert finish(asking)[:2] == (0, f"{ANSWER}\n")


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("cp1252", "Größer \\u2713 \\u91cd\\u8981"),
        ("ascii", "Gr\\xf6\\xdfer \\u2713 \\u91cd\\u8981"),
        ("utf-8", ANSWER),
    ],
)
def test_a_terminal_shows_the_answer_as_well_as_it_can(
    shell: Shell, loop: Loop, member: User, encoding: str, shown: str
) -> None:
    ours, terminal = pty.openpty()
    shell.stdout = terminal
    asking = shell.start("ask", "What?", "--default", "nothing", PYTHONIOENCODING=encoding)
    os.close(terminal)
    answer(ANSWER, member)
    assert finish(asking)[0] == 0
    assert os.read(ours, 1000).decode(encoding) == f"{shown}\r\n"
    os.close(ours)


def test_every_command_prints_any_text_in_any_encoding(shell: Shell, loop: Loop) -> None:
    Loop.objects.update(name=ANSWER)
    assert finish(shell.start("loops", PYTHONIOENCODING="ascii"))[1].endswith(f"{ANSWER}\n")
    printed = finish(shell.start("loops", "--json", PYTHONIOENCODING="ascii"))[1]
    assert printed.isascii()
    assert json.loads(printed)[0]["name"] == ANSWER
    wrong = shell.start(*ASK, "--loop", "誰", PYTHONIOENCODING="cp1252")
    assert "There is no loop '誰'. Your loops: " + ANSWER in finish(wrong)[2]
