"""The tags that every template may use."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.http import HttpRequest
from django.template import Context, Template
from django.utils import timezone

from web.charts import Chart, Series, nice_step
from web.error_pages import SYMBOLS, error_page
from web.humanize import format_distance, format_duration, format_time_left

NOON = datetime(2026, 3, 3, 12, 0, 7, tzinfo=UTC)


def drawn(source: str, **values: object) -> str:
    return Template("{% load design charts loop_icon %}" + source).render(Context(values))


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (0, "just now"),
        (4.9, "just now"),
        (42, "42 s ago"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (2 * 3600, "2 h ago"),
        (3 * 86400, "3 d ago"),
        (8 * 86400, "23 Feb"),
        (400 * 86400, "27 Jan 2025"),
        (-42, "in 42 s"),
        (-7200, "in 2 h"),
    ],
)
def test_distances(ago: float, said: str) -> None:
    assert format_distance(NOON - timedelta(seconds=ago), NOON) == said


def test_a_duration_is_rounded_down() -> None:
    assert [format_duration(seconds) for seconds in (0, 59.9, 95, 86399)] == [
        "0 s",
        "59 s",
        "1 min",
        "23 h",
    ]


def test_the_time_left_has_seconds_in_the_last_minute_alone() -> None:
    times = (-1, 59.9, 60, 299, 3599, 7380, 200_000)
    assert [format_time_left(seconds) for seconds in times] == [
        *("0 s", "59 s", "1 min", "4 min", "59 min", "2 h 3 min", "2 d"),
    ]


def test_a_moment_is_in_the_time_zone_of_the_reader() -> None:
    with timezone.override(ZoneInfo("Europe/Berlin")):
        machine = 'datetime="2026-03-03T12:00:07Z"'
        assert (
            drawn("{% moment m 'exact' %}", m=NOON)
            == f"<time {machine}>3 Mar 2026, 13:00:07 CET</time>"
        )
        assert f'<time {machine} title="3 Mar 2026, 13:00 CET">' in drawn("{% moment m %}", m=NOON)
    assert "–" in drawn("{% moment m %}", m=None)


def test_an_icon_speaks_only_with_a_label() -> None:
    assert 'aria-hidden="true"' in drawn("{% icon 'plus' %}")
    assert 'role="img" aria-label="&lt;b&gt;"' in drawn("{% icon 'x' label %}", label="<b>")
    assert 'icons.svg#flask"' in drawn("{% loop_icon 'beaker' %}")
    assert 'icons.svg#users-group"' in drawn("{% loop_icon name %}", name='"><script>')


def test_the_steps_of_an_axis_are_round() -> None:
    steps = [nice_step(highest) for highest in (0, 1, 3, 7, 23, 99, 1204)]
    assert steps == [1, 1, 1, 2, 10, 50, 500]


def test_a_chart_has_axes_titles_and_a_table() -> None:
    series = [Series("answered", [3, 0, 7]), Series("timed out", [1, 0, None])]
    html = drawn(
        "{% chart c %}", c=Chart("Answers", ["1 Mar", "2 Mar", "3 Mar"], series, "requests")
    )
    assert html.count('<rect class="series-1" x=') == 2
    assert "<title>1 Mar, timed out: 1 requests</title>" in html
    assert ">8</text>" in html
    row = '<th scope="row">3 Mar</th><td class="figure">7</td><td class="figure">–</td>'
    assert row in re.sub(r">\s+<", "><", html)
    assert " style=" not in html


def test_lines_leave_a_gap_where_a_number_is_missing() -> None:
    chart = Chart("Seconds", list("abcd"), [Series("p50", [1.5, None, 2, 4])], kind="lines")
    assert len(chart.lines()) == 1
    assert next(point["label"] for point in chart.points()) == "a, p50: 1.5"


def test_a_chart_of_nothing_says_so() -> None:
    assert "No data yet" in drawn("{% chart c %}", c=Chart("X", ["a"], [Series("s", [0])]))


@pytest.mark.parametrize("status", SYMBOLS)
def test_pages_of_errors_need_no_database(status: int) -> None:
    answer = error_page(HttpRequest(), status, "Bad request", "Try again.")
    html = answer.content.decode()
    assert answer.status_code == status
    assert f"Error {status}" in html
    assert "<h1>Bad request</h1>" in html
    assert "Sign in" not in html
