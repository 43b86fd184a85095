"""What pushes and emails about requests share as channels of the outbox."""

from typing import Any, ClassVar

from outbox.channel import Channel
from outbox.items import C, Item, Outcome
from outbox.recording import SOON
from reviews.lifecycle.conditions import in_time

MAX_ERROR_LENGTH = 500


class NotificationChannel(Channel[C]):
    """Notifications. What would be repeated only after its request has ended is dropped instead."""

    table = "reviews_notification"
    sent = """UPDATE reviews_notification AS entry SET state = 'sent', claim_id = NULL,
        done_at = statement_timestamp(), error = ''"""
    failed = """UPDATE reviews_notification AS entry SET state = 'dropped', claim_id = NULL,
        done_at = statement_timestamp(), error = %(error)s::text"""
    retried = ", error = %(error)s::text"
    in_time: ClassVar[str] = f"""EXISTS (
        SELECT 1 FROM reviews_request r WHERE r.id = entry.request_id AND {in_time(SOON)})"""  # noqa: S608

    def params(self, item: Item[C], outcome: Outcome) -> dict[str, Any]:
        return {"error": outcome.error[:MAX_ERROR_LENGTH]}
