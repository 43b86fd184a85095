"""The JSON objects of the API. docs/api.md describes their fields."""

from __future__ import annotations

from typing import Any, TypedDict, Union

Value = Union[str, float, "list[str]", "dict[str, Any]"]
"""An answer: text, the value of an option, a number, a list of values, or an object."""


class Decision(TypedDict, total=False):
    """The answer of an approval. Only `approve` and `edit` have `arguments` and `edited`."""

    action: str  # "approve", "edit", "reject" or "respond"
    arguments: dict[str, Any]  # what may run, complete
    edited: list[str]  # names of the arguments that a person changed
    message: str


class Member(TypedDict):
    user_id: str
    email: str
    status: str  # "pending" or "active"
    joined_at: str | None
    verified: bool


class Loop(TypedDict):
    id: str
    name: str
    description: str
    icon: str
    creator_id: str
    members: list[Member]
    member_count: int
    pending_count: int
    created_at: str
    updated_at: str


class InvitingLoop(Loop):
    """A loop as a single read returns it."""

    invite_code: str
    join_url: str
    qr_code_url: str


class WebhookEndpoint(TypedDict):
    """An endpoint of the account; no `loop_ids` are all loops."""

    id: str
    url: str
    events: list[str]
    loop_ids: list[str]
    enabled: bool
    secret_changed_at: str
    created_at: str
    updated_at: str


class SecretEndpoint(WebhookEndpoint):
    """An endpoint with its new secret, which no other call returns."""

    secret: str


class ListedRequest(TypedDict):
    """A request in a list."""

    id: str
    loop_id: str
    processing_type: str
    type: str
    priority: str
    request_text: str
    response_type: str
    status: str  # "pending", "claimed", "completed", "timeout" or "cancelled"
    response_data: Value | None
    response_by: str | None
    response_at: str | None
    response_time_seconds: float | None
    timeout_at: str
    created_at: str
    updated_at: str


class WithMetadata(TypedDict, total=False):
    """Only of a request that the account created with metadata."""

    metadata: dict[str, str]


class WithVersions(TypedDict, total=False):
    """Only of a request that is a version of another one."""

    replaces: str
    superseded_by: str


class WithGrant(TypedDict, total=False):
    """Only of a call that a standing grant approved."""

    grant_id: str


class GivenAnswer(TypedDict):
    """One person's answer to a request with a policy."""

    response_data: Value
    response_comment: str | None
    response_by: str
    response_by_user: dict[str, Any]
    response_at: str


class WithPolicy(TypedDict, total=False):
    """Only of a request with a policy; `outcome` and `answers` once they may be seen."""

    policy: dict[str, Any]
    answers_received: int
    outcome: str  # "decided", "vetoed", "default", "no_agreement" or "unreachable"
    answers: list[GivenAnswer]


class Request(ListedRequest, WithMetadata, WithVersions, WithPolicy, WithGrant):
    """A request as a single read returns it."""

    creator_id: str
    image_url: str | None
    context: dict[str, Any] | None
    response_config: dict[str, Any]
    default_response: Value
    platform: str
    platform_version: str | None
    callback_url: str | None
    timeout_seconds: int
    broadcasted_to: int
    notifications_sent: int
    claimed_by: str | None
    claimed_at: str | None
    answered_by: str | None  # "human", "grant" or "default"
    response_comment: str | None
    response_by_user: dict[str, Any] | None
    feedback: dict[str, Any] | None
    texts_removed_at: str | None


class ListedReview(TypedDict):
    """A request in the list of a reviewer."""

    id: str
    loop_id: str
    loop_name: str
    type: str
    priority: str
    request_text: str
    response_type: str
    status: str
    timeout_at: str
    created_at: str
    claimed_by: str | None
    claimed_at: str | None
    may_answer: bool  # nobody else is on it, and the policy asks you


class Review(ListedReview, WithVersions, WithPolicy, WithGrant):
    """A request as a reviewer reads it."""

    image_url: str | None
    context: dict[str, Any] | None
    response_config: dict[str, Any]
    default_response: Value
    timeout_seconds: int
    response_data: Value | None
    response_by: str | None
    response_by_user: dict[str, Any] | None
    response_at: str | None
    response_comment: str | None
    answered_by: str | None
    texts_removed_at: str | None
    claim_expires_at: str | None
    your_answer: GivenAnswer | None


class CreatedRequest(TypedDict):
    """What the create returns."""

    request_id: str
    status: str
    processing_type: str
    type: str
    priority: str
    timeout_at: str
    broadcasted_to: int
    notifications_sent: int
    polling_url: str


class Receipt(TypedDict):
    """The signed receipt of an approval."""

    request_id: str
    receipt: str
    expires_at: str
    redeemed_at: str | None


class Approver(TypedDict):
    """A person who approved."""

    id: str
    name: str


class ReceiptClaims(TypedDict):
    """What a receipt states. `iat` and `exp` are Unix seconds, digests SHA-256 in hexadecimal."""

    iss: str
    sub: str  # the request's id
    jti: str
    iat: int
    exp: int
    loop_id: str
    name: str
    action: str  # "approve" or "edit"
    arguments_sha256: str
    question_sha256: str
    answered_by: list[Approver]
    answered_at: str
    policy: dict[str, Any]


class KeyInfo(TypedDict):
    """What the service knows about the key."""

    api_key_id: str
    user_id: str
    email: str
    account_status: str
    rate_limit: dict[str, Any]
    permissions: list[str]


class Event(TypedDict):
    """The body of a webhook. docs/webhooks.md describes its fields."""

    event: str
    request_id: str
    loop_id: str
    status: str
    response_data: Value | None
    response_by: str | None
    completed_at: str | None
    response_at: str | None
    response_time_seconds: float | None
    response_comment: str | None
    created_at: str
    timestamp: str
    data: dict[str, Any]


FINAL = ("completed", "timeout", "cancelled")
"""The statuses in which a request ends."""
