"""Sets up keys in every state with a day of calls, a rotation, and audit entries."""

from datetime import UTC, datetime, timedelta

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from allauth.usersessions.models import UserSession

from accounts import key_format, secret_services
from accounts.audit import record
from accounts.key_services import roll_api_key
from accounts.models import ApiKey, Usage, User
from accounts.services import create_api_key, set_key_state
from accounts.session_store import SessionStore, hash_key
from reviews.notifications.mail import unsubscribe_link
from tests.accounts.tokens import revoke, token_of
from tests.signin.authenticator import keep_passkey

HOUR = timedelta(hours=1)
CALLS = (31, 64, 88, 52, 40, 12, 3, 0, 0, 0, 2, 9, 17, 44, 61, 70, 66, 58, 71, 80, 92, 97, 54, 20)


def fill_the_account(owner: User, member: User) -> dict[str, str]:
    """The ids that addresses need."""
    busy, _ = create_api_key(user=owner, name="Refund bot, production")
    for hours_ago, calls in enumerate(CALLS):
        note_calls(busy, hours_ago, calls)
    reader, _ = create_api_key(
        user=owner,
        name="Dashboard of the support team",
        permissions=["loops:read", "requests:read"],
        expires_at=datetime.now(UTC) + timedelta(days=60),
    )
    note_calls(reader, 2, 5)
    idle, _ = create_api_key(user=owner, name="Trial", permissions=[])
    set_key_state(key=idle, state=ApiKey.State.INACTIVE)
    lost, _ = create_api_key(user=owner, name="Laptop that was stolen")
    set_key_state(key=lost, state=ApiKey.State.REVOKED)
    old, _ = create_api_key(user=owner, name="Nightly import")
    note_calls(old, 0, 7)
    roll_api_key(key=old, secret=key_format.new_key(), overlap=24 * HOUR)
    revoke(token_of(owner, name="Phone that was lost"))
    token_of(owner, name="Terminal at work", days=-1)
    token_of(owner, name="Laptop")
    secret_services.read_secrets(owner.pk)
    secret_services.rotate_secret(account=owner)
    secret_services.read_secrets(member.pk)
    sign_in_elsewhere(owner)
    for failed in (True, False):
        record(
            account_id=owner.pk,
            actor_id=None if failed else owner.pk,
            action="sign_in.failed" if failed else "sign_in.done",
            ip="192.0.2.17",
        )
    return {"key": busy.pk, "idle_key": idle.pk, "rolling_key": old.pk, "revoked_key": lost.pk}


def note_calls(key: ApiKey, hours_ago: int, calls: int) -> None:
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    then = hour - hours_ago * HOUR
    if calls:
        Usage.objects.create(account_id=key.user_id, key=key, hour=then, calls=calls, last_at=then)


def sign_in_elsewhere(user: User) -> None:
    """Two more browsers, of which the list of sessions tells."""
    agents = (
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) Version/19.0 Safari/604.1", "203.0.113.8"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "198.51.100.23"),
    )
    for days_ago, (agent, ip) in enumerate(agents, start=1):
        store = SessionStore()
        store.create()
        UserSession.objects.create(
            user=user,
            session_key=hash_key(store.session_key),
            user_agent=agent,
            ip=ip,
            created_at=datetime.now(UTC) - 24 * days_ago * HOUR,
        )


def guard(user: User) -> dict[str, str]:
    """Turns on an authenticator app and a passkey, with recovery codes of which one is used up."""
    TOTP.activate(user, "JBSWY3DPEHPK3PXP")
    keep_passkey(user, "Chrome on Android")
    codes = RecoveryCodes.activate(user)
    codes.validate_code(codes.get_unused_codes()[0])
    passkey = Authenticator.objects.get(user=user, type=Authenticator.Type.WEBAUTHN)
    return {"passkey": str(passkey.pk)}


def fill_the_mailbox(forgetful: User, member: User) -> dict[str, str]:
    """What the links in mails are made of."""
    fresh = EmailAddress.objects.create(user=member, email="ben.okafor@example.org")
    return {
        "confirmation": EmailConfirmationHMAC(fresh).key,
        "reset_user": user_pk_to_url_str(forgetful),
        "reset_key": default_token_generator.make_token(forgetful),
        "unsubscribe": unsubscribe_link.make(member.pk).rstrip("/").rpartition("/")[2],
    }
