"""Pages of an account's requests, newest first; their cost does not grow with the number of rows.

Filters by loop, status and priority have counters, so their pages are numbered and show an exact
total. Dates and search texts have none: there each page links to the next older one by its key.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import F, TextField
from django.db.models.functions import Cast, Left
from django.utils.translation import gettext as _

from reviews.lifecycle import settling, states
from reviews.models import Request, RequestQuerySet
from reviews.models.metadata import write_pairs
from reviews.prose import render_headline
from reviews.queries import listing, metadata, people, search
from reviews.response_types.approval import APPROVAL
from reviews.response_types.approval.words import format_decision
from web.days import midnight
from web.keyset import Place, build_page, format_cursor, select_newest
from web.languages import translate

PER_PAGE = 30
MAX_PAGES = 10_000
MAX_OF_A_PERSON = 1000  # of their requests that one search for words reads
OPEN = "open"  # pending or claimed
MAX_TEXT, MAX_ANSWER = 500, 80  # characters read for a row
MAX_PAIR = 80  # of a name and the beginning of a value
MAX_ESCAPE = len("\\u0000")  # of a character in JSON


@dataclass(frozen=True, slots=True)
class Filters:
    """The chosen filters; '' and None are not set. Dates are in the reader's time zone."""

    account_id: str
    q: str = ""
    loop: str = ""
    status: str = ""
    priority: str = ""
    since: date | None = None
    until: date | None = None
    person: str = ""
    role: str = ""
    metadata: str = ""  # name=value

    @property
    def pairs(self) -> dict[str, str]:
        """The metadata that a request has to have."""
        name, _, value = self.metadata.partition("=")
        return {name: value} if self.metadata else {}

    @property
    def is_counted(self) -> bool:
        """Tells whether the counters, or the index on metadata, give an exact total."""
        is_scanned = self.q.strip() or self.person.strip() or self.since or self.until
        return not (is_scanned or self.status == OPEN)


@dataclass(frozen=True, slots=True)
class RequestPage:
    """One page. Only numbered pages have `total`; the next page begins after the id `older`."""

    rows: list[Any]
    total: int | None = None
    number: int = 1
    is_first: bool = True
    older: str | None = None

    @property
    def start(self) -> int:
        return (self.number - 1) * PER_PAGE + 1

    @property
    def end(self) -> int:
        return self.start + len(self.rows) - 1

    @property
    def newer_page(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def older_page(self) -> int | None:
        return self.number + 1 if self.total is not None and self.end < self.total else None


def read_page(filters: Filters, typed: str) -> RequestPage:
    """Reads a numbered page: the first if `typed` is no number, an empty page after the last."""
    is_number = typed.isascii() and typed.isdigit() and len(typed) < 9
    number = min(max(int(typed), 1), MAX_PAGES) if is_number else 1
    scope = listing.scope_to_account(filters.account_id)
    if filters.loop:
        scope = listing.scope_to_account_in_loop(filters.account_id, filters.loop)
    list_params = listing.ListParams(
        status=filters.status or None,
        priority=filters.priority or None,
        sort=listing.DEFAULT_ORDER,
        limit=PER_PAGE,
        offset=(number - 1) * PER_PAGE,
        pairs=tuple(write_pairs(filters.account_id, filters.pairs)),
    )
    page = listing.fetch(scope, list_params)
    requests = Request.objects.created_by(filters.account_id).filter(pk__in=page.ids)
    rows = read_rows(requests) if page.ids else []
    return RequestPage(rows, total=page.total, number=number, is_first=number == 1)


def read_older(filters: Filters, after: Place | None) -> RequestPage:
    """Reads the page after a place. Settles due requests first."""
    settle_first(filters)
    requests, rest = select_after(filters, after, count=PER_PAGE + 1)
    page = build_page(read_rows(requests), PER_PAGE, is_first=after is None)
    older = page.older or (rest and format_cursor(rest))
    return RequestPage(page.rows, is_first=page.is_first, older=older)


def settle_first(filters: Filters) -> None:
    """Settles the account's due requests before the selection."""
    settling.settle_first(settling.scope_to_account(filters.account_id))


def select_after(
    filters: Filters, after: Place | None, *, count: int
) -> tuple[RequestQuerySet, Place | None]:
    """Selects the newest `count` requests that match, after a place.

    With a person, a search for words reads MAX_OF_A_PERSON of their requests at a time. If it
    selects fewer than `count` and there may be more, the second value is the place of the last
    request read.
    """
    account_id, rest = filters.account_id, None
    requests: RequestQuerySet = select_newest(filter_requests(filters), after=after)
    if filters.person.strip():
        role = filters.role or people.ANSWERED
        most = count if not filters.q.strip() else MAX_OF_A_PERSON
        requests = people.find_newest(
            requests, account_id=account_id, typed=filters.person, role=role, count=most
        )
    if filters.q.strip():
        if filters.person.strip():
            rest = _find_last(requests, MAX_OF_A_PERSON)
        requests = search.find_newest(requests, account_id=account_id, typed=filters.q, count=count)
    return requests.order_by("-created_at", "-id")[:count], rest


def _find_last(requests: RequestQuerySet, most: int) -> Place | None:
    """Finds the place of the last of `most` requests; None where there are fewer."""
    newest = requests.order_by("-created_at", "-id").values_list("created_at", "pk")
    return newest[most - 1 : most].first()


def filter_requests(filters: Filters) -> RequestQuerySet:
    """Returns the requests that match all filters but the search text, newest first."""
    requests: RequestQuerySet = Request.objects.created_by(filters.account_id)
    if filters.loop:
        requests = requests.filter(loop_id=filters.loop)
    if filters.status == OPEN:
        requests = requests.filter(status__in=states.OPEN)
    elif filters.status:
        requests = requests.filter(status=filters.status)
    if filters.priority:
        requests = requests.filter(priority=filters.priority)
    if filters.metadata:
        requests = metadata.keep_those_with(requests, filters.account_id, filters.pairs)
    if filters.since:
        requests = requests.filter(created_at__gte=midnight(filters.since))
    if filters.until and (end := midnight(filters.until, days_later=1)):
        requests = requests.filter(created_at__lt=end)
    return requests.order_by("-created_at", "-id")


def read_rows(requests: Any) -> list[Any]:
    """Reads the rows with what the list shows: `text`, `answer`, `now`, loop name and icon."""
    columns: dict[str, Any] = {
        "text": Left("request_text", MAX_TEXT),
        "answer_json": Left(Cast("response_data", TextField()), MAX_ANSWER),
    }
    rows = (
        requests.with_clock()
        .annotate(**columns, loop_name=F("loop__name"), loop_icon=F("loop__icon"))
        .only(
            "id",
            "loop_id",
            "priority",
            "status",
            "response_type",
            "created_at",
            "timeout_at",
            "response_at",
        )
    )
    if not requests.query.is_sliced:
        rows = rows.order_by("-created_at", "-id")
    items = list(rows)
    for item in items:
        item.headline = render_headline(item.text)
        item.answer = format_answer(item.answer_json, item.response_type)
    return items


def format_answer(answer: str | None, response_type: str = "") -> str:
    """Formats an answer from the first MAX_ANSWER characters of its JSON; '' for no answer."""
    if answer is None:
        return ""
    value, is_cut = parse_beginning(answer)
    if response_type == APPROVAL:
        return translate(format_decision(value))
    text = "; ".join(_list_parts(value)) if isinstance(value, dict) else _write(value)
    return f"{text} …" if is_cut else text


def _list_parts(answer: dict[str, Any]) -> Iterator[str]:
    for name, value in answer.items():
        yield f"{name}: {_write(value)}"


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def parse_beginning(text: str) -> tuple[Any, bool]:
    """Parses JSON of which the end may be missing. Returns its value, and whether it was cut.

    Only a text, a list of texts or an object can be cut. An incomplete escape is left out, and the
    last name and value of an object.
    """
    with suppress(ValueError):
        return json.loads(text), False
    most = MAX_PAIR if text.startswith("{") else MAX_ESCAPE
    for end in range(len(text), max(0, len(text) - most), -1):
        for closing in ('"', '"]', "]", '"}', "}", '"]}', "]}"):
            with suppress(ValueError):
                return json.loads(text[:end] + closing), True
    return text, True
