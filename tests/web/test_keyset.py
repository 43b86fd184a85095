"""Cursors: a place in a list, as it stands in a URL."""

from datetime import UTC, datetime

import pytest
from django.http import Http404
from django.test import RequestFactory

from web.keyset import Place, format_cursor, read_cursor

ROW = "0" * 21 + "abc"


def read(cursor: str) -> Place | None:
    return read_cursor(RequestFactory().get("/", {"before": cursor}))


@pytest.mark.parametrize(
    "moment",
    [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2026, 11, 24, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2026, 10, 25, 1, 30, 0, 1, tzinfo=UTC),
    ],
)
def test_a_place_is_read_as_it_was_written(moment: datetime) -> None:
    assert read(format_cursor((moment, ROW))) == (moment, ROW)


def test_the_first_page_has_none() -> None:
    assert read("") is None


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", ROW, "1-\0"),
        *(f"-1-{ROW}", f" 1-{ROW}", f"1.5-{ROW}", f"١-{ROW}", f"{'9' * 18}-{ROW}"),
        *(f"1-{ROW}0", f"1-{ROW.upper()}", f"1-{ROW}\n"),
    ],
)
def test_what_is_no_place_is_not_found(cursor: str) -> None:
    with pytest.raises(Http404):
        read(cursor)


def test_the_last_place_that_there_is() -> None:
    assert read(f"{'9' * 17}-{ROW}") is not None
