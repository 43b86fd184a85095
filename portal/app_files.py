"""The files of an installable app: manifest, service worker and offline page."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe


def build_icon(name: str, size: int, purpose: str = "any") -> dict[str, str]:
    return {
        "src": static(f"icons/{name}.png"),
        "sizes": f"{size}x{size}",
        "type": "image/png",
        "purpose": purpose,
    }


@require_safe
@cache_control(public=True, max_age=3600)
def manifest(request: HttpRequest) -> HttpResponse:
    icons = [
        build_icon("icon-192", 192),
        build_icon("icon-512", 512),
        build_icon("maskable-512", 512, "maskable"),
    ]
    content = {
        "name": "Review Loop",
        "short_name": "Review Loop",
        "description": "Questions that need your decision.",
        "id": "/",
        "start_url": reverse("inbox"),
        "scope": "/",
        "display": "standalone",
        "background_color": "#ffffff",
        "theme_color": "#ffffff",
        "icons": icons,
    }
    return JsonResponse(content, content_type="application/manifest+json")


@require_safe
@cache_control(no_cache=True)
def service_worker(request: HttpRequest) -> HttpResponse:
    """Serves the service worker at the root, so that its scope is the whole site."""
    return render(
        request, "portal/notifications/sw.js", content_type="text/javascript; charset=utf-8"
    )


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Renders the offline page, which the service worker fetches without cookies and caches."""
    return render(request, "portal/notifications/offline.html")
