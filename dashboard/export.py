"""Downloads of the filtered requests, as CSV or JSON, of any length.

The response is made in pages while the client takes it: each page is a short statement after the
place of the last row of the page before, which may have been deleted since. So neither memory nor a
transaction grows with the number of rows, and no thread is held between two parts of the response
(front/answering.py).
"""

import csv
import io
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard import request_list
from dashboard.access import page
from dashboard.forms.requests import STATUSES, RequestFilterForm
from dashboard.loop_choices import read_loop_choices
from db.time_limits import limited
from db.times import iso, seconds_between
from reviews.exports import AlreadyExporting, Lease, begin
from reviews.models import Request
from reviews.queries.single_read import read_many_as_json
from web.guards import SignedInRequest
from web.keyset import Place

PAGE = 200  # requests that are read at a time
COLUMNS = (
    "id", "created_at", "loop", "question", "status", "priority", "answer", "comment",
    "answered_by", "answered_by_name", "answered_by_email", "answered_at",
    "response_time_seconds", "deadline",
)  # fmt: skip
# Spreadsheets take a cell that begins like this for a formula, also with wide signs, and behind
# spaces and invisible characters; a plain number is none.
_FORMULA = re.compile(
    r"\ *[\t\r\n]|[\s\u200b-\u200f\u2060-\u2069\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]"
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")


@dataclass(frozen=True)
class Format:
    """How a file is written: `render` writes the rows of a page, from the account and their ids."""

    kind: str
    content_type: str
    render: Callable[[str, list[str]], str]
    head: str
    between: str  # two pages with rows
    tail: str


@page
def as_csv(request: SignedInRequest) -> Any:  # a response in parts is no HttpResponse
    return download(request, CSV)


@page
def as_json(request: SignedInRequest) -> Any:
    return download(request, JSON)


def download(request: SignedInRequest, chosen: Format) -> HttpResponseBase:
    """Responds with the file, or goes back to the list: for wrong filters, or a second export."""
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
    response = StreamingHttpResponse(
        Export(filters, lease, chosen), content_type=f"{chosen.content_type}; charset=utf-8"
    )
    name = f"requests-{timezone.localdate():%Y-%m-%d}.{chosen.kind}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def describe(kind: str, filters: dict[str, Any]) -> str:
    """Describes an export in the audit log: 'CSV', or 'CSV, status=timeout' if it is filtered.

    Words that were typed are left out, 'CSV, person=…': they may name somebody, and the entry stays
    after that person is erased.
    """
    chosen = (
        f"{name}={'…' if name in ('q', 'person') else value}"
        for name, value in filters.items()
        if value
    )
    return ", ".join([kind.upper(), *chosen])


class Export:
    """The parts of a file, page by page. Closing it ends the lease, wherever it has come to."""

    def __init__(self, filters: request_list.Filters, lease: Lease, chosen: Format) -> None:
        self._filters, self._lease, self._format = filters, lease, chosen
        self._parts = self._read()

    def __iter__(self) -> Iterator[str]:
        return self._parts

    def close(self) -> None:
        self._parts.close()
        with limited(settings.WEB_DATABASE_SECONDS):
            self._lease.end()

    def _read(self) -> Generator[str, None, None]:
        after: Place | None = None
        is_first, has_rows = True, False
        while is_first or after:
            with limited(settings.WEB_DATABASE_SECONDS):
                self._lease.renew()
                if is_first:
                    request_list.settle_first(self._filters)
                selected, rest = request_list.select_after(self._filters, after, count=PAGE)
                places = list(selected.values_list("created_at", "pk"))
                ids = [pk for _, pk in places]
                rows = self._format.render(self._filters.account_id, ids)
            start = self._format.head if is_first else ""
            yield start + (self._format.between if has_rows and rows else "") + rows
            has_rows = has_rows or bool(rows)  # ids may have gone before they were read
            after, is_first = (places[-1] if len(places) == PAGE else rest), False
        yield self._format.tail


def render_csv(account_id: str, ids: list[str]) -> str:
    """Renders a page of rows."""
    own = Request.objects.created_by(account_id).filter(pk__in=ids)
    rows = own.select_related("loop", "response_by").order_by("-created_at", "-id")
    items = rows.defer("context", "default_response", "image_url", "callback_url")
    return write_csv(map(make_safe, build_row(item)) for item in items)


def write_csv(rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def build_row(item: Request) -> tuple[Any, ...]:
    """Builds the cells of a request, in the order of COLUMNS."""
    person, answered_at = item.response_by, item.response_at
    has_answer = item.response_data is not None
    return (
        item.pk,
        iso(item.created_at),
        item.loop.name,
        item.request_text,
        STATUSES[item.status],
        item.priority,
        item.format_answer(item.response_data) if has_answer else "",
        item.response_comment,
        item.answered_by,
        person.name if person else "",
        person.email if person else "",
        iso(answered_at) if answered_at else "",
        seconds_between(item.created_at, answered_at) if answered_at else "",
        iso(item.timeout_at),
    )


def make_safe(cell: Any) -> str:
    """Writes a cell; an apostrophe before a formula keeps spreadsheets from computing it."""
    text = "" if cell is None else str(cell)
    is_formula = _FORMULA.match(text) and not _NUMBER.match(text)
    return f"'{text}" if is_formula else text


def render_json(account_id: str, ids: list[str]) -> str:
    """Renders a page of an array of requests, each as GET /api/requests/{id} returns it."""
    return ",\n".join(read_many_as_json(ids, user_id=account_id))


CSV = Format("csv", "text/csv", render_csv, write_csv([COLUMNS]), "", "")
JSON = Format("json", "application/json", render_json, "[", ",\n", "]\n")
