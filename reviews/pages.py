"""Portal pages."""

from django.http import HttpRequest, HttpResponse


def home(request: HttpRequest) -> HttpResponse:
    return HttpResponse("")


inbox = show = claim = release = answer = done = home
