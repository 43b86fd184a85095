"""Writes docs/performance.md from the figures of a run and the text of bench/page.md."""

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from bench.outcome import Goal, Part, table
from local.apps import ROOT

TEMPLATE = Path(__file__).parent / "page.md"
PAGE = ROOT / "docs" / "performance.md"
GOALS = ["what", "goal", "stretch", "measured", ""]


def write(parts: dict[str, Part]) -> str:
    """Rewrites the page; returns its name."""
    tables = {name: text for part in parts.values() for name, text in part.tables.items()}
    rows = [goal.cells() for part in parts.values() for goal in part.goals]
    tables |= {"goals": table(GOALS, rows), "machine": machine()}
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, value in tables.items():
        text = text.replace(f"{{{{ {name} }}}}", value)
    PAGE.write_text(text, encoding="utf-8")
    return str(PAGE.relative_to(ROOT))


def machine() -> str:
    """Describes the machine and the time of the run."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    today = datetime.now(UTC)
    return (
        f"{today.day} {today:%B %Y}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB,"
        f" {platform.system()}, Python {platform.python_version()}, PostgreSQL 18, load average"
        f" {os.getloadavg()[2]:.0f}"
    )


def webhook_goals(text: str) -> list[Goal]:
    """Reads the goals from the last column of the webhooks' table."""
    ratios = {row[0]: row[-1] for row in (re.findall(r"[^|]+", line) for line in text.split("\n"))}
    found = {name.strip(): ratio.strip() for name, ratio in ratios.items()}
    at_once = next(ratio for name, ratio in found.items() if name.startswith("0 ms"))
    late = next(ratio for name, ratio in found.items() if name.startswith("threads"))
    return [
        Goal("webhooks at 0 ms against bare `requests`", 0.7, 0.85, float(at_once)),
        Goal("webhooks at 200 ms against threads ÷ latency", 0.9, 0.95, float(late)),
    ]
