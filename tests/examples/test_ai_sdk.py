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
    MODULES,
    NOT_INSTALLED,
    PROGRAMS,
    Start,
    printed,
    sample,
)
from tests.waiting import stretched, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with AI SDK, our client, and the example."""
    if not MODULES.exists():
        pytest.skip(NOT_INSTALLED)
    compiler = node.program("typescript", "bin/tsc")
    project = tmp_path_factory.mktemp("ai-sdk")
    modules = project / "node_modules"
    modules.mkdir()
    for package in [*MODULES.iterdir(), node.MODULES / "@types"]:
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
    text = sample("Vercel AI SDK", "js")
    (project / "main.mjs").write_text(program.replace("// The sample stands here.", text))
    return project


@pytest.fixture
def run(project: Path, launch: Start) -> Start:
    return lambda **variables: launch(["node", str(project / "main.mjs")], **variables)


@pytest.mark.parametrize(
    ("end", "comment", "output"),
    [
        ("approve", "", "Refunded order 1042"),
        ("refuse", "Third refund.", "refused: Third refund."),
        ("refuse", "", "refused: no reason"),
        ("timeout", "", "refused: Nobody answered in time."),
    ],
)
def test_a_person_decides(
    run: Start, loop: Loop, member: User, end: str, comment: str, output: str
) -> None:
    program = run()
    request = asked()
    assert request.request_text.startswith("Call **refund**?\n\n```json\n{")
    assert request.context == {"toolName": "refund", "input": {"order": "1042"}}
    if end == "timeout":
        let_time_run_out(request)
    else:
        answer(end, member, comment=comment)
    assert printed(program) == f"{output}\n"


def test_two_tool_calls_at_once(run: Start, loop: Loop, member: User) -> None:
    program = run(ORDERS="1042 1043")
    wait_until(lambda: Request.objects.count() == 2, 30)
    for request in Request.objects.all():
        is_first = "1042" in request.request_text
        choice = "approve" if is_first else "refuse"
        answer_request(request=request, reviewer_id=member.pk, answer=choice)
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
    answer("approve", member)
    assert printed(second) == "Refunded order 1042\n"
    assert Request.objects.count() == 1


def test_the_example_is_short() -> None:
    text = (EXAMPLES / "ai-sdk" / "approval.ts").read_text(encoding="utf-8")
    assert text.count("\n") <= 80
    assert not re.search(r"\bany\b", re.sub(r"//.*|/\*[\s\S]*?\*/", "", text))
