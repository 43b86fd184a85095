"""What changes who is told how."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction

from db.ids import owned_id
from reviews.models import Device, MailChoice
from reviews.notifications.subscription import Subscription

MAX_DEVICES = 20  # of a person; the one that was registered first makes room
IN_SESSION = "devices"  # where a session keeps the ids of what its browser has registered

# A browser has one subscription here: it goes with whoever is signed in now.
_SUBSCRIBE = """
INSERT INTO reviews_device (id, user_id, endpoint, host, p256dh, auth, label)
SELECT %(id)s, %(user)s, %(endpoint)s::varchar, %(host)s, %(p256dh)s, %(auth)s, %(label)s
 WHERE %(is_new)s::boolean
    OR EXISTS (SELECT 1 FROM reviews_device WHERE endpoint = %(endpoint)s::varchar)
ON CONFLICT ON CONSTRAINT device_endpoint_unique DO UPDATE
   SET id = CASE WHEN reviews_device.user_id = excluded.user_id
                 THEN reviews_device.id ELSE excluded.id END,
       is_on = reviews_device.is_on OR reviews_device.user_id <> excluded.user_id
               OR %(is_new)s::boolean,
       created_at = CASE WHEN reviews_device.user_id = excluded.user_id
                         THEN reviews_device.created_at ELSE excluded.created_at END,
       user_id = excluded.user_id, p256dh = excluded.p256dh, auth = excluded.auth,
       label = excluded.label
RETURNING id, is_on
"""
_MAKE_ROOM = """
DELETE FROM reviews_device WHERE user_id = %s AND id NOT IN (
    SELECT id FROM reviews_device WHERE user_id = %s ORDER BY created_at DESC, id DESC LIMIT %s)
"""


@transaction.atomic
def subscribe(
    *, user_id: str, subscription: Subscription, label: str, is_new: bool = True
) -> tuple[str, bool] | None:
    """Registers the browser for this person, once however often; its id and whether it is on.

    Somebody else's subscription of the same browser moves to this person, under another id, so
    that what waits for the other one is not told to this one. `is_new` is False where the browser
    only reports itself: what was switched off stays so, and what was removed is None.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _SUBSCRIBE,
            {
                "id": owned_id(user_id),
                "user": user_id,
                "endpoint": subscription.endpoint,
                "host": subscription.host,
                "p256dh": subscription.p256dh,
                "auth": subscription.auth,
                "label": label[:60],
                "is_new": is_new,
            },
        )
        row = cursor.fetchone()
        if is_new:
            cursor.execute(_MAKE_ROOM, [user_id, user_id, MAX_DEVICES])
    return (str(row[0]), bool(row[1])) if row else None


def switch_device(*, device: Device, is_on: bool) -> None:
    """Keeps the subscription, and is silent while it is off."""
    Device.objects.filter(pk=device.pk, user_id=device.user_id).update(is_on=is_on)


def remove_device(*, device: Device) -> None:
    """Forgets the subscription; what waits for it is dropped when it is due."""
    Device.objects.filter(pk=device.pk, user_id=device.user_id).delete()


def forget_browsers(
    *, user_id: str, sessions: Sequence[Mapping[str, Any]], only_left: Mapping[str, Any] | None
) -> None:
    """Removes the devices of browsers that were signed out: whoever holds one of them next is
    shown nothing of this person's. Where one browser alone stays, its devices alone do: others
    may be of sign-ins that ran out by themselves."""
    if only_left is not None:
        Device.objects.filter(user_id=user_id).exclude(pk__in=devices_in(only_left)).delete()
    elif gone := [device for held in sessions for device in devices_in(held)]:
        Device.objects.filter(pk__in=gone, user_id=user_id).delete()


def devices_in(session: Any) -> list[str]:
    """The ids of what the session's browser has registered, the newest last."""
    return list(session.get(IN_SESSION, ()))


def choose_mails(*, user_id: str, mails: str) -> None:
    """Which requests are told by e-mail while no device is on: one of `MailChoice.Mails`."""
    MailChoice.objects.update_or_create(user_id=user_id, defaults={"mails": mails})
