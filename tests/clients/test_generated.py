"""Clients generated from /openapi.json go through the whole life of a request."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from api.openapi.pages import build_document
from reviews.models import Request
from reviews.services import answer_request
from tests.clients import node
from tests.conftest import key_of
from tests.waiting import stretched, wait_until

HERE = Path(__file__).parent
TYPES = {"text", "single_select", "multi_select", "rating", "number", "form", "approval"}
COMPILER_OPTIONS = {
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
    "target": "es2022",
    "module": "es2022",
    "moduleResolution": "bundler",
    "lib": ["es2022", "dom"],
    "skipLibCheck": True,
    "types": [],
}


@pytest.fixture
def api_document(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_bytes(build_document())
    return path


def go_through(
    service: str, command: list[str], folder: Path, owner: User, **environment: str
) -> dict[str, Any]:
    """Runs a program against the service while a person answers; returns what it printed."""
    variables = {"SITE": service, "KEY": key_of(owner, hourly_limit=100_000), **environment}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        cancelled = Request.objects.filter(status="cancelled")
        wait_until(lambda: cancelled.exists() or process.poll() is not None, 60)
        if process.poll() is None:
            asked = Request.objects.get(response_type="single_select")
            answer_request(request=asked, reviewer_id=owner.pk, answer="yes")
        printed, complaints = process.communicate(timeout=stretched(60))
    finally:
        process.kill()
    assert process.returncode == 0, complaints
    result: dict[str, Any] = json.loads(printed)
    return result


def check(result: dict[str, Any]) -> None:
    """What the program saw is what the database has."""
    stored = {request.response_type: request for request in Request.objects.all()}
    assert result["ids"] == {name: request.pk for name, request in stored.items()}
    assert set(stored) == TYPES
    assert (result["answer"], result["answered_by"]) == ("yes", "human")
    assert result["feedback"] == {"rating": 5, "comment": "Quick."}
    assert stored["single_select"].feedback.body == result["feedback"]
    assert stored["number"].status == "cancelled"
    assert stored["text"].context == {"order": 7}


def test_openapi_python_client(
    transactional_db: None, service: str, api_document: Path, owner: User, tmp_path: Path
) -> None:
    scripts = Path(sys.executable).parent
    node.run(
        [
            *(str(scripts / "openapi-python-client"), "generate", "--path", str(api_document)),
            *("--meta", "none", "--output-path", "review_loop_client", "--fail-on-warning"),
        ],
        tmp_path,
        PATH=f"{scripts}{os.pathsep}{os.environ['PATH']}",  # it calls ruff
    )
    check(
        go_through(
            service,
            [sys.executable, str(HERE / "flow.py")],
            tmp_path,
            owner,
            PYTHONPATH=str(tmp_path),
        )
    )


def test_openapi_typescript(
    transactional_db: None, service: str, api_document: Path, owner: User, tmp_path: Path
) -> None:
    compiler = node.program("typescript", "bin/tsc")
    generator = node.program("openapi-typescript", "bin/cli.js")
    node.run([*generator, str(api_document), "--output", "schema.d.ts"], tmp_path)
    (tmp_path / "flow.ts").write_bytes((HERE / "flow.ts").read_bytes())
    (tmp_path / "node_modules").symlink_to(node.MODULES)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    settings = {"compilerOptions": COMPILER_OPTIONS, "files": ["flow.ts"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings))
    node.run([*compiler, "--project", "."], tmp_path)
    check(go_through(service, ["node", "flow.js"], tmp_path, owner))


def test_redocly_finds_nothing(api_document: Path, tmp_path: Path) -> None:
    linter = node.program("@redocly/cli", "bin/cli.js")
    # the address of this service may be localhost
    options = ["--skip-rule", "no-server-example.com", "--format", "json"]
    silent = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    printed = node.run([*linter, "lint", str(api_document), *options], tmp_path, **silent)
    totals = json.loads(printed[printed.index("{") :])["totals"]
    assert (totals["errors"], totals["warnings"]) == (0, 0), printed


def test_spectral_finds_nothing(api_document: Path, tmp_path: Path) -> None:
    linter = node.program("@stoplight/spectral-cli", "dist/index.js")
    (tmp_path / "rules.yaml").write_text('extends: ["spectral:oas"]\n')
    options = ["--ruleset", "rules.yaml", "--fail-severity", "hint"]
    printed = node.run([*linter, "lint", str(api_document), *options], tmp_path)
    assert "No results" in printed
