"""Uses a client made by openapi-python-client as a program would, and prints what it did as JSON.

It runs in a process of its own, with the client in the package `review_loop_client`.
"""

import json
import os
import time
from typing import Any

from review_loop_client import AuthenticatedClient
from review_loop_client.api.key import check_key
from review_loop_client.api.loops import create_loop, list_members, read_loop
from review_loop_client.api.requests import (
    cancel_request,
    create_request,
    give_feedback,
    list_loop_requests,
    read_request,
)
from review_loop_client.models import (
    ApprovalRequest,
    ContentType,
    Context,
    FeedbackFields,
    FeedbackInput,
    FormConfig,
    FormConfigSchema,
    FormRequest,
    FormRequestDefaultResponse,
    LoopInput,
    MultiSelectConfig,
    MultiSelectRequest,
    NumberConfig,
    NumberRequest,
    Platform,
    Priority,
    ProcessingType,
    RatingConfig,
    RatingRequest,
    SingleSelectConfig,
    SingleSelectRequest,
    Status,
    TextConfig,
    TextRequest,
)

client = AuthenticatedClient(
    base_url=os.environ["SITE"], token=os.environ["KEY"], raise_on_unexpected_status=True
)
assert check_key.sync(client=client).data.rate_limit.limit > 0
created = create_loop.sync(client=client, body=LoopInput(name="Generated", icon="chat"))
loop_id = created.data.loop.id
assert read_loop.sync(loop_id, client=client).data.loop.join_url == created.data.join_url
assert list_members.sync(loop_id, client=client).data.total_count == 1

common = {"priority": Priority.HIGH, "platform": Platform.API}
now = {"processing_type": ProcessingType.TIME_SENSITIVE, "timeout_seconds": 600}
later = {"processing_type": ProcessingType.DEFERRED}
text = {"type_": ContentType.MARKDOWN, "request_text": "Shall we?"}
picture = {
    "type_": ContentType.IMAGE,
    "request_text": "Is it sharp?",
    "image_url": "https://example.com/a.png",
}
SCHEMA = {"type": "object", "properties": {"sure": {"type": "boolean"}}}


def plain(value: Any) -> Any:
    """An object of the generated client as a dictionary; other values as they are."""
    return value.to_dict() if hasattr(value, "to_dict") else value


new_requests = [
    TextRequest(
        **common, **now, **text, response_type="text", response_config=TextConfig(),
        default_response="", context=Context.from_dict({"order": 7}),
    ),
    SingleSelectRequest(
        **common, **now, **text, response_type="single_select",
        response_config=SingleSelectConfig(options=["yes", "no"]), default_response="no",
    ),
    MultiSelectRequest(
        **common, **later, **text, response_type="multi_select",
        response_config=MultiSelectConfig(options=["a", "b"], max_selections=1),
        default_response=["a"],
    ),
    RatingRequest(
        **common, **now, **picture, response_type="rating",
        response_config=RatingConfig(scale_max=5), default_response=3,
    ),
    NumberRequest(
        **common, **now, **text, response_type="number",
        response_config=NumberConfig(max_value=80), default_response=1.5,
    ),
    FormRequest(
        **common, **now, **text, response_type="form",
        response_config=FormConfig(schema=FormConfigSchema.from_dict(SCHEMA)),
        default_response=FormRequestDefaultResponse.from_dict({"sure": False}),
    ),
    ApprovalRequest.from_dict(
        {
            "priority": "high", "platform": "api", "request_text": "Shall we?", "type": "markdown",
            "processing_type": "deferred", "response_type": "approval",
            "response_config": {"proposal": {"name": "refund", "arguments": {"order": 7}}},
            "default_response": {"action": "reject"},
        }
    ),
]  # fmt: skip
ids = {
    body.response_type: create_request.sync(loop_id, client=client, body=body).data.request_id
    for body in new_requests
}

first = list_loop_requests.sync(loop_id, client=client, limit=4).data
second = list_loop_requests.sync(
    loop_id, client=client, limit=4, offset=first.pagination.next_offset
).data
assert {item.id for item in first.requests + second.requests} == set(ids.values())
assert (first.has_more, second.has_more) == (True, False)
for body in new_requests:
    read = read_request.sync(ids[body.response_type], client=client).data.request
    assert read.response_type == body.response_type
    assert read.response_config.to_dict() == body.response_config.to_dict()
    assert plain(read.default_response) == plain(body.default_response)

refused = create_request.sync_detailed(
    loop_id, client=client, body=SingleSelectRequest.from_dict(
        {**new_requests[1].to_dict(), "default_response": "perhaps"}
    ),
)  # fmt: skip
assert refused.status_code == 400
assert refused.parsed.msg == "Invalid default response"
cancelled = cancel_request.sync(ids["number"], client=client).data
assert cancelled.status == "cancelled"

answered = None
while answered is None or answered.status in (Status.PENDING, Status.CLAIMED):
    time.sleep(0.1)
    answered = read_request.sync(ids["single_select"], client=client).data.request
feedback = FeedbackInput(feedback=FeedbackFields(rating=5, comment="Quick."))
given = give_feedback.sync(answered.id, client=client, body=feedback).data.feedback
print(
    json.dumps(
        {
            "ids": ids,
            "answer": answered.response_data,
            "answered_by": answered.answered_by,
            "feedback": given.to_dict(),
        }
    )
)
