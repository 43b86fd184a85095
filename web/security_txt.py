"""The page /.well-known/security.txt (RFC 9116) with the contact for security reports."""

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

VALID = timedelta(days=180)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Renders the contact of the operator. Raises Http404 if there is none."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + VALID
    lines = (
        f"Contact: {settings.SECURITY_CONTACT}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
        f"Canonical: {settings.SITE_URL}/.well-known/security.txt",
    )
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")
