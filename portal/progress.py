"""One sitting: how far somebody has come, what they skipped, and which question is next.

All of it travels in the address, so that two tabs are two sittings and a reload changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from db.ids import normalize_id
from portal.queue import answerable_ids

FURTHEST = 100  # waiting questions are counted up to here
MAX_SKIPPED = 30


@dataclass(frozen=True, slots=True)
class Sitting:
    """`sent` is the question that was answered last."""

    answered: int = 0
    skipped: tuple[str, ...] = ()
    sent: str | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> "Sitting":
        """What the address says; anything odd counts as nothing."""
        said = request.GET.get("n", "")
        is_number = said.isascii() and said.isdigit() and len(said) <= 4
        ids = (normalize_id(raw) for raw in request.GET.get("skipped", "").split(".")[:MAX_SKIPPED])
        return cls(
            answered=int(said) if is_number else 0,
            skipped=tuple(found for found in ids if found),
            sent=normalize_id(request.GET.get("sent", "")),
        )

    def after_answer(self, request_id: str) -> "Sitting":
        return replace(self, answered=self.answered + 1, sent=request_id)

    def without(self, request_id: str) -> "Sitting":
        """With one more skipped; the oldest of too many may come again."""
        return replace(self, sent=None, skipped=(*self.skipped, request_id)[-MAX_SKIPPED:])

    def query(self) -> str:
        """The end of an address, from the question mark on; '' where there is nothing to say."""
        said = {
            "n": str(self.answered or ""),
            "skipped": ".".join(self.skipped),
            "sent": self.sent or "",
        }
        told = urlencode({name: value for name, value in said.items() if value})
        return f"?{told}" if told else ""

    def url_of(self, request_id: str) -> str:
        return reverse("review", kwargs={"request_id": request_id}) + self.query()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a question stands among those that the person could answer now.

    `number` counts from 1 and is 0 for one that is not among them; both numbers include what was
    answered in this sitting. The rest are addresses, '' where there is none.
    """

    number: int
    total: int
    is_more: bool
    previous: str
    following: str
    skip: str


def waiting_ids(user_id: str) -> list[str]:
    """What the person could answer, the most urgent first; FURTHEST and one at most."""
    return answerable_ids(user_id, FURTHEST + 1)


def find_place(sitting: Sitting, user_id: str, request_id: str) -> Place:
    """One statement."""
    ids = waiting_ids(user_id)
    at = ids.index(request_id) if request_id in ids else None
    calm = replace(sitting, sent=None)
    beyond = ids if at is None else ids[at + 1 :]
    skipping = sitting.without(request_id)
    unseen = first_unseen(skipping, ids)
    return Place(
        number=0 if at is None else sitting.answered + at + 1,
        total=sitting.answered + min(len(ids), FURTHEST),
        is_more=len(ids) > FURTHEST,
        previous=calm.url_of(ids[at - 1]) if at else "",
        following=calm.url_of(beyond[0]) if beyond else "",
        skip=skipping.url_of(unseen) if unseen else "",
    )


def first_unseen(sitting: Sitting, ids: Sequence[str]) -> str | None:
    """The first that was not skipped."""
    return next((each for each in ids if each not in sitting.skipped), None)
