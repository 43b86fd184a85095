"""Creates and changes webhook endpoints and their secrets. Each change is one transaction.

Pages and the API call `webhooks.endpoints`, which also checks addresses and ends deliveries.
"""

from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Now

from accounts import vault
from accounts.audit import record
from accounts.models import MAX_ENDPOINTS, User, WebhookEndpoint
from accounts.notices import Origin, notify
from accounts.secret_services import (
    COLUMNS,
    NO_PREVIOUS,
    RotationUnderWay,
    Secrets,
    drop_expired,
    put_next,
    unseal,
)
from accounts.secured import lock_account
from accounts.webhook_secrets import Secret, new_secret
from web.web_urls import hide_credentials

_READ = f"""
SELECT {COLUMNS} FROM accounts_webhookendpoint WHERE id = %s AND account_id = %s AND is_on
"""  # noqa: S608 (nothing in it comes from outside)
# As for review tokens: calls may be counted meanwhile, and only a change of the key's state waits.
_HOLD = """
SELECT FROM accounts_apikey
 WHERE id = %(key)s AND user_id = %(account)s AND state = 'active'
   AND (expires_at IS NULL OR expires_at > clock_timestamp())
   FOR KEY SHARE
"""


class TooManyEndpoints(Exception):
    """The account has as many endpoints as it may have."""


class AlreadyCreated(Exception):
    """The account has an endpoint with this id: its form was sent before."""


class KeyEnded(Exception):
    """The API key of the call was revoked, or has expired, since the call began."""


def read_secrets(endpoint_id: str, *, account_id: str) -> Secrets | None:
    """Returns the secrets of an endpoint; None if it is off or deleted. Raises vault.Unreadable."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, [endpoint_id, account_id])
        row = cursor.fetchone()
    return unseal(row) if row else None


@transaction.atomic
def insert(
    *, account: User, key_id: str | None, origin: Origin | None, **fields: Any
) -> tuple[WebhookEndpoint, Secret]:
    """Inserts an endpoint with a new secret, and emails the holder.

    Raises AlreadyCreated, TooManyEndpoints, KeyEnded, AccountSecured.
    """
    lock_account(account)  # two at once count each other
    hold_key(key_id, account_id=account.pk)
    mine = WebhookEndpoint.objects.of_account(account.pk)
    slots = dict(mine.values_list("pk", "slot"))
    if fields["id"] in slots:
        raise AlreadyCreated
    free = set(range(1, MAX_ENDPOINTS + 1)) - set(slots.values())
    if not free:
        raise TooManyEndpoints
    secret = new_secret()
    endpoint = WebhookEndpoint.objects.create(
        account_id=account.pk,
        slot=min(free),
        sealed=vault.seal(secret.text),
        issued=secret.issued,
        **fields,
    )
    note(endpoint, "created", key_id=key_id)
    notify(account=account, action="endpoint.created", subject=describe(endpoint), origin=origin)
    return endpoint, secret


@transaction.atomic
def rotate(
    *,
    endpoint: WebhookEndpoint,
    force: bool = False,
    key_id: str | None = None,
    origin: Origin | None = None,
) -> Secret:
    """Creates a new secret, and emails the holder; the old one stays valid for 24 hours.

    Raises KeyEnded, WebhookEndpoint.DoesNotExist, and RotationUnderWay during these 24 hours unless
    `force`.
    """
    hold_key(key_id, account_id=endpoint.account_id)
    rows = lock(endpoint)
    if rows.filter(previous_until__isnull=False).exists() and not force:
        raise RotationUnderWay
    secret = put_next(rows)
    note(endpoint, "rotated", key_id=key_id)
    subject = describe(endpoint)
    notify(account=endpoint.account, action="endpoint.rotated", subject=subject, origin=origin)
    return secret


@transaction.atomic
def end_rotation(*, endpoint: WebhookEndpoint) -> None:
    """Ends the old secret now; does nothing outside a rotation.

    Raises WebhookEndpoint.DoesNotExist.
    """
    if lock(endpoint).filter(previous_until__isnull=False).update(**NO_PREVIOUS):
        note(endpoint, "rotation_ended")


def hold_key(key_id: str | None, *, account_id: str) -> None:
    """Makes a revocation of the call's key wait until the transaction ends; None is no call.

    Locks the key before the endpoint, as `accounts.proofs.secure_account` does. Raises KeyEnded.
    """
    if key_id is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, {"key": key_id, "account": account_id})
        if cursor.fetchone() is None:
            raise KeyEnded


def lock(endpoint: WebhookEndpoint) -> Any:
    """Locks the endpoint, removes an expired secret, and returns its row as a query.

    Raises WebhookEndpoint.DoesNotExist.
    """
    rows = WebhookEndpoint.objects.filter(pk=endpoint.pk, account_id=endpoint.account_id)
    rows.select_for_update().values_list("pk").get()
    drop_expired(rows)
    return rows


def remove_all(account_id: str) -> bool:
    """Deletes the account's endpoints; False if there were none."""
    endpoints = list(WebhookEndpoint.objects.of_account(account_id).select_for_update())
    for endpoint in endpoints:
        endpoint.delete()
        note(endpoint, "deleted")
    return bool(endpoints)


def write(rows: Any, changes: dict[str, Any]) -> None:
    """Updates columns of the endpoint and `updated_at`."""
    rows.update(**changes, updated_at=Now())


def note(endpoint: WebhookEndpoint, verb: str, *, key_id: str | None = None) -> None:
    """Adds an entry to the audit log of the endpoint's account."""
    record(
        account_id=endpoint.account_id,
        actor_id=endpoint.account_id,
        action=f"endpoint.{verb}",
        subject=describe(endpoint),
        key_id=key_id,
    )


def describe(endpoint: WebhookEndpoint) -> str:
    """Names an endpoint without the credentials of its URL."""
    return hide_credentials(endpoint.url)
