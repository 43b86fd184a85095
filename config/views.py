"""What answers when nothing else does: JSON below /v1, a page elsewhere."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from config.api import failure, is_api
from config.errors import InvalidBody, NotFound, ResourceDenied, ServerFailure


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400, such as an unknown Host."""
    if is_api(request):
        return failure(InvalidBody())
    return render(request, "error.html", {"title": "That did not work"}, status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403."""
    if is_api(request):
        return failure(ResourceDenied())
    return render(request, "error.html", {"title": "Not for you"}, status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404."""
    if is_api(request):
        return failure(NotFound())
    return render(request, "error.html", {"title": "Not found"}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500."""
    if is_api(request):
        return failure(ServerFailure())
    return render(request, "error.html", {"title": "Something went wrong"}, status=500)
