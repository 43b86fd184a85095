"""Registers push subscriptions and email preferences."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from accounts.models import User
from db.ids import owned_id
from outbox.items import Outcome, Result
from reviews.models import EmailPreference, PushSubscription
from reviews.notifications.channel import MAX_ERROR_LENGTH
from reviews.notifications.push.subscription import Subscription

MAX_SUBSCRIPTIONS = 20  # of one person; a further one replaces the oldest
SESSION_KEY = "push_subscriptions"  # the ids of what the session's browser has registered

# A browser has one subscription here, and it belongs to whoever is signed in now.
_SUBSCRIBE = """
INSERT INTO reviews_pushsubscription AS known (id, user_id, endpoint, host, p256dh, auth, label)
SELECT %(id)s, %(user)s::varchar, %(endpoint)s::varchar, %(host)s, %(p256dh)s, %(auth)s, %(label)s
 WHERE (%(is_new)s::boolean OR EXISTS (
           SELECT 1 FROM reviews_pushsubscription WHERE endpoint = %(endpoint)s::varchar))
   AND (%(password)s::varchar IS NULL OR EXISTS (
           SELECT 1 FROM accounts_user
            WHERE id = %(user)s::varchar AND password = %(password)s::varchar FOR NO KEY UPDATE))
ON CONFLICT ON CONSTRAINT push_subscription_endpoint_unique DO UPDATE
   SET id = CASE WHEN known.user_id = excluded.user_id
                 THEN known.id ELSE excluded.id END,
       is_on = known.is_on OR known.user_id <> excluded.user_id
               OR %(is_new)s::boolean,
       created_at = CASE WHEN known.user_id = excluded.user_id
                         THEN known.created_at ELSE excluded.created_at END,
       test_sent_at = CASE WHEN known.user_id = excluded.user_id THEN known.test_sent_at END,
       user_id = excluded.user_id, p256dh = excluded.p256dh, auth = excluded.auth,
       label = excluded.label
RETURNING id, is_on
"""
_MAKE_ROOM = """
DELETE FROM reviews_pushsubscription WHERE user_id = %s AND id NOT IN (
    SELECT id FROM reviews_pushsubscription WHERE user_id = %s
     ORDER BY created_at DESC, id DESC LIMIT %s)
"""


@transaction.atomic
def subscribe(
    *,
    user_id: str,
    subscription: Subscription,
    label: str,
    is_new: bool = True,
    person: User | None = None,
) -> tuple[str, bool] | None:
    """Registers a browser's subscription for this person, and returns its id and whether it is on.

    Registering it again changes nothing. A subscription that belonged to somebody else moves to
    this person under a new id, because pushes that wait for the former owner must not reach
    this one. `is_new` is False where the browser only reports itself: then a subscription that was
    turned off stays off, and one that was removed stays removed (None). `person` is the user as
    the request recognized them: if their account was secured since (`accounts.secured`), nothing is
    registered (None).
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
                "password": person.password if person else None,
            },
        )
        row = cursor.fetchone()
        if is_new:
            cursor.execute(_MAKE_ROOM, [user_id, user_id, MAX_SUBSCRIPTIONS])
    return (str(row[0]), bool(row[1])) if row else None


def switch_subscription(*, subscription: PushSubscription, is_on: bool) -> None:
    """Switches pushes to a subscription on or off, and keeps the subscription."""
    _own(subscription).update(is_on=is_on)


def remove_subscription(*, subscription: PushSubscription) -> None:
    """Deletes a subscription; emails take the place of pushes that wait for it."""
    _own(subscription).delete()


def begin_test(*, subscription: PushSubscription) -> datetime | None:
    """Records that a test push is sent now, in place of an earlier one.

    Returns the moment; None if the subscription is gone.
    """
    _own(subscription).update(test_sent_at=Now(), test_result="")
    return _own(subscription).values_list("test_sent_at", flat=True).first()


def record_test(
    *, subscription: PushSubscription, sent_at: datetime, outcome: Outcome | None
) -> None:
    """Records how the test push of that moment ended; None: it was never sent.

    Switches the subscription off where it has ended.
    """
    tested = _own(subscription).filter(test_sent_at=sent_at)
    if outcome is None:
        tested.update(test_result="busy")
    elif outcome.result == Result.SENT:
        tested.update(test_result="accepted")
    elif outcome.details.kind == "gone":
        tested.update(test_result="gone", is_on=False)
    else:
        tested.update(test_result=outcome.error[:MAX_ERROR_LENGTH])


def _own(subscription: PushSubscription) -> QuerySet[PushSubscription]:
    """The subscription's row, while it belongs to the same person."""
    return PushSubscription.objects.filter(pk=subscription.pk, user_id=subscription.user_id)


def forget_browsers(
    *, user_id: str, sessions: Sequence[Mapping[str, Any]], remaining: Mapping[str, Any] | None
) -> None:
    """Removes the subscriptions of browsers that were signed out.

    Whoever uses such a browser next is shown nothing of this person's. `sessions` are those that
    ended. Where one session alone is left, `remaining`, every subscription but its own is
    removed: the others may come from sign-ins that had expired before.
    """
    mine = PushSubscription.objects.filter(user_id=user_id)
    if remaining is not None:
        mine.exclude(pk__in=subscriptions_in(remaining)).delete()
    elif ended := [pk for session in sessions for pk in subscriptions_in(session)]:
        mine.filter(pk__in=ended).delete()


def subscriptions_in(session: Any) -> list[str]:
    """The ids of what the session's browser has registered, the newest last."""
    return list(session.get(SESSION_KEY, ()))


def choose_mails(*, user_id: str, mails: str) -> None:
    """Saves about which requests a person gets emails, one of `EmailPreference.Mails`."""
    EmailPreference.objects.update_or_create(user_id=user_id, defaults={"mails": mails})
