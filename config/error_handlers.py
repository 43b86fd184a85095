"""Handles errors outside views: in the envelope below /v1, with a page elsewhere."""

from django.http import HttpRequest, HttpResponse

from api.envelope import build_error_outside_views, is_api
from api.errors import ApiError, InvalidBody, NotFound, ResourceDenied, ServerFailure
from web import error_pages


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Responds 400, for example to an unknown Host."""
    return build_api_error(request, InvalidBody) or error_pages.bad_request(request)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Responds 403."""
    return build_api_error(request, ResourceDenied) or error_pages.forbidden(request)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Responds 404."""
    return build_api_error(request, NotFound) or error_pages.not_found(request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Responds 500."""
    return build_api_error(request, ServerFailure) or error_pages.server_error(request)


def build_api_error(request: HttpRequest, error: type[ApiError]) -> HttpResponse | None:
    """Builds the error in the envelope for a path below /v1; None elsewhere."""
    return build_error_outside_views(error()) if is_api(request) else None
