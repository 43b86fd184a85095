"""The filter of a reviewer's open requests: a loop, an answer type, words."""

from dataclasses import dataclass
from typing import Any

from reviews.queries import search


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """The chosen filter; '' is not set."""

    loop: str = ""
    type: str = ""
    q: str = ""

    @property
    def is_narrow(self) -> bool:
        """Tells whether rows must be scanned: counters exist only for loops."""
        return bool(self.type or self.q)

    def build_sql(self) -> str:
        """Builds the condition on the row `r`, with the parameters `type` and `words`."""
        conditions = ["r.response_type = %(type)s"] if self.type else []
        if self.q:
            conditions.append(search.HAS_WORDS)
        return " AND ".join(conditions) or "TRUE"

    def build_params(self, user_id: str) -> dict[str, Any]:
        """Builds the parameters of `build_sql` and of `reviews.queries.queue.MINE`."""
        return {
            "person": user_id,
            "loop": self.loop or None,
            "type": self.type,
            "words": search.parse_words(self.q),
        }
