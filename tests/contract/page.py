"""Builds docs/contract.md from the rows and the tests that check them."""

from pathlib import Path

from tests.contract.holders import find_holders
from tests.contract.rows import SECTIONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "contract.md"

HEAD = """\
# The contract, row by row

Every promise of the interface with the tests that check it. `python -m tests.contract` writes this
page. A test fails if a row has no test, a test names an unknown row, or this page is out of date.
"""


def render() -> str:
    """The whole page as Markdown."""
    holders = find_holders()
    parts = [HEAD]
    for title, rows in SECTIONS.items():
        lines = [f"## {title}\n", "| Row | Promise | Checked by |", "|---|---|---|"]
        for row, promise in rows.items():
            held = "<br>".join(f"`{test}`" for test in holders.get(row, []))
            lines.append(f"| `{row}` | {_cell(promise)} | {held} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _cell(text: str) -> str:
    """Escapes what Markdown would read as markup inside a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
