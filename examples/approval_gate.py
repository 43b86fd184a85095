"""Refunds an order once a person has approved exactly that: python approval_gate.py 1042 80

REVIEW_LOOP_URL is the service's address, ending in /v1, and REVIEW_LOOP_KEY an API key.
REVIEW_LOOP_KEYS is a file with its public keys: curl -o keys.json https://…/.well-known/jwks.json
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from reviewloop import AlreadyRedeemed, Client, InvalidCall, verify_receipt


def get_approval(
    client: Client, question: str, name: str, arguments: dict[str, Any], *, keys: Any, issuer: str
) -> dict[str, Any] | None:
    """Asks for a call, and returns the arguments with which it may run now; None if it may not.

    It returns them once: the receipt is spent before the call. A process that dies in between has
    to ask again under another name.
    """
    answer = client.ask(
        question,
        response_type="approval",
        response_config={
            "proposal": {"name": name, "arguments": arguments},
            "actions": ["approve", "edit", "reject"],
            "approval_valid_seconds": 3600,
        },
        default={"action": "reject"},
        resume=f"{name}-{arguments['order']}",
    )
    approved = answer.arguments
    if approved is None:
        print("Rejected." if answer.by_human else "Nobody looked in time.")
        return None
    try:
        receipt = client.requests.redeem(answer.request_id, approved, name=name)
    except AlreadyRedeemed as error:
        print("This was run before:", error.redeemed_at)
        return None
    except InvalidCall as error:  # the approval has expired
        print(error.msg)
        return None
    claims = verify_receipt(
        receipt["receipt"],
        keys,
        issuer=issuer,
        name=name,
        arguments=approved,
        request_id=answer.request_id,
    )
    print("Approved by", ", ".join(person["name"] for person in claims["answered_by"]))
    return approved


def main(order: str, amount: str) -> None:
    keys = json.loads(Path(os.environ["REVIEW_LOOP_KEYS"]).read_text(encoding="utf-8"))
    with Client() as client:
        issuer = os.environ.get("REVIEW_LOOP_ISSUER") or client.url[: -len("/v1")]
        wanted = {"order": order, "amount": float(amount)}
        question = f"**Refund {amount} € for order {order}?**"
        approved = get_approval(client, question, "refund", wanted, keys=keys, issuer=issuer)
    if approved is not None:
        print("Refunding", json.dumps(approved))  # the call itself belongs here


if __name__ == "__main__":
    main(*sys.argv[1:])
