"""Changes that operators make to accounts and keys.

Each runs in one transaction and adds an entry to the account's audit log.
"""

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts import sessions
from accounts.audit import record
from accounts.models import ApiKey, User
from accounts.notices import notify
from accounts.services import describe_key, end_grants


@transaction.atomic
def switch_account(*, account: User, is_active: bool, actor: User) -> None:
    """Disables an account (no sign-in; its keys get 403, except on /test) or enables it again."""
    if User.objects.filter(pk=account.pk, is_active=not is_active).update(is_active=is_active):
        if not is_active:
            sessions.end_sessions(account.pk, except_key=None)
            end_grants(account)
        verb = "switched_on" if is_active else "switched_off"
        record(account_id=account.pk, actor_id=actor.pk, action=f"account.{verb}")


@transaction.atomic
def limit_account(*, account: User, hourly_limit: int | None, actor: User) -> None:
    """Sets the calls per hour of each of the account's keys; None is the default of the service."""
    User.objects.filter(pk=account.pk).update(hourly_limit=hourly_limit)
    record(
        account_id=account.pk,
        actor_id=actor.pk,
        action="account.limit_changed",
        subject=describe_limit(hourly_limit),
    )


@transaction.atomic
def limit_key(*, key: ApiKey, hourly_limit: int | None, actor: User) -> None:
    """Sets the calls per hour of this key; None is the limit of its account."""
    ApiKey.objects.filter(pk=key.pk, user_id=key.user_id).update(hourly_limit=hourly_limit)
    record(
        account_id=key.user_id,
        actor_id=actor.pk,
        action="key.limit_changed",
        subject=f"{describe_key(key)}: {describe_limit(hourly_limit)}",
    )


@transaction.atomic
def end_two_factor(*, account: User, actor: User) -> bool:
    """Turns off two-factor sign-in for a person who lost phone and codes; False if it was off."""
    removed, _ = Authenticator.objects.filter(user_id=account.pk).delete()
    if removed:
        action = "security.two_factor_off"
        record(account_id=account.pk, actor_id=actor.pk, action=action)
        notify(account=account, action=action)
    return bool(removed)


@transaction.atomic
def appoint_operator(*, account: User, is_operator: bool) -> None:
    """Gives or removes operator rights. Only the command line calls this."""
    User.objects.filter(pk=account.pk).update(is_staff=is_operator, is_superuser=is_operator)
    verb = "made" if is_operator else "unmade"
    record(account_id=account.pk, actor_id=account.pk, action=f"account.operator_{verb}")


def describe_limit(hourly_limit: int | None) -> str:
    """Describes a limit for the audit log."""
    return "the default" if hourly_limit is None else f"{hourly_limit} calls per hour"
