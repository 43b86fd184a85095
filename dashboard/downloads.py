"""Streams downloads of any length.

The response outlives its request: the session may end meanwhile, and the active time zone and
language are reset. Each part is therefore written in the page's zone and language, and only while
the sign-in is valid.
"""

from collections.abc import Generator

from django.http import StreamingHttpResponse
from django.utils import timezone, translation

from accounts.sessions import SignIn
from reviews import exports
from web.guards import SignedInRequest


class SignedOut(Exception):
    """The sign-in of a download ended before the download did."""


class Download(exports.Download):
    """A download of a signed-in person."""

    def __init__(
        self, request: SignedInRequest, parts: Generator[str, None, None], lease: exports.Lease
    ) -> None:
        super().__init__(parts, lease)
        self._sign_in = SignIn.of(request)
        self._zone = timezone.get_current_timezone()
        self._language = translation.get_language()

    def read_next(self) -> str | None:
        """Returns the next part, None after the last. Raises SignedOut, LeaseLost."""
        with timezone.override(self._zone), translation.override(self._language):
            return super().read_next()

    def check(self) -> None:
        if not self._sign_in.is_valid():
            raise SignedOut


def respond(download: Download, *, content_type: str, name: str) -> StreamingHttpResponse:
    """Responds with a file called `name`, in UTF-8."""
    response = StreamingHttpResponse(download, content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
