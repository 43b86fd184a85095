"""clients/python as a package: what it needs, and the samples of its documents, run as they are."""

import ast
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import reviewloop

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews.models import Request
from reviews.services import answer_request, delete_loop
from tests.accounts.tokens import token_of
from tests.clients.conftest import SOURCE, finish
from tests.conftest import account
from tests.processes.stack import ROOT
from tests.test_architecture import pinned
from tests.waiting import wait_until
from webhooks import signing

PACKAGE = ROOT / "clients" / "python"
PROJECT: dict[str, Any] = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))
MODULES = sorted(SOURCE.rglob("*.py"))
FORM = {"amount": 4, "reason": "broken"}
SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "number"}, "reason": {"type": "string"}},
}
ANSWERS: dict[str, Any] = {
    "rating": 4,
    "number": 3,
    "form": FORM,
    "approval": {"action": "approve"},
}  # to everything else the first option
GUIDES_FOLDER = ROOT / "docs" / "guides"
URL, KEY = "http://127.0.0.1:8000/v1", "rl_live_…"


def blocks(path: str, language: str) -> list[str]:
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


GUIDES = [
    "docs/tutorial.md",
    *sorted(f"docs/guides/{each.name}" for each in GUIDES_FOLDER.iterdir()),
]
PYTHON = [
    *[("README.md", block) for block in blocks("README.md", "python")],
    *[("docs/api.md", block) for block in blocks("docs/api.md", "python") if "reviewloop" in block],
    *[(path, block) for path in GUIDES for block in blocks(path, "python")],
    *[("its README", block) for block in blocks("clients/python/README.md", "python")],
]
SHELL = [
    line
    for path in ("README.md", "clients/python/README.md", "docs/api.md", *GUIDES)
    for block in [*blocks(path, "sh"), *blocks(path, "bash")]
    for line in block.replace("\\\n", " ").splitlines()
    if re.match(r"(\.venv/bin/)?reviewloop (?!listen|redeem)", line)  # no end, no approval
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built and installed as `pip install ./clients/python` does it."""
    folder = tmp_path_factory.mktemp("installed")
    options = [
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(folder),
    ]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, str(PACKAGE)], check=True, timeout=120
    )
    return folder


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_is_written_for_python_39(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            roots.add(str(node.module).split(".")[0])
    needed = {"requests", "reviewloop"}
    if path.stem == "receipts":
        needed |= {"jwt", "rfc8785"}  # where they are installed
    if path.parent.stem == "mcp_gate":
        needed |= {"anyio", "httpx2", "mcp", "mcp_types", "tomli"}
    assert roots <= {*sys.stdlib_module_names, *needed}


def test_its_project() -> None:
    project = PROJECT["project"]
    requirements = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    (sdk,) = re.findall(r"^mcp==\S+", requirements, re.M)  # the version that the tests install
    assert project["version"] == reviewloop.__version__
    assert [re.match(r"\w+", name)[0] for name in project["dependencies"]] == ["requests"]  # type: ignore[index]
    assert project["optional-dependencies"] == {
        "receipts": ["PyJWT[crypto]>=2.10", "rfc8785>=0.1.4"],
        "gate": [
            f"{sdk}; python_version >= '3.10'",
            "tomli>=2; python_version < '3.11'",
        ],
    }
    (builder,) = PROJECT["build-system"]["requires"]
    assert re.fullmatch(r"hatchling==[\d.]+", builder)
    assert "hatchling" in pinned("requirements-dev.txt")
    assert builder in requirements


def test_what_is_installed(installed: Path) -> None:
    package = installed / "reviewloop"
    files = {str(path.relative_to(package)) for path in package.rglob("*")}
    modules = {str(path.relative_to(SOURCE / "reviewloop")) for path in MODULES}
    assert {"py.typed", *modules} <= files
    assert (installed / "bin" / "reviewloop").exists()
    assert not (PACKAGE / "build").exists()


def environment(installed: Path, service: str, key: str, folder: Path) -> dict[str, str]:
    return {
        "PATH": f"{installed / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(installed),
        "REVIEW_LOOP_URL": f"{service}/v1",
        "REVIEW_LOOP_KEY": key,
        "REVIEW_LOOP_STATE": str(folder / "state"),
    }


def answer_until_it_ends(
    process: "subprocess.Popen[str]", *reviewers: User
) -> tuple[int, str, str]:
    """People who join every loop, and of whom as many as needed answer every question; then what
    was printed."""

    def answer_all() -> bool:
        for loop in Loop.objects.alive():
            join_all(loop, reviewers)
        for request in Request.objects.filter(status="pending"):
            first = request.response_config.get("options", [None])[0]
            chosen = [first] if request.response_type == "multi_select" else first
            value = ANSWERS.get(request.response_type, chosen)
            needed = request.policy["answers"] if request.policy else 1
            for reviewer in reviewers[:needed]:
                answer_request(request=request, reviewer_id=reviewer.pk, answer=value)
        return process.poll() is not None

    wait_until(answer_all, 60)
    return finish(process)


def join_all(loop: Loop, people: Iterable[User]) -> None:
    for person in people:
        join_loop(user=person, code=loop.invite_code)


def start(
    command: list[str], variables: dict[str, str], folder: Path = ROOT
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.mark.django_db(transaction=True)
def test_the_samples_in_python(
    service: str, key: str, owner: User, member: User, installed: Path, tmp_path: Path
) -> None:
    variables = environment(installed, service, key, tmp_path)
    variables["REVIEW_LOOP_REVIEW_TOKEN"] = token_of(member)
    second = account("second")
    for path, block in PYTHON:
        for loop in Loop.objects.alive():  # each begins with the only loop, or makes it
            delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
        if "policy=" in block:  # it asks people who are there
            desk = create_loop(owner_id=owner.pk, name="Desk", icon="star")
            join_all(desk, (member, second))
        program = start([sys.executable, "-W", "error", "-c", block], variables)
        code, printed, complaints = answer_until_it_ends(program, member, second)
        assert code == 0, (path, block, complaints)
        only_defines = "def receive" in block or "def run_" in block
        assert bool(printed) == (not only_defines), (path, block)


@pytest.mark.django_db(transaction=True)
def test_the_samples_in_shell(
    service: str, key: str, member: User, installed: Path, tmp_path: Path
) -> None:
    assert len(SHELL) == 11
    (tmp_path / "refund.schema.json").write_text(json.dumps(SCHEMA))
    variables = environment(installed, service, key, tmp_path)
    for line in SHELL:
        command = start(["sh", "-c", line.removeprefix(".venv/bin/")], variables, tmp_path)
        code, printed, complaints = answer_until_it_ends(command, member)
        assert (code, bool(printed)) == (0, True), (line, complaints)


def test_the_readme_names_what_make_run_prints() -> None:
    (block,) = [block for block in blocks("README.md", "sh") if "reviewloop ask" in block]
    assert f"export REVIEW_LOOP_URL={URL}" in block
    assert f"export REVIEW_LOOP_KEY={KEY}" in block
    assert block.startswith(".venv/bin/pip install ./clients/python\n")


def test_the_sample_that_receives_events(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [block for _, block in PYTHON if "def receive" in block]
    names: dict[str, Any] = {}
    exec(block.replace("whsec_…", "a secret of our own"), names)
    body = b'{"event": "request.completed", "request_id": "1", "response_data": "yes"}'
    key = b"a secret of our own"
    headers = signing.headers(
        message_id="1", timestamp=int(time.time()), body=body, plain_key=key, standard_keys=[key]
    )
    assert names["receive"](body, headers) == 204
    assert capsys.readouterr().out == "request.completed 1 yes\n"
    assert names["receive"](body + b" ", headers) == 401
