"""The files of deploy/ are valid, and start the same processes wherever they run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from local.apps import QUEUES
from tests.clients import node
from tests.deploy.files import (
    DEPLOY,
    UNITS,
    Command,
    commands_of_compose,
    commands_of_kubernetes,
    commands_of_units,
    read_unit,
    read_yaml,
)
from tests.processes.stack import ROOT

KUBERNETES = "1.33"
# Kustomize and the Prometheus Operator define these kinds, not Kubernetes.
FOREIGN = {"kustomization.yaml", "monitor.yaml"}
MANIFESTS = sorted(path.name for path in (DEPLOY / "kubernetes").iterdir())


def without_place(command: Command) -> list[str]:
    """The words of a command but for addresses and paths."""
    own = re.compile(r"\$\{WEB_HOST\}|127\.0\.0\.1|0\.0\.0\.0|%i|8000|/.*")
    return [word for word in command if not own.fullmatch(word)]


def test_they_start_the_same_processes_everywhere() -> None:
    compose, kubernetes = commands_of_compose(), commands_of_kubernetes()
    for name, command in commands_of_units().items():
        assert without_place(compose[name]) == without_place(command)
        assert without_place(kubernetes[name]) == without_place(command)
    assert QUEUES in compose["worker"]
    dockerfile = (DEPLOY / "docker/Dockerfile").read_text(encoding="utf-8")
    (default,) = re.findall(r"^CMD (.+)$", dockerfile, re.MULTILINE)
    assert tuple(json.loads(default)[1:]) == compose["web"]


def test_compose_fits_its_schema() -> None:
    node.program("dclint", "schemas/compose.schema.json")
    schema = json.loads((node.MODULES / "dclint/schemas/compose.schema.json").read_text())
    (compose,) = read_yaml(DEPLOY / "compose.yaml")
    check = Draft7Validator(schema)
    assert [error.message for error in check.iter_errors(compose)] == []
    compose["services"]["web"]["restarts"] = "always"
    assert not check.is_valid(compose)


def test_compose_names_what_it_has() -> None:
    (compose,) = read_yaml(DEPLOY / "compose.yaml")
    services = compose["services"]
    for service in services.values():
        assert {*service.get("depends_on", {})} <= services.keys()
        build = service.get("build")
        if build:
            folder = DEPLOY / build["context"]
            assert (folder / build["dockerfile"]).is_file()
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (DEPLOY / source).is_file()


@pytest.mark.parametrize("name", ["Dockerfile", "pgbouncer.Dockerfile"])
def test_hadolint_finds_nothing(name: str) -> None:
    found = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), "--no-color", DEPLOY / "docker" / name],
        capture_output=True,
        encoding="utf-8",
    )
    assert (found.stdout, found.returncode) == ("", 0)


def test_the_image_has_what_the_service_reads() -> None:
    """Everything that `git` knows and the service needs is named in .dockerignore."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line[1:].partition("/")[0] for line in lines if line.startswith("!")}
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert rooms - {"tests", "bench", "languages", "styles", "release"} <= kept
    assert {"templates", "static", "locale", "docs", "manage.py", "constraints.txt"} <= kept
    assert kept <= {path.name for path in ROOT.iterdir()}


@pytest.mark.parametrize("name", [each for each in MANIFESTS if each not in FOREIGN])
def test_manifests_fit_the_schemas_of_kubernetes(name: str) -> None:
    found = subprocess.run(
        [
            *(Path(sys.executable).with_name("kubernetes-validate"), "--strict"),
            *("-k", KUBERNETES, DEPLOY / "kubernetes" / name),
        ],
        capture_output=True,
        encoding="utf-8",
    )
    printed = found.stdout + found.stderr
    assert found.returncode == 0, printed
    documents = read_yaml(DEPLOY / "kubernetes" / name)
    assert printed.count(" passed for resource ") == len(documents), printed


def test_manifests_belong_together() -> None:
    documents = {
        (each["kind"], each["metadata"]["name"]): each
        for name in MANIFESTS
        if name != "kustomization.yaml"
        for each in read_yaml(DEPLOY / "kubernetes" / name)
    }
    (kustomization,) = read_yaml(DEPLOY / "kubernetes/kustomization.yaml")
    assert {*kustomization["resources"], "kustomization.yaml"} == {*MANIFESTS}
    service: Any = documents["Service", "review-loop-web"]
    monitor: Any = documents["ServiceMonitor", "review-loop"]
    assert monitor["spec"]["selector"]["matchLabels"] == service["metadata"]["labels"]
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint["port"] == service["spec"]["ports"][0]["name"]
    for (kind, name), each in documents.items():
        if kind == "HorizontalPodAutoscaler":
            target = each["spec"]["scaleTargetRef"]
            assert (target["kind"], target["name"]) in documents
        if kind == "PodDisruptionBudget":
            labels = documents["Deployment", name]["spec"]["template"]["metadata"]["labels"]
            assert each["spec"]["selector"]["matchLabels"] == labels


def test_systemd_finds_nothing(tmp_path: Path) -> None:
    """The units as they are, but for the folder of the installation."""
    verify = shutil.which("systemd-analyze")
    if not verify:
        pytest.skip("systemd-analyze is not installed")
    for path in (DEPLOY / "systemd").iterdir():
        text = path.read_text(encoding="utf-8").replace(
            "/opt/review-loop/.venv/bin/python", "/bin/true"
        )
        (tmp_path / path.name).write_text(text.replace("/opt/review-loop", str(ROOT)))
    for kind in ("service", "socket"):
        (tmp_path / f"review-loop-web@.{kind}").rename(tmp_path / f"review-loop-web@8000.{kind}")
    for unit in sorted(tmp_path.glob("review-loop*")):
        found = subprocess.run(
            [verify, "verify", "--man=no", unit],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        )
        assert (found.stdout + found.stderr, found.returncode) == ("", 0), unit.name


@pytest.mark.parametrize("name", UNITS)
def test_units_are_confined(name: str) -> None:
    unit = read_unit(name)
    assert unit["User"] == ["review-loop"]
    for setting in ("NoNewPrivileges", "PrivateTmp", "ProtectHome"):
        assert unit[setting] == ["yes"]
    assert unit["ProtectSystem"] == ["strict"]
