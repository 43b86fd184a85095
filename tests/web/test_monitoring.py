"""The board and the alerts of deploy/monitoring use metrics that exist, and they parse."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from prometheus_client import REGISTRY

from config.metrics_page import DatabaseNumbers
from tests.processes.stack import ROOT

FOLDER = ROOT / "deploy" / "monitoring"
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    not PROMTOOL, reason="promtool is not installed (.ci/run installs Debian's prometheus)"
)


def read_alerts() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    return list(group["rules"])


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in read_alerts())
    board = json.loads((FOLDER / "grafana.json").read_text())
    for panel in board["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.mark.django_db
def test_every_metric_exists(client: Client) -> None:
    known = {family.name for family in [*REGISTRY.collect(), *DatabaseNumbers().collect()]}
    used = {name for each in expressions() for name in re.findall(r"reviewloop_\w+", each)}
    ours = {name for name in known if name.startswith("reviewloop_")}
    assert {re.sub(r"_(total|bucket|count|sum)$", "", name) for name in used} == ours


def test_every_alert_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    assert all(f"`{rule['alert']}`" in page for rule in read_alerts())


@needs_promtool
def test_promtool_takes_the_configuration(tmp_path: Path) -> None:
    for name in ("prometheus.yml", "alerts.yml"):
        shutil.copy(FOLDER / name, tmp_path)
    (tmp_path / "token").write_text("a token")
    file = tmp_path / "prometheus.yml"
    file.write_text(file.read_text().replace("/etc/prometheus/reviewloop-token", "token"))
    check("check", "config", str(file))


@needs_promtool
def test_promtool_takes_the_expressions_of_the_board(tmp_path: Path) -> None:
    rules = [
        {"record": f"board:{number}", "expr": each.replace("$__rate_interval", "5m")}
        for number, each in enumerate(expressions())
    ]
    file = tmp_path / "board.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]}))
    check("check", "rules", str(file))


@needs_promtool
def test_the_alerts_fire_when_they_should(tmp_path: Path) -> None:
    """A sweep that never ran, errors, and a service that is gone; nothing while all is well."""
    shutil.copy(FOLDER / "alerts.yml", tmp_path)
    file = tmp_path / "cases.yml"
    file.write_text(yaml.safe_dump({"rule_files": ["alerts.yml"], "tests": [*cases()]}))
    check("test", "rules", str(file))


def cases() -> Iterator[dict[str, Any]]:
    well = {
        "reviewloop_database_up": "1x30",
        'reviewloop_sweep_lag_seconds{sweep="settle_overdue"}': "1x30",
        'reviewloop_calls_total{status="200"}': "0+600x30",
        'reviewloop_calls_total{status="503"}': "0+1x30",
        'reviewloop_oldest_due_seconds{kind="push"}': "2x30",
        'reviewloop_oldest_due_seconds{kind="delivery"}': "2x30",
        "reviewloop_open_circuits": "0x30",
        "reviewloop_database_connections": "10x30",
        "reviewloop_database_connections_limit": "100x30",
        'reviewloop_mail_failures_total{kind="queue"}': "0x30",
    }
    every = {rule["alert"] for rule in read_alerts()}
    for change, fires in (
        ({}, set()),
        ({"reviewloop_database_up": "0x30"}, {"ReviewLoopDown"}),
        ({"reviewloop_database_up": None}, {"ReviewLoopDown"}),
        (
            {'reviewloop_sweep_lag_seconds{sweep="settle_overdue"}': " ".join(["+Inf"] * 31)},
            {"ReviewLoopBackgroundWorkStopped"},
        ),
        ({'reviewloop_calls_total{status="503"}': "0+60x30"}, {"ReviewLoopErrors"}),
        ({'reviewloop_oldest_due_seconds{kind="push"}': "999x30"}, {"ReviewLoopNotificationsWait"}),
        (
            {'reviewloop_oldest_due_seconds{kind="delivery"}': "999x30"},
            {"ReviewLoopDeliveriesWait"},
        ),
        ({"reviewloop_database_connections": "90x30"}, {"ReviewLoopConnectionsRunOut"}),
        ({'reviewloop_mail_failures_total{kind="queue"}': "0+2x30"}, {"ReviewLoopMailFails"}),
    ):
        series = {name: values for name, values in {**well, **change}.items() if values}
        yield {
            "interval": "1m",
            "input_series": [{"series": name, "values": each} for name, each in series.items()],
            "promql_expr_test": [
                {
                    "expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}}) or vector(0)',
                    "eval_time": "20m",
                    "exp_samples": [{"labels": "{}", "value": int(name in fires)}],
                }
                for name in sorted(every)
            ],
        }


def check(*arguments: str) -> None:
    done = subprocess.run(
        [str(PROMTOOL), *arguments], capture_output=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
