"""The OpenAPI descriptions of receipts of approvals."""

from typing import Final

from api.errors import (
    AlreadyRedeemed,
    DifferentArguments,
    DifferentName,
    InvalidBody,
    InvalidRequestId,
    NoReceipt,
    ReceiptExpired,
    RequestDenied,
    RequestNotFound,
    ValidationFailed,
)
from api.openapi.examples import LISTED
from api.openapi.operations import ID, TIMESTAMP, Body, Operation, Operations, nullable
from api.openapi.requests import REQUEST_PATH
from api.receipts import RequestReceipt, RequestRedemption
from api.serializers.receipts import RedeemInput

TOKEN: Final = {"type": "string", "pattern": r"^[\w-]+\.[\w-]+\.[\w-]+$"}
DATA: Final = {
    "request_id": ID,
    "receipt": TOKEN,
    "expires_at": TIMESTAMP,
    "redeemed_at": nullable(TIMESTAMP),
}
RECEIPT: Final = {
    "request_id": LISTED["id"],
    "receipt": "eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJodHRwczovL3Jldmlldy5leGFtcGxlIn0.c2lnbmF0dXJl",
    "expires_at": "2026-05-05T10:42:05.000Z",
    "redeemed_at": None,
}
REDEEMED: Final = {**RECEIPT, "redeemed_at": "2026-05-04T10:42:06.100Z"}

OPERATIONS: Operations = {
    (RequestReceipt, "GET"): Operation(
        name="readReceipt",
        tag="Requests",
        summary="Read the receipt of an approval",
        description="A compact JWS (EdDSA) that states who approved what and when. Verify it with "
        "keys of /.well-known/jwks.json that you have pinned. Every read returns the same receipt. "
        "The account that created the request and the active members of its loop may do this.",
        message="Receipt retrieved successfully",
        paths=REQUEST_PATH,
        data=DATA,
        example=RECEIPT,
        errors=(InvalidRequestId, NoReceipt, RequestDenied, RequestNotFound),
    ),
    (RequestRedemption, "POST"): Operation(
        name="redeemReceipt",
        tag="Requests",
        summary="Redeem an approval, once",
        description="Call this right before you run what was approved, with the name and the "
        "arguments that you are about to run. Only the first call succeeds, and only with those "
        "that the person approved. Only the account that created the request may do this.",
        message="Approval redeemed successfully",
        paths=REQUEST_PATH,
        body=Body(
            RedeemInput,
            {
                "redeem": {
                    "name": "issue_refund",
                    "arguments": {"order": "1042", "amount": 80, "currency": "EUR"},
                }
            },
        ),
        data={**DATA, "redeemed_at": TIMESTAMP},
        example=REDEEMED,
        errors=(
            InvalidRequestId,
            NoReceipt,
            ReceiptExpired,
            ValidationFailed,
            InvalidBody,
            RequestDenied,
            RequestNotFound,
            AlreadyRedeemed,
            DifferentArguments,
            DifferentName,
        ),
    ),
}
