"""Renders a page that may show images from any host."""

from collections.abc import Callable
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

Render = Callable[..., HttpResponse]
_allow_any_image_host: Callable[[Render], Render] = csp_update({"img-src": ["https:", "http:"]})  # type: ignore[assignment]


def render_with_image(
    request: HttpRequest,
    template: str,
    context: dict[str, Any],
    *,
    image_url: str | None,
    status: int = 200,
) -> HttpResponse:
    """Renders a page and, if it has an `image_url`, allows images from any host.

    Without an image the page keeps the usual policy, which allows no other hosts.
    """
    render_page = _allow_any_image_host(render) if image_url else render
    return render_page(request, template, context, status=status)
