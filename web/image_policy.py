"""The images that clients name, which may be anywhere."""

from collections.abc import Callable
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from reviews.models import Request

Draw = Callable[..., HttpResponse]
_from_anywhere: Callable[[Draw], Draw] = csp_update({"img-src": ["https:", "http:"]})  # type: ignore[assignment]


def render_request(
    http: HttpRequest, item: Request, template: str, shown: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """The page of a request, whose policy lets its image in; where it has none, nothing comes from
    elsewhere, as on every other page."""
    draw = _from_anywhere(render) if item.image_url else render
    return draw(http, template, shown, status=status)
