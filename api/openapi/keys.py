"""The OpenAPI description of the key check."""

from accounts.models import PERMISSIONS
from api.keys import KeyCheck
from api.openapi.operations import (
    COUNT,
    ID,
    STRING,
    TIMESTAMP,
    Operation,
    Operations,
    object_of,
    one_of,
)

OPERATIONS: Operations = {
    (KeyCheck, "GET"): Operation(
        name="checkKey",
        tag="Key",
        summary="Check the key",
        description="Returns the key's owner, its permissions and its remaining quota. It needs no "
        "permission, and also works for a deactivated account.",
        message="API key is valid",
        data={
            "api_key_id": ID,
            "user_id": ID,
            "email": STRING,
            "account_status": one_of(["active", "inactive"]),
            "rate_limit": object_of({"limit": COUNT, "remaining": COUNT, "reset_at": TIMESTAMP}),
            "permissions": {"type": "array", "items": one_of(PERMISSIONS)},
        },
        example={
            "api_key_id": "019df2a11c404d1b7e2f9a03",
            "user_id": "019df2a0e1789c5d3b6e8f12",
            "email": "ada@example.com",
            "account_status": "active",
            "rate_limit": {"limit": 100, "remaining": 99, "reset_at": "2026-05-04T11:00:00.000Z"},
            "permissions": list(PERMISSIONS),
        },
    ),
}
