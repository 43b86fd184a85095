"""Streams downloads of any length.

The response outlives its request: the session may end meanwhile, and the active time zone and
language are reset. Each part is therefore written in the page's zone and language, and only while
the sign-in is valid.
"""

from collections.abc import Generator, Iterator

from django.conf import settings
from django.http import StreamingHttpResponse
from django.utils import timezone, translation

from accounts.sessions import SignIn
from db.time_limits import limited
from reviews.exports import Lease
from web.guards import SignedInRequest


class SignedOut(Exception):
    """The sign-in of a download ended before the download did."""


class Download:
    """The parts of a file. Closing it at any point ends the lease."""

    def __init__(
        self, request: SignedInRequest, parts: Generator[str, None, None], lease: Lease
    ) -> None:
        self._parts, self._lease = parts, lease
        self._sign_in = SignIn.of(request)
        self._zone = timezone.get_current_timezone()
        self._language = translation.get_language()

    def __iter__(self) -> Iterator[str]:
        while (part := self._read_next()) is not None:
            yield part

    def close(self) -> None:
        self._parts.close()
        with limited(settings.WEB_DATABASE_SECONDS):
            self._lease.end()

    def _read_next(self) -> str | None:
        """Returns the next part, None after the last. Raises SignedOut, LeaseLost."""
        with (
            limited(settings.WEB_DATABASE_SECONDS),
            timezone.override(self._zone),
            translation.override(self._language),
        ):
            if not self._sign_in.is_valid():
                raise SignedOut
            self._lease.renew()
            return next(self._parts, None)


def respond(download: Download, *, content_type: str, name: str) -> StreamingHttpResponse:
    """Responds with a file called `name`, in UTF-8."""
    response = StreamingHttpResponse(download, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
