"""Answers requests as a person, with a review token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from reviewloop.configuration import Secret
from reviewloop.transport import Transport
from reviewloop.types import ListedReview, Review

PATIENCE = 30.0  # seconds; a person waits
PAGE = 100
TOKEN = Secret("REVIEW_LOOP_REVIEW_TOKEN", "a review token, such as rl_review_…")


class Reviewer:
    """Reviews for one person at the service at `url`, which ends in /v1.

    By default it reads REVIEW_LOOP_URL and REVIEW_LOOP_REVIEW_TOKEN from the environment. Never
    give the token to the program that asks: it could approve its own calls.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, patience: float = PATIENCE
    ) -> None:
        """Raises ConfigurationError."""
        self._transport = Transport(url, token, patience, TOKEN)

    def inbox(self, loop_id: str | None = None) -> Iterator[ListedReview]:
        """Returns the open requests, the most urgent first. Raises ApiError, ConnectionFailed."""
        offset: int | None = 0
        while offset is not None:
            params = {"limit": PAGE, "offset": offset, **({"loop_id": loop_id} if loop_id else {})}
            page = self._transport.call("GET", "/review/requests", params=params).data
            yield from page["requests"]
            offset = page["pagination"]["next_offset"]

    def read(self, request_id: str) -> Review:
        """Returns a request. Raises NotFound, ApiError, ConnectionFailed."""
        return self._act("GET", request_id)

    def claim(self, request_id: str) -> Review:
        """Claims a request, or renews the claim. Raises StateConflict, Forbidden, NotFound."""
        return self._act("POST", request_id, "/claim")

    def release(self, request_id: str) -> Review:
        """Releases the claim. Raises StateConflict, NotFound."""
        return self._act("POST", request_id, "/release")

    def answer(
        self,
        request_id: str,
        answer: Any,
        *,
        comment: str = "",
        grant: dict[str, Any] | None = None,
    ) -> Review:
        """Answers a request; `answer` is what its response_type has as `response_data`.

        With an approval, `grant` allows equal calls for a while: `hours`, `uses`, and `arguments`
        that have to be equal, all of them without it.

        Raises InvalidCall for an answer that does not fit, StateConflict, Forbidden, NotFound.
        """
        more = {"comment": comment or None, "grant": grant}
        given = {name: value for name, value in more.items() if value is not None}
        body = {"answer": answer, **given}
        return self._act("POST", request_id, "/answer", body)

    def _act(self, method: str, request_id: str, what: str = "", body: Any = None) -> Review:
        path = f"/review/requests/{request_id}{what}"
        return cast("Review", self._transport.call(method, path, body=body).data["request"])

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Reviewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
