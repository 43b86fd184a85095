"""Lets the images of one page come from any host."""

from collections.abc import Callable
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

Draw = Callable[..., HttpResponse]
_from_anywhere: Callable[[Draw], Draw] = csp_update({"img-src": ["https:", "http:"]})  # type: ignore[assignment]


def render_with_image(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    image_url: str | None,
    status: int = 200,
) -> HttpResponse:
    """Renders a page whose policy lets images in, if it has one; without, nothing comes from
    another host, as on every other page."""
    draw = _from_anywhere(render) if image_url else render
    return draw(request, template, context, status=status)
