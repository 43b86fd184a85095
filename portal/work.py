"""The page of a reviewer's own answers, with times and feedback."""

from typing import Any

from django.db import connection
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from portal.access import page
from reviews import outline
from reviews.models import Answer
from reviews.prose import render_headline
from web.guards import SignedInRequest
from web.humanize import format_count, format_countdown
from web.keyset import read_cursor, read_page

PER_PAGE = 30
DAYS = 30
MAX_COUNTED = 10_000
MAX_MEASURED = 1_000  # the newest, for times and feedback

_OF_PERSON = """person_id = %(person)s
           AND answered_at > statement_timestamp() - make_interval(days => %(days)s)"""
_STATS = f"""
SELECT (SELECT count(*) FROM (
          SELECT FROM reviews_answer
           WHERE {_OF_PERSON} LIMIT {MAX_COUNTED + 1:d}) AS counted),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY took), count(f.request_id)
  FROM (SELECT request_id, answered_at - asked_at AS took
          FROM reviews_answer
         WHERE {_OF_PERSON}
         ORDER BY answered_at DESC, id DESC LIMIT {MAX_MEASURED:d}) AS answered
  LEFT JOIN reviews_feedback f ON f.request_id = answered.request_id
"""  # noqa: S608 (nothing in it comes from outside)


@page
def work(request: SignedInRequest) -> HttpResponse:
    """Renders the page in four statements: session, person, stats, answers with their feedback."""
    person_id = request.user.pk
    rows = Answer.objects.of_reviewer(person_id)
    rows = rows.select_related("request__loop", "request__feedback")
    rows = rows.defer("request__context", "request__default_response", "request__response_data")
    answers = read_page(rows, after=read_cursor(request), size=PER_PAGE, moment="answered_at")
    context = {
        "rows": [build_row(answer) for answer in answers.rows],
        "older": answers.older,
        "is_first": answers.is_first,
        "stats": read_stats(person_id),
        "days": DAYS,
    }
    return render(request, "portal/work.html", context)


def build_row(answer: Answer) -> dict[str, Any]:
    item = answer.request
    feedback = getattr(item, "feedback", None)
    return {
        "item": item,
        "headline": render_headline(item.request_text),
        "answer": item.format_answer(answer.data),
        "comment": answer.comment or "",
        "answered_at": answer.answered_at,
        "took": format_countdown((answer.answered_at - answer.asked_at).total_seconds()),
        "feedback": outline.format_outline(feedback.body) if feedback else "",
    }


def read_stats(person_id: str) -> dict[str, Any]:
    """Reads the last days' number of answers, their median time, and how many have feedback.

    `of` is the number of answers read, if not all.
    """
    with connection.cursor() as cursor:
        cursor.execute(_STATS, {"person": person_id, "days": DAYS})
        answers, median, with_feedback = cursor.fetchone()
    return {
        "answers": answers if answers <= MAX_COUNTED else f"{format_count(MAX_COUNTED)}+",
        "median": "–" if median is None else format_countdown(median.total_seconds()),
        "feedback": with_feedback,
        "of": _("of the newest %(max_measured)s") % {"max_measured": format_count(MAX_MEASURED)}
        if answers > MAX_MEASURED
        else "",
    }
