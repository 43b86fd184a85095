"""Every operation of the interface, for the tests that walk over all of them."""

from dataclasses import dataclass
from typing import Any

from tests.api.bodies import LOOP, QUESTION
from tests.reviews.approvals import ARGUMENTS

FEEDBACK: dict[str, Any] = {"feedback": {"rating": 4}}


@dataclass(frozen=True)
class Operation:
    """One operation; `path` has places for {loop}, {request}, {endpoint} and {user}."""

    method: str
    path: str
    permission: str | None
    body: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


CHECK = Operation("GET", "/v1/test", None)
CREATE_LOOP = Operation("POST", "/v1/api/loops", "loops:write", LOOP)
LIST_LOOPS = Operation("GET", "/v1/api/loops", "loops:read")
READ_LOOP = Operation("GET", "/v1/api/loops/{loop}", "loops:read")
UPDATE_LOOP = Operation("PUT", "/v1/api/loops/{loop}", "loops:write", {"name": "Renamed"})
DELETE_LOOP = Operation("DELETE", "/v1/api/loops/{loop}", "loops:write")
LIST_MEMBERS = Operation("GET", "/v1/api/loops/{loop}/members", "loops:read")
REMOVE_MEMBER = Operation("DELETE", "/v1/api/loops/{loop}/members/{user}", "loops:write")
CREATE = Operation("POST", "/v1/api/loops/{loop}/requests", "requests:write", QUESTION)
LOOP_LIST = Operation("GET", "/v1/api/loops/{loop}/requests", "requests:read")
LIST = Operation("GET", "/v1/api/requests", "requests:read")
READ = Operation("GET", "/v1/api/requests/{request}", "requests:read")
CANCEL = Operation("DELETE", "/v1/api/requests/{request}", "requests:write")
RATE = Operation("POST", "/v1/api/requests/{request}/feedback", "requests:write", FEEDBACK)
RECEIPT = Operation("GET", "/v1/api/requests/{request}/receipt", "requests:read")
REDEEM = Operation(
    "POST", "/v1/api/requests/{request}/redeem", "requests:write", {"arguments": ARGUMENTS}
)
ENDPOINT: dict[str, Any] = {"url": "https://router.example/hook", "events": ["request.created"]}
LIST_ENDPOINTS = Operation("GET", "/v1/api/webhook-endpoints", "loops:write")
CREATE_ENDPOINT = Operation("POST", "/v1/api/webhook-endpoints", "loops:write", ENDPOINT)
READ_ENDPOINT = Operation("GET", "/v1/api/webhook-endpoints/{endpoint}", "loops:write")
UPDATE_ENDPOINT = Operation(
    "PUT", "/v1/api/webhook-endpoints/{endpoint}", "loops:write", {"enabled": False}
)
ROTATE = Operation("POST", "/v1/api/webhook-endpoints/{endpoint}/rotate", "loops:write")
DELETE_ENDPOINT = Operation("DELETE", "/v1/api/webhook-endpoints/{endpoint}", "loops:write")
STATISTICS = Operation("GET", "/v1/api/loops/{loop}/statistics", "requests:read")
DECISIONS = Operation("GET", "/v1/api/loops/{loop}/decisions", "requests:read")
STREAM = Operation("GET", "/v1/api/events", "requests:read")

OPERATIONS = [
    *(CHECK, CREATE_LOOP, LIST_LOOPS, READ_LOOP, UPDATE_LOOP, DELETE_LOOP, LIST_MEMBERS),
    *(REMOVE_MEMBER, CREATE, LOOP_LIST, LIST, READ, CANCEL, RATE),
    *(RECEIPT, REDEEM),
    *(LIST_ENDPOINTS, CREATE_ENDPOINT, READ_ENDPOINT, UPDATE_ENDPOINT, ROTATE, DELETE_ENDPOINT),
    STATISTICS,
    DECISIONS,
    STREAM,
]
