"""A program that asks with `resume` is killed, and starts again: it asks once."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import reviewloop
from reviewloop import Client

from accounts.models import StoredResponse, User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request
from tests.clients.conftest import Shell, answer, finish
from tests.clients.gate import Fault, Gate
from tests.waiting import stretched, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = ("ask", "Ship it?", "--options", "yes,no", "--default", "no", "--resume", "deploy-4711")
MOMENTS = {
    "before it has written its file": ("GET", "/api/loops", "before"),
    "before the create arrives": ("POST", "/requests", "before"),
    "before the answer to the create arrives": ("POST", "/requests", "after"),
    "before it waits": ("GET", "?wait=", "before"),
    "before the person's answer arrives": ("GET", "?wait=", "after"),
}
NO: dict[str, Any] = {"options": ["yes", "no"], "default": "no"}


@pytest.mark.parametrize("moment", MOMENTS)
def test_it_is_killed(shell: Shell, gate: Gate, loop: Loop, member: User, moment: str) -> None:
    gate.hold = MOMENTS[moment]
    first = shell.start(*WORDS)
    if "person" in moment:
        answer("yes", member)
    assert gate.held.wait(stretched(30))
    os.kill(first.pid, signal.SIGKILL)
    assert finish(first)[:2] == (-signal.SIGKILL, "")
    gate.release()

    second = shell.start(*WORDS)
    if "person" not in moment:
        answer("yes", member)
    assert finish(second)[:2] == (0, "yes\n")
    assert finish(shell.start(*WORDS))[:2] == (0, "yes\n")  # once more, after its end
    assert Request.objects.count() == 1


def test_it_is_killed_on_a_machine_that_keeps_no_files(
    shell: Shell, gate: Gate, loop: Loop, member: User
) -> None:
    """Within a day the service itself knows the question by the key that its name makes."""
    gate.hold = MOMENTS["before it waits"]
    first = shell.start(*WORDS)
    assert gate.held.wait(stretched(30))
    os.kill(first.pid, signal.SIGKILL)
    finish(first)
    gate.release()
    second = shell.start(*WORDS, REVIEW_LOOP_STATE=str(shell.folder / "elsewhere"))
    answer("yes", member)
    assert finish(second)[:2] == (0, "yes\n")
    assert Request.objects.count() == 1


def test_the_answer_to_the_create_was_lost_more_than_a_day_ago(
    client: Client, gate: Gate, pool: ThreadPoolExecutor, loop: Loop, member: User, tmp_path: Path
) -> None:
    """The service has forgotten the key, so the request is looked for."""
    client.requests.create(loop.pk, request_text="Ship it?", response_type="text",
                           response_config={}, default_response="-")  # fmt: skip
    file = tmp_path / "question.json"
    pool.submit(client.ask, "Ship it?", resume=file, **NO)
    wait_until(lambda: Request.objects.count() == 2)
    wait_until(lambda: json.loads(file.read_text())["request_id"])
    request = Request.objects.get(response_type="single_select")
    stored = json.loads(file.read_text())
    assert stored["request_id"] == request.pk
    StoredResponse.objects.all().delete()
    begun_at = time.time() - 86400
    file.write_text(json.dumps({**stored, "request_id": None, "begun_at": begun_at}))
    again = pool.submit(client.ask, "Ship it?", resume=str(file), **NO)
    wait_until(lambda: sum("?wait=" in call.path for call in gate.calls) == 2)
    answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert again.result(30).request_id == request.pk
    assert Request.objects.count() == 2


@pytest.mark.parametrize("resume", ["deploy-4711", "./question.json"])
def test_two_at_once_ask_once(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User, resume: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    both = [pool.submit(client.ask, "Ship it?", resume=resume, **NO) for _ in "12"]
    request = answer("yes", member)
    assert [each.result(30).request_id for each in both] == [request.pk] * 2
    assert Request.objects.count() == 1


def test_a_name_stands_for_one_question(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    asking = pool.submit(client.ask, "Ship it?", resume="deploy", **NO)
    answer("yes", member)
    asking.result(30)
    with pytest.raises(reviewloop.ResumeConflict, match="belongs to another question: 'Ship it"):
        client.ask("Ship that?", resume="deploy", **NO)
    # What does not make it another question may change.
    again = client.ask("Ship it?", resume="deploy", timeout="2h", priority="high",
                       **NO)  # fmt: skip
    assert again.value == "yes"

    monkeypatch.setenv("REVIEW_LOOP_STATE", str(tmp_path / "elsewhere"))
    with pytest.raises(reviewloop.ResumeConflict):
        client.ask("Ship that?", resume="deploy", **NO)
    assert not list((tmp_path / "elsewhere").iterdir())
    assert Request.objects.count() == 1


def test_values_that_json_writes_as_others_are_the_same_question(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User
) -> None:
    config = {"options": ("a", "b"), "max_selections": 2}
    asking = pool.submit(
        client.ask, "Which?", resume="x", response_type="multi_select", response_config=config,
        default=("a", "b"),
    )  # fmt: skip
    answer(["a"], member)
    asking.result(30)
    again = client.ask(
        "Which?", resume="x", response_type="multi_select", response_config=config,
        default=["a", "b"],
    )  # fmt: skip
    assert again.value == ["a"]


def test_a_page_of_something_in_between_does_not_free_the_name(
    client: Client, gate: Gate, pool: ThreadPoolExecutor, loop: Loop, member: User, tmp_path: Path
) -> None:
    file = tmp_path / "question.json"
    gate.faults = [Fault(200, is_forwarded=True, method="POST")]
    asking = pool.submit(client.ask, "Ship it?", resume=file, **NO)
    answer("yes", member)
    assert asking.result(30).value == "yes"
    assert (len(gate.keys()), len(set(gate.keys())), Request.objects.count()) == (2, 1, 1)


def test_names_belong_to_an_account(
    client: Client, gate: Gate, pool: ThreadPoolExecutor, loop: Loop, member: User, member_key: str
) -> None:
    asking = pool.submit(client.ask, "Ship it?", resume="deploy", **NO)
    answer("yes", member)
    assert asking.result(30).value == "yes"
    Client(gate.url, member_key).loops.create("Mine")
    other = pool.submit(Client(gate.url, member_key).ask, "Ship it?", resume="deploy", **NO)
    wait_until(lambda: Request.objects.filter(creator=member).exists())
    Client(gate.url, member_key).requests.cancel(Request.objects.get(creator=member).pk)
    with pytest.raises(reviewloop.Cancelled):
        other.result(30)


def test_what_the_service_refuses_leaves_the_name_free(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User, tmp_path: Path
) -> None:
    with pytest.raises(reviewloop.InvalidCall):
        client.ask("Ship it?", resume="deploy", options=["yes", "no"], default="perhaps")
    assert not list((tmp_path / "state").iterdir())
    asking = pool.submit(client.ask, "Ship it?", resume="deploy", **NO)
    answer("yes", member)
    assert asking.result(30).value == "yes"


def test_files_are_private_and_removed_in_the_end(
    client: Client, pool: ThreadPoolExecutor, loop: Loop, member: User, tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    asking = pool.submit(client.ask, "Ship it?", resume="deploy", **NO)
    answer("yes", member)
    asking.result(30)
    (file,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    os.utime(file, (0, 0))
    pool.submit(client.ask, "And that?", resume="other", **NO)
    wait_until(lambda: not file.exists())
    wait_until(lambda: Request.objects.count() == 2)
    client.requests.cancel(Request.objects.latest("created_at").pk)


def test_a_file_of_something_else_is_left_alone(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text('{"mine": true}')
    with pytest.raises(reviewloop.ResumeConflict, match="is no file of this version"):
        client.ask("Ship it?", resume=file, **NO)
    assert file.read_text() == '{"mine": true}'
    with pytest.raises(ValueError, match="resume is empty"):
        client.ask("Ship it?", resume="", **NO)
