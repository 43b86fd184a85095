"""Answers several questions at once: choose them, review what is said to how many, send."""

from typing import Any

from django.contrib import messages
from django.db.models import TextField
from django.db.models.functions import Cast, Length
from django.db.models.lookups import LessThanOrEqual
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from db.ids import normalize_id
from portal.access import page, select_requests
from portal.answer_form import AnswerForm, build_comment
from portal.inbox_filter import InboxFilter
from reviews import bulk_answers, proposal_table
from reviews.bulk_answers import MAX_REQUESTS, Fate, Result
from reviews.comments import InvalidComment
from reviews.models import Request, RequestQuerySet
from reviews.plain_text import extract_headline
from reviews.queries.open_questions import read_waiting
from reviews.response_types import TYPES
from reviews.response_types.widgets import Choice, Radio
from web.guards import SignedInRequest, action
from web.humanize import format_time_left
from web.languages import translate

MAX_READ = 200  # questions among which those with the same answers are looked for
MAX_LENGTH = 20_000  # characters of a question and its answers; a longer one is answered alone
_TYPES = [name for name, kind in TYPES.items() if kind.takes_bulk_answers]


class Unsuitable(Exception):
    """The selected questions cannot be answered together. The argument is a sentence."""


@page
def choose(request: SignedInRequest) -> HttpResponse:
    """Renders the open questions that have the same answers, in groups."""
    chosen = InboxFilter.read(request)
    waiting = read_waiting(request.user.pk, MAX_READ, chosen)
    found = {
        item.pk: item
        for item in load(Request.objects.filter(response_type__in=_TYPES), waiting.ids)
    }
    groups = bulk_answers.group(found[each] for each in waiting.ids if each in found)
    context = {
        "groups": [describe_group(each) for each in groups],
        "filter": chosen,
        "most": MAX_REQUESTS,
        "most_read": MAX_READ if waiting.total > MAX_READ else 0,
    }
    return render(request, "portal/several/choose.html", context)


@page
def review(request: SignedInRequest) -> HttpResponse:
    """Shows the selected questions with their answers; nothing is sent yet."""
    try:
        items, missing = read_selected(request, request.GET)
    except Unsuitable as error:
        return go_back(request, error)
    return review_page(request, items, missing=missing)


@action("several")
def send(request: SignedInRequest) -> HttpResponse:
    """Answers each selected question by itself, and names those that it could not answer."""
    try:
        items, missing = read_selected(request, request.POST)
    except Unsuitable as error:
        return go_back(request, error)
    if not items:
        return result_page(request, [], missing=missing, answer="")
    chosen = bulk_answers.find_answer(items[0], request.POST.get("answer", ""))
    if chosen is None:
        return review_page(request, items, missing=missing, error=_("Choose one of the options"))
    comment = request.POST.get("comment", "")
    try:
        results = bulk_answers.answer_requests(
            items, person_id=request.user.pk, chosen=chosen, comment=comment
        )
    except InvalidComment as invalid:
        sentence = translate(invalid.args[0])
        return review_page(request, items, missing=missing, comment_error=sentence)
    return result_page(request, results, missing=missing, answer=translate(chosen.label))


def read_selected(request: SignedInRequest, form: QueryDict) -> tuple[list[Request], int]:
    """Returns the selected questions of the person's loops, and how many others were selected.

    One statement, two if some cannot be shown. Raises Unsuitable if they cannot be answered
    together.
    """
    typed = form.getlist("selected")
    ids = list(dict.fromkeys(found for each in typed if (found := normalize_id(each))))
    if not ids:
        raise Unsuitable(_("Select questions first."))
    if len(ids) > MAX_REQUESTS:
        raise Unsuitable(_("Select at most %(most)s questions.") % {"most": MAX_REQUESTS})
    visible = select_requests(request)
    by_id = {item.pk: item for item in load(visible, ids)}
    items = [by_id[each] for each in ids if each in by_id]
    others = [each for each in ids if each not in by_id]
    if others and visible.filter(pk__in=others).exists():
        raise Unsuitable(
            _("Some of these questions are too long to answer together. Answer them one by one.")
        )
    keys = {bulk_answers.find_key(item) for item in items}
    if len(keys) > 1 or None in keys:
        raise Unsuitable(_("These questions have different answers. Answer them one by one."))
    return items, len(ids) - len(items)


def load(among: RequestQuerySet, ids: list[str]) -> RequestQuerySet:
    """Loads what the pages show of these requests, without the large columns and long questions."""
    length = Length("request_text") + Length(Cast("response_config", TextField()))
    short = among.filter(LessThanOrEqual(length, MAX_LENGTH), pk__in=ids)
    rows: RequestQuerySet = short.with_clock().select_related("loop")
    return rows.defer("context", "metadata", "default_response")


def is_open(item: Request, person_id: str) -> bool:
    return item.is_free_for(person_id) and item.timeout_at > item.now


def go_back(request: SignedInRequest, error: Unsuitable) -> HttpResponse:
    messages.warning(request, error.args[0])
    return redirect(reverse("several") + InboxFilter.read(request).build_query())


def review_page(
    request: SignedInRequest,
    items: list[Request],
    *,
    missing: int,
    error: str = "",
    comment_error: str = "",
) -> HttpResponse:
    """Renders those of the selected questions that can still be answered, with the form.

    The status is 422 for an invalid answer.
    """
    open_items = [item for item in items if is_open(item, request.user.pk)]
    if not open_items:
        return go_back(request, Unsuitable(_("None of these questions can be answered any more.")))
    typed, first = request.POST.get("answer"), open_items[0]
    choices = tuple(
        Choice(each.value, translate(each.label), each.value == typed)
        for each in bulk_answers.list_answers(first)
    )
    comment = build_comment(first, request.POST.get("comment", ""), comment_error)
    context = {
        "rows": [describe_row(item) for item in open_items],
        "loop": first.loop,
        "form": AnswerForm(Radio(choices=choices), error, comment, []),
        "lost": len(items) - len(open_items) + missing,
        "filter": InboxFilter.read(request),
        "trouble": _("Error:") if error or comment_error else "",
    }
    status = 422 if context["trouble"] else 200
    return render(request, "portal/several/review.html", context, status=status)


def result_page(
    request: SignedInRequest, results: list[Result], *, missing: int, answer: str
) -> HttpResponse:
    """Renders what became of each question. Of those that the person may not see, only a number."""

    def pick(fate: Fate) -> list[dict[str, Any]]:
        return [describe_result(each.request) for each in results if each.fate is fate]

    context = {
        "answer": answer,
        "sent": pick(Fate.ANSWERED),
        "mine": pick(Fate.MINE),
        "others": pick(Fate.OTHERS),
        "claimed": pick(Fate.CLAIMED),
        "ended": pick(Fate.ENDED),
        "not_allowed": missing + len(pick(Fate.NOT_ALLOWED)),
        "filter": InboxFilter.read(request),
    }
    return render(request, "portal/several/result.html", context)


def describe_group(items: list[Request]) -> dict[str, Any]:
    """Describes a group by its first question; the most urgent ones are shown."""
    first = items[0]
    labels = [translate(each.label) for each in bulk_answers.list_answers(first)]
    return {
        "loop": first.loop,
        "answers": labels,
        "rows": [describe_row(item) for item in items[:MAX_REQUESTS]],
        "is_more": len(items) > MAX_REQUESTS,
    }


def describe_row(item: Request) -> dict[str, Any]:
    return {
        "item": item,
        "headline": extract_headline(item.request_text),
        "left": format_time_left((item.timeout_at - item.now).total_seconds()),
        "proposal": proposal_table.build(item),
    }


def describe_result(item: Request) -> dict[str, Any]:
    """Describes a question with its answer, if somebody had given one before."""
    answer = item.format_answer(item.response_data) if item.response_by_id else ""
    return {"item": item, "headline": extract_headline(item.request_text), "answer": answer}
