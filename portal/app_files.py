"""What makes the portal an app on a phone: manifest, service worker, and a page for no network."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe


def icon(name: str, size: int, purpose: str = "any") -> dict[str, str]:
    return {
        "src": static(f"icons/{name}.png"),
        "sizes": f"{size}x{size}",
        "type": "image/png",
        "purpose": purpose,
    }


@require_safe
@cache_control(public=True, max_age=3600)
def manifest(request: HttpRequest) -> HttpResponse:
    icons = [icon("icon-192", 192), icon("icon-512", 512), icon("maskable-512", 512, "maskable")]
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
    """At the root, so that its scope is the whole site."""
    return render(
        request, "portal/notifications/sw.js", content_type="text/javascript; charset=utf-8"
    )


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Kept by the service worker, which asks for it without cookies."""
    return render(request, "portal/notifications/offline.html")
