"""An account's requests in windows, newest first, however many there are.

What the tally counts (loop, status, priority) comes in numbered pages with an exact total. Dates
and words are not counted anywhere: there the way leads from the last row to older ones.
"""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import F, Q, Subquery, TextField
from django.db.models.functions import Cast, Left

from reviews.lifecycle import settling, states
from reviews.markdown import extract_headline
from reviews.models import Request, RequestQuerySet
from reviews.queries import listing, search
from web.days import midnight

PER_PAGE = 30
MAX_PAGES = 10_000
OPEN = "open"  # pending or claimed
TEXT, ANSWER = 200, 80  # characters of each that a row shows


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the filters say; '' and None say nothing. Dates are in the reader's time zone."""

    account_id: str
    q: str = ""
    loop: str = ""
    status: str = ""
    priority: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def is_counted(self) -> bool:
        """Whether an exact total is to be had without counting rows."""
        return not (self.q.strip() or self.since or self.until or self.status == OPEN)


@dataclass(frozen=True, slots=True)
class Window:
    """One page. `total` and `number` where it is counted; `older` is the id to go on behind."""

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


def read_page(chosen: Chosen, typed: str) -> Window:
    """A numbered page; the first for what is no number, an empty one behind the last."""
    is_number = typed.isascii() and typed.isdigit() and len(typed) < 9
    number = min(max(int(typed), 1), MAX_PAGES) if is_number else 1
    scope = listing.scope_to_account(chosen.account_id)
    if chosen.loop:
        scope = listing.scope_to_account_in_loop(chosen.account_id, chosen.loop)
    window = listing.ListParams(
        status=chosen.status or None,
        priority=chosen.priority or None,
        sort=listing.DEFAULT_ORDER,
        limit=PER_PAGE,
        offset=(number - 1) * PER_PAGE,
    )
    page = listing.fetch(scope, window)
    found = Request.objects.created_by(chosen.account_id).filter(pk__in=page.ids)
    rows = described(found) if page.ids else []
    return Window(rows, total=page.total, number=number, is_first=number == 1)


def read_behind(chosen: Chosen, behind: str | None) -> Window:
    """The newest that match, behind the request with that id. It settles first what is due."""
    settling.settle_first(settling.scope_to_account(chosen.account_id))
    found = matching(chosen)
    if behind is not None:
        mine = Request.objects.created_by(chosen.account_id)
        at = Subquery(mine.filter(pk=behind).values("created_at")[:1])
        is_older = Q(created_at__lt=at) | Q(created_at=at, id__lt=behind)
        found = found.filter(is_older, created_at__lte=at)  # where the index is entered
    if chosen.q.strip():
        found = search.find_newest(
            found, account_id=chosen.account_id, typed=chosen.q, count=PER_PAGE + 1
        )
    rows = described(found[: PER_PAGE + 1])
    older = rows[PER_PAGE - 1].pk if len(rows) > PER_PAGE else None
    return Window(rows[:PER_PAGE], is_first=behind is None, older=older)


def matching(chosen: Chosen) -> RequestQuerySet:
    """What every filter but the words lets through, newest first."""
    found: RequestQuerySet = Request.objects.created_by(chosen.account_id)
    if chosen.loop:
        found = found.filter(loop_id=chosen.loop)
    if chosen.status == OPEN:
        found = found.filter(status__in=states.OPEN)
    elif chosen.status:
        found = found.filter(status=chosen.status)
    if chosen.priority:
        found = found.filter(priority=chosen.priority)
    if chosen.since:
        found = found.filter(created_at__gte=midnight(chosen.since))
    if chosen.until and (end := midnight(chosen.until, days_later=1)):
        found = found.filter(created_at__lt=end)
    return found.order_by("-created_at", "-id")


def described(requests: Any) -> list[Any]:
    """The rows with what a line of the list shows: `text`, `answer`, `now`, and of the loop
    its name and icon."""
    columns: dict[str, Any] = {
        "text": Left("request_text", TEXT),
        "answer_json": Left(Cast("response_data", TextField()), ANSWER),
    }
    rows = (
        requests.with_clock()
        .annotate(**columns, loop_name=F("loop__name"), loop_icon=F("loop__icon"))
        .only("id", "loop_id", "priority", "status", "created_at", "timeout_at", "response_at")
    )
    if not requests.query.is_sliced:
        rows = rows.order_by("-created_at", "-id")
    found = list(rows)
    for row in found:
        row.headline = extract_headline(row.text)
        row.answer = spoken(row.answer_json)
    return found


def spoken(answer: str | None) -> str:
    """The beginning of an answer's JSON without its punctuation; '' where there is none."""
    if answer is None:
        return ""
    try:
        value = json.loads(answer)
    except ValueError:  # cut off
        return answer.lstrip('["') + " …"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
