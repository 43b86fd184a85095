"""The filter of an inbox: a loop, an answer type, words.

The URLs of the inbox and of questions opened from it contain the filter, so that the next question
comes from the same list.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from db.ids import normalize_id
from reviews.queries.queue_filter import QueueFilter
from reviews.response_types import TYPES

MAX_TYPED = 200  # characters of a search


@dataclass(frozen=True, slots=True)
class InboxFilter(QueueFilter):
    """The chosen filter, as the URLs of pages have it."""

    @classmethod
    def read(cls, request: HttpRequest) -> "InboxFilter":
        """Reads the filter from the URL; invalid values count as missing."""
        chosen = request.GET.get("type", "")
        return cls(
            loop=normalize_id(request.GET.get("loop", "")) or "",
            type=chosen if chosen in TYPES else "",
            q=request.GET.get("q", "").replace("\0", " ").strip()[:MAX_TYPED],
        )

    @property
    def params(self) -> dict[str, str]:
        """The parts that are set, as parameters of a URL."""
        parts = {"loop": self.loop, "type": self.type, "q": self.q}
        return {name: value for name, value in parts.items() if value}

    def build_query(self, **more: Any) -> str:
        """Builds the query of a URL, with its question mark; '' if it is empty."""
        query = urlencode({**self.params, **more})
        return f"?{query}" if query else ""

    def build_url(self, request_id: str) -> str:
        """Builds the URL of a question that is opened from this list."""
        return reverse("review", kwargs={"request_id": request_id}) + self.build_query()


UNFILTERED = InboxFilter()
