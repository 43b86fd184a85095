"""Creates, changes and ends webhook endpoints, for pages and the API (docs/webhooks.md).

An attempt looks at its endpoint right before it begins (`webhooks.channel`), so none begins after
an endpoint was disabled or deleted. What waits for it is ended here, so that the log shows it.
"""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection, transaction

from accounts import endpoint_services
from accounts.endpoint_services import AlreadyCreated as AlreadyCreated
from accounts.endpoint_services import TooManyEndpoints as TooManyEndpoints
from accounts.models import User, WebhookEndpoint
from accounts.notices import Origin, notify
from accounts.webhook_secrets import Secret
from db.ids import owned_id
from webhooks.networks import may_reach, read_address

MAX_ENDED = 10_000  # deliveries; the attempts of further ones end them
_END = f"""
UPDATE webhooks_delivery SET state = 'dead', is_manual = false
 WHERE (id, account_id) IN (
    SELECT id, account_id FROM webhooks_delivery
     WHERE account_id = %(account)s AND endpoint_id = %(endpoint)s AND state = 'waiting'
       AND claim_id IS NULL LIMIT {MAX_ENDED} FOR UPDATE SKIP LOCKED)
"""  # noqa: S608 (nothing in it comes from outside)


class NotPublic(ValueError):
    """The host of the URL is an address that webhooks may not reach. The argument is the host."""


def check_address(url: str) -> None:
    """Refuses a URL whose host is a closed address. Raises NotPublic.

    What a name stands for is checked with each attempt (`webhooks.outbound`), as it may change.
    """
    host = urlsplit(url).hostname or ""
    address = read_address(host)
    if address is not None and not may_reach(address, settings.WEBHOOK_OPEN_NETWORKS):
        raise NotPublic(host)


def create_endpoint(
    *,
    account: User,
    url: str,
    events: list[str],
    loop_ids: list[str] | None,
    is_on: bool = True,
    endpoint_id: str | None = None,
    key_id: str | None = None,
    origin: Origin | None = None,
) -> tuple[WebhookEndpoint, Secret]:
    """Creates an endpoint, and returns it with its secret, which is shown only this once.

    `loop_ids` are None for all loops of the account, also later ones. The holder gets an email.
    `endpoint_id` is from the token of a form. Raises NotPublic, AlreadyCreated, TooManyEndpoints,
    KeyEnded, AccountSecured.
    """
    check_address(url)
    fields: dict[str, Any] = {"url": url, "events": events, "loop_ids": loop_ids, "is_on": is_on}
    fields["id"] = endpoint_id or owned_id(account.pk)
    return endpoint_services.insert(account=account, key_id=key_id, origin=origin, **fields)


@transaction.atomic
def update_endpoint(
    *,
    endpoint: WebhookEndpoint,
    changes: dict[str, Any],
    key_id: str | None = None,
    origin: Origin | None = None,
) -> None:
    """Changes fields of an endpoint. Deliveries that exist keep their URL.

    The holder gets an email about another URL. Raises NotPublic, KeyEnded,
    WebhookEndpoint.DoesNotExist.
    """
    endpoint_services.hold_key(key_id, account_id=endpoint.account_id)
    rows = endpoint_services.lock(endpoint)
    stored = rows.get()
    fresh = {name: value for name, value in changes.items() if getattr(stored, name) != value}
    is_moved = "url" in fresh
    if is_moved:
        check_address(fresh["url"])
    endpoint_services.write(rows, fresh)
    endpoint.refresh_from_db()
    if fresh.keys() - {"is_on"}:
        endpoint_services.note(endpoint, "edited", key_id=key_id)
    if "is_on" in fresh:
        endpoint_services.note(endpoint, "on" if fresh["is_on"] else "off", key_id=key_id)
        if not fresh["is_on"]:
            _end_waiting(endpoint)
    if is_moved:
        subject = endpoint_services.describe(endpoint)
        notify(account=endpoint.account, action="endpoint.edited", subject=subject, origin=origin)


@transaction.atomic
def delete_endpoint(*, endpoint: WebhookEndpoint, key_id: str | None = None) -> None:
    """Deletes an endpoint. Its deliveries stay in the log.

    Raises KeyEnded, WebhookEndpoint.DoesNotExist.
    """
    endpoint_services.hold_key(key_id, account_id=endpoint.account_id)
    endpoint_services.lock(endpoint).delete()
    endpoint_services.note(endpoint, "deleted", key_id=key_id)
    _end_waiting(endpoint)


def _end_waiting(endpoint: WebhookEndpoint) -> None:
    params = {"account": endpoint.account_id, "endpoint": endpoint.pk}
    with connection.cursor() as cursor:
        cursor.execute(_END, params)
