"""Every promise of the interface under a stable id.

A test holds a promise by the marker `@pytest.mark.contract("loop.name", ...)`; `python -m
tests.contract` writes docs/contract.md from the two.
"""

from tests.contract import (
    answer_rows,
    endpoint_rows,
    http_rows,
    loop_rows,
    request_rows,
    review_rows,
)

SECTIONS: dict[str, dict[str, str]] = {
    "Envelope": http_rows.ENVELOPE,
    "Addressing and precedence": http_rows.ADDRESSING,
    "Bodies": http_rows.BODIES,
    "Authentication": http_rows.AUTHENTICATION,
    "Quota": http_rows.QUOTA,
    "Statuses and version": http_rows.STATUSES,
    "The check of a key": loop_rows.KEY_CHECK,
    "Loop and member": loop_rows.LOOP,
    "Creating a loop": loop_rows.CREATE,
    "Reading loops": loop_rows.READ,
    "Updating a loop": loop_rows.UPDATE,
    "Deleting a loop": loop_rows.DELETE,
    "What a loop teaches": loop_rows.TEACHING,
    "Members": loop_rows.MEMBERS,
    "Invitations": loop_rows.INVITES,
    "Request": request_rows.FIELDS,
    "Creating a request": request_rows.CREATE,
    "Lists of requests": request_rows.LISTS,
    "Reading and cancelling a request": request_rows.SINGLE,
    "Feedback": request_rows.FEEDBACK,
    "Receipts": request_rows.RECEIPTS,
    "Webhook endpoints": endpoint_rows.ENDPOINTS,
    "Review tokens": review_rows.TOKENS,
    "Standing grants": review_rows.GRANTS,
    "Response configurations and defaults": answer_rows.CONFIGURATIONS,
    "Answers": answer_rows.ANSWERS,
    "States, deadlines and claims": answer_rows.STATES,
}

ROWS: dict[str, str] = {
    row: promise for section in SECTIONS.values() for row, promise in section.items()
}
