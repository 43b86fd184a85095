"""Handles errors outside views: in the envelope for programs, with a page for people."""

import sys

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from api.envelope import build_error_outside_views, build_error_response, is_api
from api.errors import (
    ApiError,
    InvalidBody,
    NotFound,
    ResourceDenied,
    ServerFailure,
    ServiceUnavailable,
    UnknownHost,
)
from db.outages import is_outage, note_outage
from web import error_pages
from web.json_clients import asks_for_json


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Responds 400, for example to an unknown Host."""
    if isinstance(exception, DisallowedHost):
        return unknown_host(request)
    detail = str(exception or "") or None
    return build_api_error(request, InvalidBody(detail)) or error_pages.bad_request(request)


def unknown_host(request: HttpRequest) -> HttpResponse:
    """Responds 400 to an unknown Host. No key was checked, so the response reports no quota."""
    if not accepts_envelope(request):
        return error_pages.unknown_host(request)
    host = request.META.get("HTTP_HOST", "")
    return build_error_response(
        UnknownHost(
            f"This service is not at {host!r}: call {settings.SITE_URL}, or add the host to"
            " ALLOWED_HOSTS."
        )
    )


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Responds 403."""
    return build_api_error(request, ResourceDenied()) or error_pages.forbidden(request)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Responds 404."""
    return build_api_error(request, NotFound()) or error_pages.not_found(request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Responds 500, or 503 if the database was unavailable, for example to save a session."""
    error = sys.exc_info()[1]
    if is_outage(error):
        note_outage(error)
        return build_api_error(request, ServiceUnavailable()) or error_pages.unavailable(request)
    return build_api_error(request, ServerFailure()) or error_pages.server_error(request)


def build_api_error(request: HttpRequest, error: ApiError) -> HttpResponse | None:
    """Builds the error in the envelope for a program; None for a browser.

    Only calls below /v1 have a quota to report.
    """
    if is_api(request):
        return build_error_outside_views(error)
    return build_error_response(error) if accepts_envelope(request) else None


def accepts_envelope(request: HttpRequest) -> bool:
    """Tells whether the client reads the envelope of the API rather than a page."""
    headers = request.META
    return asks_for_json(
        request.path_info, headers.get("HTTP_ACCEPT", ""), headers.get("CONTENT_TYPE", "")
    )
