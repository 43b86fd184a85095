"""/openapi.json and /docs."""

from functools import cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from api.envelope import dumps


@cache
def document() -> bytes:
    """The OpenAPI document; it changes with the code alone."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    return dumps(generator.get_schema(public=True))  # type: ignore[no-untyped-call]


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The description of the API, for machines."""
    return HttpResponse(document(), content_type="application/json")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The same for people, who can try every call with a key of theirs."""
    return render(request, "api/docs.html")
