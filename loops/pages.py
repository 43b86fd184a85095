"""Join pages."""

from django.http import HttpRequest, HttpResponse


def enter_code(request: HttpRequest) -> HttpResponse:
    return HttpResponse("")


join = qr_code = enter_code
