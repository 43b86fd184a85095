"""docs/security.md names tests that exist, for every row."""

import re

from tests.contract.holders import TESTS

PAGE = TESTS.parent / "docs/security.md"
TEST = re.compile(r"`([\w/]+\.py)((?:::\w+)*)`")


def read_rows() -> list[list[str]]:
    """The cells of every row of the tables of what stops whom."""
    lines = PAGE.read_text(encoding="utf-8").split("## ASVS")[0].splitlines()
    rows = [line.strip("|").split(" | ") for line in lines if line.startswith("| ")]
    return [row for row in rows if row[0].strip() != "Asset"]


def is_defined(file: str, names: str) -> bool:
    """Whether the file exists and has each of the names, such as `::TestCodes::test_twice`."""
    path = TESTS / file
    source = path.read_text(encoding="utf-8") if path.exists() else ""
    return bool(source) and all(
        re.search(rf"(?:def|class) {name}\b", source) for name in names.split("::")[1:]
    )


def test_every_row_names_tests_that_exist() -> None:
    for row in read_rows():
        asset, attacker, stops, shown = row
        assert all(cell.strip() for cell in (asset, attacker, stops)), row
        named = TEST.findall(shown)
        assert named, row
        for file, names in named:
            assert is_defined(file, names), f"{row}: {file}{names}"
