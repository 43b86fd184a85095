"""Decides who may sign up (SIGN_UP): anybody, the invited, some domains, nobody."""

from allauth.account.utils import get_next_redirect_url
from django.conf import settings
from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from accounts.emails import fold_address
from loops.admission import read_domain
from loops.models import Membership
from loops.services import InviteNotFound, find_invite

OPEN, INVITED, CLOSED, DOMAINS = "open", "invited", "closed", "domains"


class MayNotSignUp(Exception):
    """This person may not create an account; the message gives the reason."""


def is_closed() -> bool:
    """Tells whether nobody may sign up."""
    return bool(settings.SIGN_UP == CLOSED)


def check_sign_up(request: HttpRequest, email: str) -> None:
    """Raises MayNotSignUp, in the same way for an address that has an account."""
    if is_closed():
        raise MayNotSignUp(_("Only the operator of this service can create an account for you."))
    if settings.SIGN_UP == INVITED and not is_invited(request, email):
        raise MayNotSignUp(
            _("This address has no invitation. Open your invitation link, or ask for one.")
        )
    if settings.SIGN_UP == DOMAINS and read_domain(email) not in settings.SIGN_UP_DOMAINS:
        domains = ", ".join(settings.SIGN_UP_DOMAINS)
        raise MayNotSignUp(_("Use an address at one of: %(domains)s") % {"domains": domains})


def is_invited(request: HttpRequest, email: str) -> bool:
    """Tells whether the address is invited to a loop, or the person came by a join link."""
    if has_join_link(get_next_redirect_url(request) or ""):
        return True
    pending = Membership.objects.filter(email=fold_address(email), status=Membership.Status.PENDING)
    return pending.filter(loop__deleted_at=None).exists()


def has_join_link(path: str) -> bool:
    """Tells whether the path is the page that joins a loop, with a code that works."""
    try:
        found = resolve(path.partition("?")[0])
        if found.url_name != "join":
            return False
        find_invite(found.kwargs["code"])
    except (Resolver404, InviteNotFound):
        return False
    return True
