"""Reads the files of deploy/."""

import configparser
import json
import re
import shlex
from pathlib import Path
from typing import Any

import yaml

from tests.processes.stack import ROOT

DEPLOY = ROOT / "deploy"
UNITS = ("web@", "worker", "beat", "migrate", "backup")
WORKLOADS = ("Deployment", "Job", "CronJob")
Command = tuple[str, ...]


def read_yaml(path: Path) -> list[dict[str, Any]]:
    """The documents of a file."""
    return [*yaml.safe_load_all(path.read_text(encoding="utf-8"))]


def read_unit(name: str, folder: Path = DEPLOY) -> dict[str, list[str]]:
    """The lines of a unit's section [Service], by their names."""
    text = (folder / f"systemd/review-loop-{name}.service").read_text(encoding="utf-8")
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    section = text.partition("[Service]")[2].partition("[Install]")[0]
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", section, re.MULTILINE):
        found.setdefault(key, []).append(value)
    return found


def read_assignments(text: str) -> dict[str, str]:
    """The variables of a file for EnvironmentFile=, as systemd reads it."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and line[0] not in "#;")
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs}


def commands_of_units(folder: Path = DEPLOY) -> dict[str, Command]:
    """What the units start; `%i` is the port."""
    return {
        name.strip("@"): tuple(shlex.split(read_unit(name, folder)["ExecStart"][0])[1:])
        for name in UNITS
    }


def commands_of_compose() -> dict[str, Command]:
    (compose,) = read_yaml(DEPLOY / "compose.yaml")
    services = compose["services"]
    return {name.strip("@"): tuple(services[name.strip("@")]["command"][1:]) for name in UNITS}


def commands_of_kubernetes() -> dict[str, Command]:
    found = {}
    for name in UNITS:
        documents = read_yaml(DEPLOY / f"kubernetes/{name.strip('@')}.yaml")
        (workload,) = (each for each in documents if each["kind"] in WORKLOADS)
        spec = workload["spec"].get("jobTemplate", workload)["spec"]
        (container,) = spec["template"]["spec"]["containers"]
        found[name.strip("@")] = tuple(container["command"][1:])
    return found


def read_health_check() -> list[str]:
    """The command with which the image asks its web server."""
    text = (DEPLOY / "docker/Dockerfile").read_text(encoding="utf-8")
    (found,) = re.findall(r"HEALTHCHECK [^\n]*\\\n +CMD (\[.*\])$", text, re.MULTILINE)
    command: list[str] = json.loads(found)
    return command
