"""Serves the OpenAPI document at /openapi.json and the interactive documentation at /docs."""

import json
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from api.envelope import dumps


@cache
def build_document() -> bytes:
    """Builds the OpenAPI document as JSON, once per process."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    return dumps(generator.get_schema(public=True))  # type: ignore[no-untyped-call]


@cache
def load_document() -> dict[str, Any]:
    """Loads the OpenAPI document, once per process."""
    document: dict[str, Any] = json.loads(build_document())
    return document


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """Responds with the OpenAPI document."""
    return HttpResponse(build_document(), content_type="application/json")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Shows the interactive documentation, where people try calls with their own key."""
    return render(request, "api/docs.html")
