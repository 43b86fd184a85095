"""What the pages of every room share."""

from django.http import HttpRequest

from accounts.models import User


class SignedInRequest(HttpRequest):
    """Behind `login_required`."""

    user: User
