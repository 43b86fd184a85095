"""SQL that inserts the notifications of a new request, in the statement that inserts it."""

from typing import Any

from db.ids import new_id, owned_id_sql
from outbox.items import Item
from reviews.models import Request
from reviews.notifications.push import vapid
from reviews.notifications.push.channel import LEASE, Push
from reviews.notifications.push.message import Target, about_request
from reviews.notifications.wanted import BY_MAIL, LANGUAGE
from web import call_ids

# Follows the CTEs of `loops.services.AUDIENCE` and `made (id, creator_id, loop_id, priority)`, and
# takes what `parameters` returns.
# `pushes.items` is null, or what `read_items` reads: pushes that are claimed for this process
# from the beginning; it sends them once the transaction is committed.
ENQUEUE = f"""
pushed AS (
    INSERT INTO reviews_notification (id, account_id, request_id, recipient_id, channel,
                                      subscription_id, lane, claim_id, next_attempt_at, call_id)
    SELECT {owned_id_sql("made.creator_id")}, made.creator_id, made.id, u.id, 'push', d.id, d.host,
           %(push_claim)s::text,
           statement_timestamp() + make_interval(secs => %(push_lease)s::float), %(call_id)s::text
      FROM made CROSS JOIN reviewers u
      JOIN reviews_pushsubscription d ON d.user_id = u.id AND d.is_on
     WHERE %(push)s::boolean
    RETURNING id, request_id, subscription_id
), mailed AS (
    INSERT INTO reviews_notification (id, account_id, request_id, recipient_id, channel,
                                      next_attempt_at, call_id)
    SELECT {owned_id_sql("made.creator_id")}, made.creator_id, made.id, u.id, 'mail',
           statement_timestamp(), %(call_id)s::text
      FROM made CROSS JOIN reviewers u
     WHERE %(notifies)s::boolean AND {BY_MAIL}
), pushes AS (
    SELECT json_agg(json_build_array(
               pushed.id, l.name, {LANGUAGE}, d.id, d.endpoint, d.host, d.p256dh, d.auth)) AS items
      FROM pushed
      JOIN reviews_pushsubscription d ON d.id = pushed.subscription_id
      JOIN made ON made.id = pushed.request_id
      JOIN loops_loop l ON l.id = made.loop_id
      JOIN accounts_user u ON u.id = d.user_id
)
"""  # noqa: S608 (nothing in it comes from outside)


def parameters(*, notifies: bool = True) -> dict[str, Any]:
    """The parameters of ENQUEUE, with a fresh claim id for its pushes."""
    return {
        "notifies": notifies,
        "push": notifies and vapid.is_on(),
        "push_claim": new_id(),
        "push_lease": LEASE,
        "call_id": call_ids.current(),
    }


def read_items(rows: list[Any] | None, request: Request, *, claim_id: str) -> list[Item[Push]]:
    """The claimed pushes of a request that was just created, from `pushes.items`."""
    if not rows:
        return []
    items = []
    for pk, loop_name, language, *target in rows:
        message = about_request(
            request_id=request.pk,
            loop_name=loop_name,
            text=request.request_text,
            priority=request.priority,
            seconds_left=request.timeout_seconds,
            language=language,
        )
        device = Target(*target)
        items.append(
            Item(
                ids=(pk,),
                claim_id=claim_id,
                account=request.creator_id,
                lane=device.host,
                content=Push(request.pk, message, device),
                call_id=call_ids.current(),
            )
        )
    return items
