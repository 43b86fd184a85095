"""docs/security.md names tests that exist, for every row."""

import re
from pathlib import Path

import pytest

from tests.contract.holders import TESTS

PAGE = TESTS.parent / "docs/security.md"
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def read_rows() -> list[list[str]]:
    """The cells of every row of the tables of what stops whom."""
    lines = PAGE.read_text(encoding="utf-8").split("## ASVS")[0].splitlines()
    rows = [line.strip("|").split(" | ") for line in lines if line.startswith("| ")]
    return [row for row in rows if row[0].strip() != "Asset"]


def is_defined(file: str, test: str, tests: Path = TESTS) -> bool:
    path = tests / file
    return path.exists() and bool(re.search(rf"def {test}\b", path.read_text(encoding="utf-8")))


def test_there_are_sixty_rows() -> None:
    assert len(read_rows()) >= 60


@pytest.mark.parametrize("row", read_rows(), ids=lambda row: row[0].strip())
def test_a_row_names_tests_that_exist(row: list[str]) -> None:
    asset, attacker, stops, shown = row
    assert all(cell.strip() for cell in (asset, attacker, stops))
    named = TEST.findall(shown)
    assert named
    for file, test in named:
        assert is_defined(file, test), f"{file}::{test}"
