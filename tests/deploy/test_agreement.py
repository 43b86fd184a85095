"""The small print of each file in deploy/ fits the others."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from config.release import VERSION
from tests.deploy.files import DEPLOY, WORKLOADS, read_unit, read_yaml
from tests.deploy.rehearsal import docs
from tests.processes.stack import ROOT


def workloads() -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of each part in Kubernetes, and its container."""
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")):
        for each in read_yaml(path):
            if each["kind"] in WORKLOADS:
                spec = each["spec"].get("jobTemplate", each)["spec"]["template"]["spec"]
                yield each["metadata"]["labels"]["part"], spec["containers"][0]


def test_worker_and_beat_are_asked_as_the_documents_say() -> None:
    """The rehearsal runs these commands beside the units."""
    said = {quoted.text.rpartition(" ")[2]: quoted.text.split() for quoted in docs.ALIVE}
    (compose,) = read_yaml(DEPLOY / "compose.yaml")
    containers = dict(workloads())
    for name, command in said.items():
        assert compose["services"][name]["healthcheck"]["test"] == ["CMD", *command]
        for probe in ("livenessProbe", "startupProbe"):
            assert containers[name][probe]["exec"]["command"] == command


def test_static_files_are_collected_in_one_way() -> None:
    (command,) = (each for each in docs.read_install() if "collectstatic" in each)
    options = command.partition("--no-input")[2].split()
    assert options
    for file in (DEPLOY / "docker/Dockerfile", ROOT / "Makefile", docs.OPERATIONS):
        found = [
            " ".join(text.replace("\\\n", " ").split())
            for text in re.findall(r"collectstatic[^&@`]*", file.read_text(encoding="utf-8"))
        ]
        assert any(" ".join(options) in text for text in found), file.name


def test_secrets_that_manifests_name_are_described() -> None:
    described = (DEPLOY / "kubernetes/config.yaml").read_text(encoding="utf-8")
    named = {
        entry["valueFrom"]["secretKeyRef"]["key"]
        for _, container in workloads()
        for entry in container.get("env", [])
        if "valueFrom" in entry
    }
    (monitor,) = read_yaml(DEPLOY / "kubernetes/monitor.yaml")
    credentials = monitor["spec"]["endpoints"][0]["authorization"]["credentials"]
    assert credentials["name"] == "review-loop"
    assert {*named, credentials["key"]} == {"WORKER_DATABASE_URL", "METRICS_TOKEN"}
    assert all(key in described for key in (*named, credentials["key"]))


def test_the_images_tag_is_the_version() -> None:
    (kustomization,) = read_yaml(DEPLOY / "kubernetes/kustomization.yaml")
    (image,) = kustomization["images"]
    assert image["newTag"] == VERSION
    assert {container["image"] for _, container in workloads()} == {image["name"]}
    assert {*kustomization} == {"apiVersion", "kind", "resources", "images"}


@pytest.mark.parametrize("name", ["web@", "worker", "beat"])
def test_migrations_by_hand_restart_nothing_else(name: str) -> None:
    """`systemctl restart review-loop-migrate` restarts all units that have it in Requires=."""
    file = DEPLOY / f"systemd/review-loop-{name}.service"
    section = file.read_text(encoding="utf-8").partition("[Service]")[0]
    lines = [line for line in section.splitlines() if "review-loop-migrate.service" in line]
    assert {line.partition("=")[0] for line in lines} == {"After", "Wants"}
    assert read_unit("migrate")["Restart"] == ["on-failure"]
