"""A reviewer's progress: the questions answered and skipped in one tab, and the next one.

The URL contains the progress: each tab has its own, and a reload changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from db.ids import normalize_id
from portal.inbox_filter import UNFILTERED, InboxFilter
from reviews.queries.open_questions import Waiting, read_waiting

MAX_READ = 100  # questions in which the next and the previous one are looked for
MAX_SKIPPED = 30


@dataclass(frozen=True, slots=True)
class Progress:
    """The questions answered and skipped in one tab. `sent` is the one answered last.

    `chosen` is the filter of the inbox from which the person came.
    """

    answered: int = 0
    skipped: tuple[str, ...] = ()
    sent: str | None = None
    chosen: InboxFilter = UNFILTERED

    @classmethod
    def read(cls, request: HttpRequest) -> "Progress":
        """Reads the progress from the URL; invalid values count as missing."""
        typed = request.GET.get("n", "")
        is_number = typed.isascii() and typed.isdigit() and len(typed) <= 4
        ids = (normalize_id(raw) for raw in request.GET.get("skipped", "").split(".")[:MAX_SKIPPED])
        return cls(
            answered=int(typed) if is_number else 0,
            skipped=tuple(request_id for request_id in ids if request_id),
            sent=normalize_id(request.GET.get("sent", "")),
            chosen=InboxFilter.read(request),
        )

    def after_answer(self, request_id: str) -> "Progress":
        return replace(self, answered=self.answered + 1, sent=request_id)

    def skip(self, request_id: str) -> "Progress":
        """Adds a skipped question; above MAX_SKIPPED the oldest may be offered again."""
        return replace(self, sent=None, skipped=(*self.skipped, request_id)[-MAX_SKIPPED:])

    def build_query(self) -> str:
        """Builds the query of a URL, with its question mark; '' if it is empty."""
        params = {
            "n": str(self.answered or ""),
            "skipped": ".".join(self.skipped),
            "sent": self.sent or "",
            **self.chosen.params,
        }
        query = urlencode({name: value for name, value in params.items() if value})
        return f"?{query}" if query else ""

    def build_url(self, request_id: str) -> str:
        return reverse("review", kwargs={"request_id": request_id}) + self.build_query()


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a question among those that the person can answer now.

    `number` counts from 1 and is 0 for a question not among the first. Both numbers include the
    answered questions. With `is_more` there may be more. The other fields are URLs, or '' for none.
    """

    number: int
    total: int
    is_more: bool
    previous: str
    following: str
    skip: str


def read_next(progress: Progress, user_id: str) -> Waiting:
    """Reads the questions to answer that match the filter, the most urgent first."""
    return read_waiting(user_id, MAX_READ, progress.chosen)


def find_place(progress: Progress, waiting: Waiting, request_id: str) -> Place:
    """Finds the position of the question."""
    ids = waiting.ids
    at = ids.index(request_id) if request_id in ids else None
    unsent = replace(progress, sent=None)
    following = ids if at is None else ids[at + 1 :]
    skipping = progress.skip(request_id)
    unskipped = find_unskipped(skipping, ids)
    return Place(
        number=0 if at is None else progress.answered + at + 1,
        total=progress.answered + waiting.total,
        is_more=waiting.is_partial,
        previous=unsent.build_url(ids[at - 1]) if at else "",
        following=unsent.build_url(following[0]) if following else "",
        skip=skipping.build_url(unskipped) if unskipped else "",
    )


def find_unskipped(progress: Progress, ids: Sequence[str]) -> str | None:
    """Returns the first question that was not skipped."""
    return next((each for each in ids if each not in progress.skipped), None)
