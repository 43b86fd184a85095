"""Confirms addresses. The first address that an account confirms also secures the account.

Until then, a stranger may have created the account with somebody else's address. The first proof of
the mailbox (a code, a password link, a confirmation link) removes everything that would let a
stranger back in.
"""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from accounts import endpoint_services, review_tokens
from accounts.audit import record
from accounts.emails import fold_address, lock_address, match_email
from accounts.erasing import is_erased
from accounts.models import ApiKey, User
from accounts.secret_services import replace_secret
from accounts.services import end_grants, set_key_state
from accounts.sessions import end_sessions

# The domain of accounts whose only address was confirmed by somebody else. Nothing is sent there.
NOWHERE = "unconfirmed.invalid"


class AddressUnavailable(Exception):
    """The account cannot have the address: another has confirmed it, or this one was deleted."""


def is_unproven(user: User) -> bool:
    """Tells whether the account has confirmed no address yet."""
    return not EmailAddress.objects.filter(user=user, verified=True).exists()


@transaction.atomic
def confirm_address(
    *,
    user: User,
    address: str,
    session_key: str | None = None,
    keep_password: bool = False,
    is_creator: bool = False,
) -> list[str]:
    """Marks an account's address as confirmed. Returns the other changes in words.

    If it is the account's first, the account is secured; only the session `session_key` stays.
    `is_creator` tells that the account was created in this very session: then there is no
    stranger, and nothing else changes. Raises AddressUnavailable.
    """
    lock_address(address)
    others = lock_users(address, user=user)
    user.refresh_from_db()
    if is_erased(user):
        raise AddressUnavailable
    row = EmailAddress.objects.filter(email=address, verified=True).first()
    if row is not None and row.user_id != user.pk:
        raise AddressUnavailable
    if row is not None:
        return []
    is_first = is_unproven(user)
    changes = []
    if is_first and not is_creator:
        changes = secure_account(user, address, session_key, keep_password=keep_password)
    for other in others:
        release_address(other, address)
    _mark(user, address, is_first=is_first)
    return changes


def _mark(user: User, address: str, *, is_first: bool) -> None:
    row, _created = EmailAddress.objects.get_or_create(user=user, email=address)
    row.verified = True
    if is_first:
        EmailAddress.objects.filter(user=user, email__endswith=f"@{NOWHERE}").delete()
        row.user = user
        row.set_as_primary()  # also saves the row
    else:
        row.save()
    record(account_id=user.pk, actor_id=user.pk, action="account.email_confirmed", subject=address)
    for name in settings.ON_ADDRESS_CONFIRMED:
        import_string(name)(user=user, address=address)


def lock_users(address: str, *, user: User | None = None) -> list[User]:
    """Locks the user and all other users with the address; returns the others."""
    has_it = Exists(EmailAddress.objects.filter(user=OuterRef("pk"), email=fold_address(address)))
    ids = set(User.objects.filter(has_it).values_list("pk", flat=True))
    ids |= set(User.objects.filter(match_email(address)).values_list("pk", flat=True))
    own_id = user.pk if user else ""
    rows = User.objects.filter(pk__in={own_id, *ids}).order_by("pk")
    return [row for row in rows.select_for_update(no_key=True) if row.pk != own_id]


def release_address(user: User, address: str) -> None:
    """Removes an address that the account has not confirmed, because another account has.

    If it is the account's own, an address that the account has confirmed replaces it.
    """
    EmailAddress.objects.filter(user=user, email=address).delete()
    if user.email != address:
        subject, action = address, "account.email_removed"
    else:
        rows = EmailAddress.objects.filter(user=user, verified=True)
        taken = User.objects.exclude(pk=user.pk).filter(email=OuterRef("email"))
        other = rows.filter(~Exists(taken)).order_by("pk").first()
        if other is not None:
            other.user = user
            other.set_as_primary()
        else:
            user.email = f"{user.pk}@{NOWHERE}"
            user.save(update_fields=["email"])
        subject, action = user.email, "account.email_lost"
    record(account_id=user.pk, actor_id=None, action=action, subject=subject)


def secure_account(
    user: User, address: str, session_key: str | None, *, keep_password: bool
) -> list[str]:
    """Removes what a stranger may have left in an account. Returns the changes in words."""
    changes = [
        *([] if keep_password else remove_password(user)),
        *remove_second_factors(user),
        *remove_other_addresses(user, address),
        *revoke_keys(user),
        *revoke_review_tokens(user),
    ]
    end_grants(user)
    if replace_secret(account=user):
        changes.append(_("the webhook secret was replaced"))
    if endpoint_services.remove_all(user.pk):
        changes.append(_("the webhook endpoints were deleted"))
    if end_sessions(user.pk, except_key=session_key) or changes:
        changes.insert(0, _("all other browsers and devices were signed out"))
    return changes


def remove_password(user: User) -> list[str]:
    if not user.has_usable_password():
        return []
    user.set_unusable_password()
    user.save(update_fields=["password"])
    record(account_id=user.pk, actor_id=user.pk, action="security.password_ended")
    return [_("the password was removed")]


def remove_second_factors(user: User) -> list[str]:
    """Removes authenticator apps, passkeys and recovery codes."""
    removed, _kinds = Authenticator.objects.filter(user_id=user.pk).delete()
    if not removed:
        return []
    record(account_id=user.pk, actor_id=user.pk, action="security.two_factor_off")
    return [_("two-factor sign-in was turned off")]


def remove_other_addresses(user: User, address: str) -> list[str]:
    """Removes all other addresses, because each could receive a code or a password link."""
    others = EmailAddress.objects.filter(user=user).exclude(email=address)
    emails = list(others.values_list("email", flat=True))
    others.delete()
    for email in emails:
        record(account_id=user.pk, actor_id=user.pk, action="account.email_removed", subject=email)
    return [_("%(names)s no longer belongs to it") % {"names": ", ".join(emails)}] if emails else []


def revoke_keys(user: User) -> list[str]:
    """Revokes all keys, including inactive ones: a stranger may know them."""
    states = [ApiKey.State.ACTIVE, ApiKey.State.INACTIVE]
    keys = ApiKey.objects.filter(user=user, state__in=states)
    revoked = [set_key_state(key=key, state=ApiKey.State.REVOKED) for key in keys]
    return [_("the API keys were revoked")] if revoked else []


def revoke_review_tokens(user: User) -> list[str]:
    """Revokes all review tokens: a stranger may know them."""
    return [_("the review tokens were revoked")] if review_tokens.revoke_all(user.pk) else []
