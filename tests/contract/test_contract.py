"""Every row has a test, every marker names a row, and the page is fresh."""

from pathlib import Path

from tests.contract.holders import find_holders
from tests.contract.page import PAGE, render
from tests.contract.rows import ROWS, SECTIONS


def test_every_row_has_a_test() -> None:
    assert sorted(set(ROWS) - set(find_holders())) == []


def test_every_marker_names_a_row() -> None:
    assert sorted(set(find_holders()) - set(ROWS)) == []


def test_no_row_stands_twice() -> None:
    assert sum(map(len, SECTIONS.values())) == len(ROWS)


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: python -m tests.contract"


def test_markers_are_read_from_the_source(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "import pytest\n"
        "@pytest.mark.contract('a.b', 'a.c')\n"
        "@pytest.mark.django_db\n"
        "def test_it(): ...\n"
        "@pytest.mark.contract('not.counted')\n"
        "def fixture(): ...\n"
    )
    assert find_holders(tmp_path) == {
        "a.b": ["test_one.py::test_it"],
        "a.c": ["test_one.py::test_it"],
    }
