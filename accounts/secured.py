"""Stops a stranger's requests under way when the owner of an address secures the account."""

from django.utils.translation import gettext as _

from accounts.models import User
from web.guards import Stale


class AccountSecured(Stale):
    """The account was secured, or got another password, after the person was recognized."""

    def __init__(self) -> None:
        super().__init__(_("Your password has changed. Sign in again."), back="account_login")


def lock_account(user: User) -> None:
    """Locks the account until the transaction ends, so that no cleanup runs at the same time.

    `user` is the person as the request recognized them. Raises AccountSecured.
    """
    rows = User.objects.select_for_update(no_key=True).filter(pk=user.pk)
    if rows.values_list("password", flat=True).get() != user.password:
        raise AccountSecured
