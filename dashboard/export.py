"""Downloads of the filtered requests, as CSV or JSON, of any length.

The response is made in pages while the client takes it: each page is a short statement after the
place of the last row of the page before, which may have been deleted since. A page of large rows is
made in parts (`reviews.sizes`). So neither memory nor a transaction grows with the number of rows
or answers, and no thread is held between two parts of the response (web/server/application.py).
"""

import re
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard import request_list
from dashboard.access import page
from dashboard.downloads import Download, respond
from dashboard.forms.requests import STATUSES, RequestFilterForm
from dashboard.loop_choices import read_loop_choices
from db.columns import dumps
from db.times import iso, seconds_between
from reviews import sizes
from reviews.exports import AlreadyExporting, begin
from reviews.models import Request
from reviews.queries.single_read import read_many_as_json
from reviews.response_types.approval import APPROVAL
from web.guards import SignedInRequest
from web.keyset import Place

PAGE = 200  # requests that are read at a time
COLUMNS = (
    "id", "created_at", "loop", "question", "status", "priority", "answer", "comment",
    "answered_by", "answered_by_name", "answered_by_email", "answered_at",
    "response_time_seconds", "deadline", "metadata", "policy_rule", "outcome", "answers_received",
)  # fmt: skip
# Spreadsheets read a cell with such a beginning as a formula, also with wide signs, and after
# spaces, quotes and invisible characters; a plain number is no formula. A spreadsheet that
# separates by semicolons or tabs ignores quotes inside a cell and ends the cell at the next
# separator or line.
_BEGIN = r"(?:\A|(?<=[;\t\r\n]))"
_BLANKS = r"(?:[^\S\t\r\n]|[\"\u200b-\u200f\u2060-\u2069\ufeff])*"
_FORMULA = re.compile(rf"\A(?=\ *[\t\r\n])|{_BEGIN}(?={_BLANKS}[=+\-@\uff1d\uff0b\uff0d\uff20])")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
_QUOTE = '"'
_SPECIAL = re.compile(r'[,;\t\r\n"]')
BYTE_ORDER_MARK = "\ufeff"  # without it Excel does not read UTF-8


@dataclass(frozen=True)
class Format:
    """A file format: `render` writes some rows, given the account and the ids."""

    kind: str
    content_type: str
    render: Callable[[str, list[str]], str]
    head: str
    between: str  # two parts with rows
    tail: str


@page
def as_csv(request: SignedInRequest) -> Any:  # a response in parts is no HttpResponse
    return download(request, CSV)


@page
def as_json(request: SignedInRequest) -> Any:
    return download(request, JSON)


def download(request: SignedInRequest, chosen: Format) -> HttpResponseBase:
    """Responds with the file; redirects to the list for invalid filters or a second export."""
    back = redirect(f"{reverse('requests')}?{request.GET.urlencode()}".rstrip("?"))
    loops = read_loop_choices(request.user.pk, request.GET.get("loop", ""))
    form = RequestFilterForm(request.GET, loops=loops)
    if not form.is_valid():
        return back
    filters = request_list.Filters(account_id=request.user.pk, **form.cleaned_data)
    try:
        subject = describe(chosen.kind, form.cleaned_data)
        lease = begin(account_id=request.user.pk, action="request.exported", subject=subject)
    except AlreadyExporting:
        messages.warning(request, _("Another export is running. Try again when it has finished."))
        return back
    return respond(
        Download(request, write(filters, chosen), lease),
        content_type=chosen.content_type,
        name=f"requests-{timezone.localdate():%Y-%m-%d}.{chosen.kind}",
    )


def describe(kind: str, filters: dict[str, Any]) -> str:
    """Describes an export in the audit log: 'CSV', or 'CSV, status=timeout' if it is filtered.

    Typed words are left out ('CSV, person=…'): they may name a person, and the entry stays after
    that person is erased.
    """
    chosen = (
        f"{name}={'…' if name in ('q', 'person', 'metadata') else value}"
        for name, value in filters.items()
        if value
    )
    return ", ".join([kind.upper(), *chosen])


def write(filters: request_list.Filters, chosen: Format) -> Generator[str, None, None]:
    """Writes the parts of a file, page by page."""
    request_list.settle_first(filters)
    after: Place | None = None
    start, is_first, has_rows = chosen.head, True, False
    while is_first or after:
        selected, rest = request_list.select_after(filters, after, count=PAGE)
        found = list(selected.values_list("created_at", "pk", sizes.SIZE))
        for ids in sizes.split_sized(row[1:] for row in found):
            rows = chosen.render(filters.account_id, ids)
            yield start + (chosen.between if has_rows and rows else "") + rows
            start, has_rows = "", has_rows or bool(rows)  # rows may be deleted before they are read
        if not found:
            yield start  # each page is a step of the download
            start = ""
        after, is_first = (found[-1][:2] if len(found) == PAGE else rest), False
    yield start + chosen.tail


def render_csv(account_id: str, ids: list[str]) -> str:
    """Renders a page of rows."""
    own = Request.objects.created_by(account_id).filter(pk__in=ids)
    rows = own.select_related("loop", "response_by").order_by("-created_at", "-id")
    items = rows.defer("context", "default_response", "image_url", "callback_url")
    return write_csv(map(make_safe, build_row(item)) for item in items)


def write_csv(rows: Iterable[Iterable[str]]) -> str:
    """Writes lines of cells. Quotes everything that a spreadsheet may read as a separator."""
    return "".join(",".join(map(quote, row)) + "\r\n" for row in rows)


def quote(cell: str) -> str:
    return f'"{cell.replace(_QUOTE, _QUOTE * 2)}"' if _SPECIAL.search(cell) else cell


def build_row(item: Request) -> tuple[Any, ...]:
    """Builds the cells of a request, in the order of COLUMNS."""
    person, answered_at = item.response_by, item.response_at
    return (
        item.pk,
        iso(item.created_at),
        item.loop.name,
        item.request_text,
        STATUSES[item.status],
        item.get_priority_display(),
        format_answer(item),
        item.response_comment,
        item.answered_by,
        person.name if person else "",
        person.email if person else "",
        iso(answered_at) if answered_at else "",
        seconds_between(item.created_at, answered_at) if answered_at else "",
        iso(item.deadline),
        "" if item.metadata is None else dumps(item.metadata),
        item.policy and item.policy["rule"],
        item.outcome,
        item.policy and item.answers_received,
    )


def format_answer(item: Request) -> str:
    """Formats the answer for people; a number with all its digits, without an exponent."""
    answer = item.response_data
    if answer is None:
        return ""
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        return f"{Decimal(repr(answer)):f}"
    if isinstance(answer, dict) and item.response_type != APPROVAL:
        return dumps(answer)
    return item.format_answer(answer)


def make_safe(cell: Any) -> str:
    """Formats a cell. An apostrophe before a formula prevents its computation by spreadsheets."""
    text = "" if cell is None else str(cell)
    return text if _NUMBER.match(text) else _FORMULA.sub("'", text)


def render_json(account_id: str, ids: list[str]) -> str:
    """Renders a page of an array of requests, each as GET /api/requests/{id} returns it."""
    return ",\n".join(read_many_as_json(ids, user_id=account_id))


CSV = Format("csv", "text/csv", render_csv, BYTE_ORDER_MARK + write_csv([COLUMNS]), "", "")
JSON = Format("json", "application/json", render_json, "[", ",\n", "]\n")
