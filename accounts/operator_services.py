"""What the operator changes on other people's accounts. One transaction each, each in the audit
log of the account."""

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.audit import record
from accounts.models import ApiKey, User
from accounts.services import describe_key


@transaction.atomic
def switch_account(*, account: User, is_active: bool, actor: User) -> None:
    """Off: nobody signs in any more, and keys answer 403 but for /test. On: as before."""
    if User.objects.filter(pk=account.pk, is_active=not is_active).update(is_active=is_active):
        what = "switched_on" if is_active else "switched_off"
        record(account_id=account.pk, actor_id=actor.pk, action=f"account.{what}")


@transaction.atomic
def limit_account(*, account: User, hourly_limit: int | None, actor: User) -> None:
    """Calls per hour for each of the account's keys; None is the default of the service."""
    User.objects.filter(pk=account.pk).update(hourly_limit=hourly_limit)
    record(
        account_id=account.pk,
        actor_id=actor.pk,
        action="account.limit_changed",
        subject=in_words(hourly_limit),
    )


@transaction.atomic
def limit_key(*, key: ApiKey, hourly_limit: int | None, actor: User) -> None:
    """Calls per hour for this key; None is that of its account."""
    ApiKey.objects.filter(pk=key.pk, user_id=key.user_id).update(hourly_limit=hourly_limit)
    record(
        account_id=key.user_id,
        actor_id=actor.pk,
        action="key.limit_changed",
        subject=f"{describe_key(key)}: {in_words(hourly_limit)}",
    )


@transaction.atomic
def end_two_factor(*, account: User, actor: User) -> bool:
    """Lets somebody back in who has lost their phone and their codes; whether there was any."""
    removed, _ = Authenticator.objects.filter(user_id=account.pk).delete()
    if removed:
        record(account_id=account.pk, actor_id=actor.pk, action="security.two_factor_off")
    return bool(removed)


@transaction.atomic
def appoint_operator(*, account: User, is_operator: bool) -> None:
    """Gives or takes the operator's rights. Only the command line does this."""
    User.objects.filter(pk=account.pk).update(is_staff=is_operator, is_superuser=is_operator)
    what = "made" if is_operator else "unmade"
    record(account_id=account.pk, actor_id=account.pk, action=f"account.operator_{what}")


def in_words(hourly_limit: int | None) -> str:
    """A limit as the audit log tells it."""
    return "the default" if hourly_limit is None else f"{hourly_limit} calls per hour"
