"""The examples that use the command `reviewloop`: a step of GitHub Actions, and a job of cron."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import cancel_request
from tests.clients.conftest import SOURCE, answer, asked, finish, let_time_run_out
from tests.clients.gate import Gate
from tests.examples.conftest import EXAMPLES, Start, kill_with_children, sample
from tests.processes.stack import ROOT
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
ACTION = yaml.safe_load((EXAMPLES / "github-action" / "action.yml").read_text(encoding="utf-8"))
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]  # as GitHub runs `shell: bash`
QUESTION = 'Deploy "$(touch run)" `touch run`; to\nproduction? ✓'


@pytest.fixture
def run(launch: Start, tmp_path: Path) -> Start:
    """`run(words)` with the command `reviewloop` in the PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "reviewloop"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reviewloop "$@"\n')
    command.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return lambda words, **more: launch(words, PATH=path, PYTHONPATH=str(SOURCE), **more)


@pytest.fixture
def step(run: Start, gate: Gate, key: str, tmp_path: Path) -> Start:
    """`step(**inputs)` runs the step of the action that asks, as GitHub does."""

    def start(**given: str) -> Any:
        inputs = {name: str(it.get("default", "")) for name, it in ACTION["inputs"].items()}
        inputs |= {"url": gate.url, "key": key, **given}
        (asking,) = [each for each in ACTION["runs"]["steps"] if each.get("id") == "ask"]
        variables = {name: fill(text, inputs) for name, text in asking["env"].items()}
        script = tmp_path / "step.sh"
        script.write_text(asking["run"], encoding="utf-8")
        return run([*BASH, str(script)], **variables, GITHUB_OUTPUT=str(tmp_path / "output"))

    return start


def fill(text: str, inputs: dict[str, str]) -> str:
    """Evaluates `${{ inputs.name }}`."""
    assert text.startswith("${{ inputs."), text
    return inputs[text.removeprefix("${{ inputs.").removesuffix(" }}")]


def outputs(folder: Path) -> dict[str, str]:
    """Reads the file of outputs as GitHub does."""
    found = {}
    lines = iter((folder / "output").read_text(encoding="utf-8").splitlines())
    for line in lines:
        name, is_block, end = line.partition("<<")
        if is_block:
            found[name] = "\n".join(iter(lambda: next(lines), end))
        else:
            name, _, found[name] = line.partition("=")
    return found


def test_a_step_waits_for_a_person(step: Start, loop: Loop, member: User, tmp_path: Path) -> None:
    asking = step(question=QUESTION, options="deploy,stop", default="stop", timeout="10m")
    request = asked()
    assert (request.request_text, request.timeout_seconds) == (QUESTION, 600)
    answer("deploy", member)
    assert finish(asking)[0] == 0
    assert outputs(tmp_path) == {"answer": "deploy", "by-human": "true"}
    assert not (tmp_path / "run").exists()


def test_a_step_whose_answer_is_a_text(
    step: Start, loop: Loop, member: User, tmp_path: Path
) -> None:
    asking = step(question="Why?", default="-", loop=loop.name)
    answer("Because\nby-human=false\nanswer=no", member)
    assert finish(asking)[0] == 0
    assert outputs(tmp_path) == {"answer": "Because\nby-human=false\nanswer=no", "by-human": "true"}


def test_a_step_that_nobody_answers(step: Start, loop: Loop, tmp_path: Path) -> None:
    asking = step(question="Deploy?", options="deploy,stop", default="stop")
    let_time_run_out(asked())
    assert finish(asking)[0] == 0
    assert outputs(tmp_path) == {"answer": "stop", "by-human": "false"}


def test_a_step_fails_if_its_question_is_cancelled(
    step: Start, loop: Loop, owner: User, tmp_path: Path
) -> None:
    asking = step(question="Deploy?", options="deploy,stop", default="stop", resume="run 4711")
    request = asked()
    cancel_request(request_id=request.pk, account_id=owner.pk)
    assert finish(asking)[0] == 4
    assert not (tmp_path / "output").exists()
    again = step(question="Deploy?", options="deploy,stop", default="stop", resume="run 4711")
    assert finish(again)[0] == 4
    assert Request.objects.count() == 1


def test_the_action_and_its_sample_fit() -> None:
    install, _ = ACTION["runs"]["steps"]
    assert "$GITHUB_ACTION_PATH/../../clients/python" in install["run"]
    assert (EXAMPLES / "github-action" / "../../clients/python/pyproject.toml").exists()
    workflow = yaml.safe_load(sample("GitHub Actions", "yaml"))
    _, asking, deploying = workflow["jobs"]["deploy"]["steps"]
    given = asking["with"]
    required = {name for name, it in ACTION["inputs"].items() if it.get("required")}
    assert required <= given.keys() <= ACTION["inputs"].keys()
    assert asking["uses"] == "./examples/github-action"
    assert (ROOT / asking["uses"] / "action.yml").exists()
    assert "steps.people.outputs.answer" in deploying["if"]
    assert ACTION["outputs"].keys() == {"answer", "by-human"}


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    """Two old backups and a new one."""
    folder = tmp_path / "backups"
    folder.mkdir()
    for name, days in (("old one.tar.gz", 40), ("old.tar.gz", 31), ("new.tar.gz", 29)):
        (folder / name).touch()
        at = time.time() - days * 86400
        os.utime(folder / name, (at, at))
    return folder


def names(backups: Path) -> set[str]:
    return {path.name for path in backups.glob("*.tar.gz")}


@pytest.fixture
def job(run: Start, backups: Path) -> Start:
    return lambda: run([str(EXAMPLES / "cron" / "cleanup.sh")], BACKUPS=str(backups))


def test_a_job_deletes_what_a_person_agreed_to(
    job: Start, backups: Path, loop: Loop, member: User
) -> None:
    asking = job()
    request = asked()
    assert request.request_text.startswith("**Delete 2 backups?** They are older than 30 days.")
    assert request.request_text.endswith("\n\n    old one.tar.gz\n    old.tar.gz")
    (backups / "old.tar.gz").rename(backups / "other.tar.gz")  # nobody has agreed to that
    answer("delete", member)
    assert finish(asking)[:2] == (0, "A person said: delete\n")
    assert names(backups) == {"other.tar.gz", "new.tar.gz"}


@pytest.mark.parametrize("end", ["keep", "timeout", "cancel"])
def test_a_job_that_keeps_them(
    job: Start, backups: Path, loop: Loop, member: User, end: str
) -> None:
    asking = job()
    request = asked()
    if end == "keep":
        answer("keep", member)
    elif end == "timeout":
        let_time_run_out(request)
    else:
        cancel_request(request_id=request.pk, account_id=request.creator_id)
    said = {"keep": "A person said: keep\n", "timeout": "Nobody answered, so: keep\n"}
    assert finish(asking)[:2] == (0, said.get(end, "The question was cancelled\n"))
    assert len(names(backups)) == 3


def test_a_job_that_is_killed_finds_its_question(
    job: Start, backups: Path, gate: Gate, loop: Loop, member: User
) -> None:
    gate.hold = ("GET", "?wait=", "before")
    first = job()
    assert gate.held.wait(30)
    kill_with_children(first)
    gate.release()
    (backups / "more.tar.gz").touch()
    os.utime(backups / "more.tar.gz", (0, 0))  # old by now, but not asked about
    second = job()
    answer("delete", member)
    assert finish(second)[:2] == (0, "A person said: delete\n")
    assert Request.objects.count() == 1
    assert names(backups) == {"new.tar.gz", "more.tar.gz"}


def test_a_job_with_nothing_to_delete(job: Start, backups: Path) -> None:
    for path in backups.glob("old*"):
        path.unlink()
    assert finish(job())[:2] == (0, "")


def test_a_job_that_cannot_ask_deletes_nothing(run: Start, backups: Path, loop: Loop) -> None:
    script = str(EXAMPLES / "cron" / "cleanup.sh")
    job = run([script], BACKUPS=str(backups), REVIEW_LOOP_KEY="rl_live_nonsense")
    code, _, complaints = finish(job)
    assert (code, complaints) == (1, "reviewloop: Invalid API key (HTTP 401)\n")
    assert len(names(backups)) == 3
    wait_until(lambda: not Request.objects.exists())
