"""The page for the first password of a person who signed up without one."""

from allauth.account.views import password_set
from django.http import HttpRequest, HttpResponse

from web.reauthentication import require_confirmation


def set_password(request: HttpRequest) -> HttpResponse:
    """Asks for reauthentication before the form; otherwise the posted password would be stored."""
    if request.user.is_authenticated:
        require_confirmation(request)
    response: HttpResponse = password_set(request)
    return response
