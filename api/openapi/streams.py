"""The OpenAPI description of the stream of events."""

from typing import Final

from api.errors import RateLimited, TooManyStreams, ValidationFailed
from api.events import CLOSED, RESET, Events
from api.openapi.events import EXAMPLE
from api.openapi.operations import STRING, Operation, Operations, Parameter
from webhooks.event_log import RETENTION_HOURS

EXAMPLE_ID: Final = "019df2b0aa107d1f4c2a9e12"
AFTER: Final = "Continue after the event with this id."

OPERATIONS: Operations = {
    (Events, "GET"): Operation(
        name="streamEvents",
        tag="Events",
        summary="Stream events",
        description="Sends what happens to the requests of the account, as server-sent events, "
        "with or without a `callback_url`. `event` is the name, `id` the `webhook-id`, and `data` "
        "the body of the webhook. The stream costs one call, however long it lasts. A line comes "
        "at least every 15 seconds. A client that comes back sends the last id that it read, and "
        f"misses nothing of the last {RETENTION_HOURS} hours; it may get an event twice. If the id "
        f"is unknown or older, the stream begins with `{RESET}`: events may be missing. If the key "
        f"ends, the stream does, with `{CLOSED}`.",
        message="Events, until the client or the key ends the stream.",
        query=(Parameter("after", AFTER, STRING),),
        own_headers=(Parameter("Last-Event-ID", f"{AFTER} It overrides `after`.", STRING),),
        data={},
        example={
            "text": f"id: {EXAMPLE_ID}\nevent: {EXAMPLE['event']}\n"
            f'data: {{"event": "{EXAMPLE["event"]}", "request_id": "{EXAMPLE["request_id"]}"}}\n\n'
        },
        errors=(ValidationFailed, RateLimited, TooManyStreams),
        is_stream=True,
    ),
}
