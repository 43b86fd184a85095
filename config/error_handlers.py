"""Answers what no view answers: in the envelope below /v1, with a page elsewhere."""

from django.http import HttpRequest, HttpResponse

from api.envelope import build_error_outside_views, is_api
from api.errors import ApiError, InvalidBody, NotFound, ResourceDenied, ServerFailure
from web import error_pages


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400, such as an unknown Host."""
    return in_envelope(request, InvalidBody) or error_pages.bad_request(request)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403."""
    return in_envelope(request, ResourceDenied) or error_pages.forbidden(request)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404."""
    return in_envelope(request, NotFound) or error_pages.not_found(request)


def server_error(request: HttpRequest) -> HttpResponse:
    """500."""
    return in_envelope(request, ServerFailure) or error_pages.server_error(request)


def in_envelope(request: HttpRequest, error: type[ApiError]) -> HttpResponse | None:
    """The error as a program reads it; None for a page's request."""
    return build_error_outside_views(error()) if is_api(request) else None
