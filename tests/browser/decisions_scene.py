"""Questions that several people decide, and loops with a policy, for the pages to be looked at."""

from collections.abc import Callable
from typing import Any

from accounts.models import User
from accounts.services import create_account
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from reviews.models import Request
from reviews.policy import Policy
from reviews.receipts import services as receipts
from reviews.viewers import record_opened
from tests.conftest import PASSWORD

Ask = Callable[..., Request]
MAJORITY = Policy("majority", 3)
PAYMENT: dict[str, Any] = {
    "request_text": "May **€48,000.00** go to *Donaudampfschifffahrtselektrizitätenhauptbetriebs"
    "werkbauunterbeamtengesellschaft mbH*?\n\nThe invoice came two days before its order.",
    "priority": "high",
    "timeout_seconds": 7200,
    "response_type": "single_select",
    "response_config": {
        "options": [
            {"value": "pay", "label": "Pay it"},
            {"value": "stop", "label": "Stop it, and ask the supplier for the order first"},
        ]
    },
    "default_response": "stop",
}
ESTIMATE: dict[str, Any] = {
    "request_text": "How many hours will the move to the new carrier take?",
    "priority": "low",
    "timeout_seconds": 14400,
    "response_type": "number",
    "response_config": {"max_value": 2000},
    "default_response": 40,
}
TRANSFER: dict[str, Any] = {
    "request_text": "The agent wants to send money to a supplier.",
    "priority": "high",
    "timeout_seconds": 7200,
    "response_type": "approval",
    "response_config": {
        "proposal": {
            "name": "send_transfer",
            "title": "Pay invoice 2026-00417",
            "risk": "high",
            "arguments": {"amount": 48000, "currency": "EUR", "iban": "DE02120300000000202051"},
        },
        "actions": ["approve", "edit", "reject"],
        "editable": ["amount"],
    },
    "default_response": {"action": "reject"},
}
BOOKING: dict[str, Any] = {
    "request_text": "The agent has found a new carrier.",
    "priority": "medium",
    "timeout_seconds": 7200,
    "response_type": "approval",
    "response_config": {
        "proposal": {
            "name": "book_carrier",
            "title": "Book a carrier for order 4821",
            "risk": "medium",
            "arguments": {
                "carrier": "swift",
                "country": "DE",
                "insured": True,
                "parcels": 3,
                "price": 48,
                "on": "2026-12-01",
                "call": "2026-12-01T08:30:00Z",
                "extras": ["label"],
                "email": "jane.roe@example.com",
            },
            "schema": {
                "type": "object",
                "properties": {
                    "carrier": {
                        "type": "string",
                        "title": "Carrier",
                        "oneOf": [
                            {"const": "swift", "title": "Swift & Sons"},
                            {
                                "const": "slow",
                                "title": "Donaudampfschifffahrtselektrizitätengesellschaft",
                            },
                        ],
                    },
                    "country": {
                        "type": "string",
                        "title": "Country",
                        "enum": ["AT", "BE", "CH", "DE", "ES", "FR", "IT", "NL", "PL"],
                    },
                    "insured": {"type": "boolean", "title": "Insured"},
                    "parcels": {
                        "type": "integer",
                        "title": "Parcels",
                        "minimum": 1,
                        "maximum": 20,
                        "description": "Each of up to 30 kg.",
                    },
                    "price": {"type": "number", "title": "Price in euros", "minimum": 0},
                    "on": {"type": "string", "format": "date", "title": "Picked up on"},
                    "call": {"type": "string", "format": "date-time", "title": "Call before"},
                    "extras": {
                        "type": "array",
                        "title": "Extras",
                        "minItems": 1,
                        "items": {"enum": ["label", "box", "signature"]},
                    },
                    "email": {"type": "string", "format": "email", "title": "Tell"},
                },
                "required": ["carrier", "country", "parcels", "price", "on", "call", "extras"],
            },
        },
        "actions": ["approve", "edit", "reject"],
    },
    "default_response": {"action": "reject"},
}
DEPLOY: dict[str, Any] = {
    "priority": "medium",
    "timeout_seconds": 10800,
    "response_type": "approval",
    "default_response": {"action": "reject"},
}
LONG_COMMENT = (
    "I have called them: the order is from March, and its number is on the second page. " * 5
)


def fill_decisions(ask: Ask, owner: User, member: User, *, key_id: str) -> dict[str, str]:
    """The ids that addresses need."""
    third = _person("Friedrich-Wilhelm von und zu Donaudampfschifffahrtsgesellschaft")
    fourth = _person("Fay Kowalska")
    board = _create_loop(owner, "Payments over €10,000", member, third, fourth)
    strict = _create_loop(
        owner,
        "Production database",
        member,
        policy=Policy("unanimous", 2, exclude_creator=False, veto=("reject", "Never")).store(),
    )
    blind = ask(board, {**PAYMENT, "policy": MAJORITY.store()})
    open_one = ask(board, {**PAYMENT, "policy": Policy("majority", 3, blind=False).store()})
    _answer(open_one, third, "stop", LONG_COMMENT)
    _answer(open_one, fourth, "pay")
    mine = ask(board, {**ESTIMATE, "policy": Policy("median", 3).store()})
    _answer(mine, member, 120)
    decided = ask(board, {**PAYMENT, "policy": MAJORITY.store()})
    for person, value in ((member, "stop"), (third, "pay"), (fourth, "stop")):
        _answer(decided, person, value, LONG_COMMENT if person == third else "")
    dissent = ask(board, {**PAYMENT, "policy": Policy("unanimous", 2).store()})
    _answer(dissent, member, "pay")
    _answer(dissent, third, "stop", "No order, no money.")
    others = ask(board, {**PAYMENT, "policy": Policy(exclude_creator=True).store()})
    approved = ask(board, {**TRANSFER, "policy": MAJORITY.store()})
    arguments = TRANSFER["response_config"]["proposal"]["arguments"]
    less = {"action": "edit", "arguments": {**arguments, "amount": 24000}}
    for person, decision in ((member, less), (third, {"action": "approve"}), (fourth, less)):
        _answer(approved, person, decision)
    spent = services.read_request(approved.pk)
    receipts.redeem(spent, spent.response_data["arguments"], key_id=key_id)
    vetoed = ask(board, {**TRANSFER, "policy": Policy("majority", 3, veto=("reject",)).store()})
    _answer(vetoed, third, {"action": "reject", "message": "I do not know this IBAN."})
    asked = {
        "blind": blind,
        "open_policy": open_one,
        "voted": mine,
        "decided": decided,
        "dissent": dissent,
        "not_asked": others,
        "agreed": approved,
        "vetoed": vetoed,
        "booking": ask(board, BOOKING),
        **_ask_for_bulk(ask, loop=board),
    }
    return {
        "board": board.pk,
        "strict": strict.pk,
        **{name: request.pk for name, request in asked.items()},
    }


def _ask_for_bulk(ask: Ask, *, loop: Loop) -> dict[str, Request]:
    """Approvals that may be answered together, with simple and with long arguments."""
    made = {}
    for number in range(4):
        arguments = {
            "service": f"mailer-{number}",
            "commit": "9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
            "note": "Restarts the queue. " * (number * 12 + 1),
            "hosts": [{"name": f"host-{host}", "zone": "eu-central-1"} for host in range(3)],
        }
        config = {"proposal": {"name": "deploy_service", "arguments": arguments}}
        text = f"Deploy the mailer to group {number}?"
        made[f"deploy_{number}"] = ask(
            loop, {**DEPLOY, "request_text": text, "response_config": config}
        )
    return made


def _person(name: str) -> User:
    email = f"{name.split()[0].lower()}@example.com"
    return create_account(email=email, name=name, password=PASSWORD, verified=True)


def _create_loop(owner: User, name: str, *members: User, **rules: Any) -> Loop:
    loop = create_loop(owner_id=owner.pk, name=name, icon="shield-alt", **rules)
    for member in members:
        join_loop(user=member, code=loop.invite_code)
    return loop


def _answer(request: Request, person: User, value: Any, comment: str = "") -> None:
    record_opened(request, person.pk)
    services.answer_request(
        request=services.read_request(request.pk),
        reviewer_id=person.pk,
        answer=value,
        comment=comment,
    )
