"""A believable account: what the pages are looked at and photographed with."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.models import User
from accounts.services import create_account
from loops.models import Loop, Membership
from loops.services import create_loop, invite_member, join_loop
from reviews import services
from reviews.grants import Terms
from reviews.models import Grant, Request
from tests.browser.account_scene import fill_the_account, fill_the_mailbox, guard
from tests.browser.decisions_scene import fill_decisions
from tests.conftest import PASSWORD
from tests.dashboard.scene import alive, history
from tests.reviews.conftest import acting
from tests.reviews.grants import Agent, allow
from tests.webhooks.log import attempted, made
from webhooks.endpoints import create_endpoint

REFUND = {
    "request_text": "## Should we refund order #4821?\n\nThe customer says the parcel arrived"
    " **broken**. The agent proposes a full refund of **€129.00**.\n\n- First claim in 3 years\n"
    "- Photo attached, seal torn\n- Carrier confirms damage",
    "priority": "critical",
    "timeout_seconds": 300,
    "response_type": "single_select",
    "response_config": {"options": ["Refund in full", "Refund half", "Escalate to a person"]},
    "default_response": "Escalate to a person",
    "context": {"order": {"number": 4821, "total": "129.00", "items": ["cup", "saucer"]}},
}
REPLY = {
    "request_text": "May this reply go out?\n\n> Dear Ms Roe, your parcel left us on Monday.",
    "priority": "high",
    "timeout_seconds": 3600,
    "response_type": "text",
    "response_config": {"min_length": 2, "placeholder": "What should change?"},
    "default_response": "Hold it back.",
}
RATING = {
    "request_text": "How well does this summary fit the article about tidal power?",
    "priority": "medium",
    "timeout_seconds": 7200,
    "response_type": "rating",
    "response_config": {"scale_max": 5},
    "default_response": 3,
}
LABELS = {
    "request_text": "Which of these words describe the photo of the harbour?",
    "priority": "medium",
    "timeout_seconds": 14400,
    "response_type": "multi_select",
    "response_config": {"options": ["boats", "sunset", "people", "storm"], "max_selections": 3},
    "default_response": ["boats"],
}
PRICE = {
    "request_text": "What would you pay at most for this used bicycle, in euros?",
    "priority": "low",
    "timeout_seconds": 86400,
    "response_type": "number",
    "response_config": {"max_value": 2000},
    "default_response": 100,
}
PARCEL = {
    "request_text": "What do we do about the parcel of order #4821, and by when?",
    "priority": "medium",
    "timeout_seconds": 86400,
    "response_type": "form",
    "response_config": {
        "schema": {
            "type": "object",
            "title": "The parcel",
            "description": "Fill in what the customer has told you on the phone.",
            "properties": {
                "amount": {
                    "type": "number",
                    "title": "Amount to refund in euros",
                    "description": "At most what the order has cost.\nShipping is extra.",
                    "minimum": 0,
                    "maximum": 129,
                },
                "reason": {
                    "type": "string",
                    "title": "Reason",
                    "oneOf": [
                        {"const": "broken", "title": "It arrived broken"},
                        {
                            "const": "late",
                            "title": "It came so late that it was of no use any more",
                        },
                    ],
                },
                "change": {"type": "integer", "title": "Change of the customer’s rating"},
                "email": {"type": "string", "format": "email", "title": "Email of the customer"},
                "link": {"type": "string", "format": "uri", "title": "Page of the carrier"},
                "pick_up_the_parcel_at_the_customers_door_on": {"type": "string", "format": "date"},
                "call": {"type": "string", "format": "date-time", "title": "Call back at"},
                "country": {
                    "type": "string",
                    "title": "Country",
                    "enum": ["AT", "BE", "CH", "DE", "ES", "FR", "IT", "NL", "PL"],
                },
                "parts": {
                    "type": "array",
                    "title": "What is broken",
                    "minItems": 1,
                    "items": {
                        "enum": ["Cup", "Saucer", "Donaudampfschifffahrtsgesellschaftstasse"]
                    },
                },
                "note": {"type": "string", "title": "Note to the customer", "maxLength": 500},
                "insured": {"type": "boolean", "title": "The parcel was insured", "default": True},
            },
            "required": ["amount", "reason", "note"],
        }
    },
    "default_response": {"amount": 0, "reason": "late"},
}
FILLED = {
    "amount": 64.5,
    "reason": "late",
    "email": "a-customer-with-a-long-name.and-a-longer-one@subsidiary.example.com",
    "call": "2026-12-01T09:30:00+01:00",
    "country": "NL",
    "parts": ["Cup", "Donaudampfschifffahrtsgesellschaftstasse"],
    "note": "We are sorry that the parcel came so late.\n\nHalf of the price is on its way to you.",
    "insured": True,
}
OFFER = {
    "request_text": "Send this offer to order #4790?\n\nWe refund **€129.00** within 14 days and"
    " send a new saucer.",
    "priority": "high",
    "timeout_seconds": 7200,
    "response_type": "single_select",
    "response_config": {"options": ["Send it", "Don’t send it"]},
    "default_response": "Don’t send it",
    "context": {"order": {"number": 4790, "total": "129.00"}, "vip": False},
}
RETURN = {
    "priority": "medium",
    "timeout_seconds": 10800,
    "response_type": "single_select",
    "response_config": {"options": ["Publish it", "Keep it back"]},
    "default_response": "Keep it back",
}
RETURNS = (
    "Does this caption fit the photo of the harbour at dawn?",
    "May the article about tidal power go out under the name of the author, who has not answered"
    " the last two emails about its figures?",
    "Publish the letter of a reader about Donaudampfschifffahrtselektrizitätenhauptbetriebswerke?",
)
BETTER = {
    **OFFER,
    "request_text": "Send this offer to order #4790?\n\nWe refund **€64.50** within three days, and"
    " send a new saucer and a cup.",
    "response_config": {"options": ["Send it", "Ask again", "Don’t send it"]},
    "context": {
        "order": {"number": 4790, "total": "129.00"},
        "vip": True,
        "reason": "The customer said that they would keep the cup, which has a crack that is hard"
        " to see. https://tracking.example/parcels/00340434161094042557?lang=en&view=full",
    },
}
CHANGE = """## Merge this change to the retry limit?

It was proposed by the nightly agent.

```diff
--- a/config.py
+++ b/config.py
@@ -12,3 +12,3 @@ def retry(client):
     attempts = 0
-    while attempts < 3:
+    while attempts < settings.MAX_ATTEMPTS and not client.is_closed and client.has_budget_left():
         attempts += 1
```

| service | errors before | errors after | p95 before | p95 after | verdict |
|---|---|---|---|---|---|
| payments | 312 | 14 | 2,310 ms | 420 ms | better |

```python
result = client.post(url, json=body, timeout=settings.TIMEOUT, headers=headers)  # once
```"""
PATCH = {
    "request_text": CHANGE,
    "priority": "high",
    "timeout_seconds": 1800,
    "response_type": "single_select",
    "response_config": {"options": ["Merge", "Ask for changes"]},
    "default_response": "Ask for changes",
}
MAIL: dict[str, Any] = {
    "request_text": "The agent wants to answer Ms Roe and give her money back. **May it?**",
    "priority": "high",
    "timeout_seconds": 1800,
    "response_type": "approval",
    "response_config": {
        "proposal": {
            "name": "refund_and_reply",
            "title": "Refund order 4821 and tell the customer",
            "risk": "high",
            "arguments": {
                "order": 4821,
                "amount": 129,
                "currency": "EUR",
                "notify": True,
                "coupon": None,
                "command": "curl -X POST https://shop.example/refunds?order=4821 --fail",
                "to": {"name": "Jane Roe", "email": "jane.roe@example.com", "vip": False},
                "items": [
                    {"sku": f"CUP-{number}", "price": 12.95, "tags": ["broken", "photo"]}
                    for number in range(6)
                ],
                "body": "Dear Ms Roe,\n\nwe are sorry that your parcel arrived broken.\n"
                + "You will find the whole amount on your account within three days. " * 9
                + "\n\nYours\nThe refund desk",
                "averylongnameofanargumentwithoutanyspaceinit": "x" * 90,
            },
        },
        "actions": ["approve", "edit", "reject", "respond"],
        "editable": ["amount", "currency", "notify", "to", "body"],
    },
    "default_response": {"action": "reject", "message": "Nobody had time to look at it."},
}
RESTART = {
    "request_text": "The queue of *mailer* has not moved for ten minutes.",
    "priority": "medium",
    "timeout_seconds": 900,
    "response_type": "approval",
    "response_config": {"proposal": {"name": "restart_service", "arguments": {"name": "mailer"}}},
    "default_response": {"action": "reject"},
}
ASKED = (
    "Refund order #4807? The parcel was nine days late.",
    "Refund the shipping of order #4790?",
    "Accept the return of order #4788 after 40 days?",
    "Send a new saucer for order #4775 instead of a refund?",
    "Is a discount of 20 % right for this complaint?",
)
SHARED = {"processing_type": "time-sensitive", "type": "markdown", "platform": "api"}


@dataclass
class Scene:
    """The people, and the ids that addresses are made of."""

    owner: User
    member: User
    guarded: User  # has a second factor
    newcomer: User  # has no password
    ids: dict[str, str] = field(default_factory=dict)

    def people(self) -> dict[str, User | None]:
        """Who looks at pages, as the catalogue calls them."""
        return {
            "stranger": None,
            "owner": self.owner,
            "member": self.member,
            "guarded": self.guarded,
            "newcomer": self.newcomer,
        }

    def ask(self, loop: Loop, fields: dict[str, Any], *, ago: float = 0) -> Request:
        """A request that was sent `ago` minutes before now, but never so long that it has ended."""
        whole = {**SHARED, **fields}
        made = services.create_request(loop_id=loop.pk, account=acting(self.owner), fields=whole)
        sent = datetime.now(UTC) - timedelta(minutes=ago)
        ends = sent + timedelta(seconds=whole["timeout_seconds"])
        Request.objects.filter(pk=made.pk).update(created_at=sent, timeout_at=ends)
        return services.read_request(made.pk)


def set_the_scene() -> Scene:
    """Five people, two loops, requests in every state, deliveries in every state."""
    owner, member, guarded = person("Ada Jansen"), person("Ben Okafor"), person("Cleo Marsh")
    newcomer = create_account(email="dana@example.com", name="Dana Fox", verified=True)
    scene = Scene(owner, member, guarded, newcomer)
    desk = create_loop(
        owner_id=owner.pk,
        name="Refund desk",
        description="Who gets their money back, and how much of it?",
        icon="heart",
    )
    texts = create_loop(
        owner_id=owner.pk, name="Texts and photos", description="", icon="document-text"
    )
    for loop in (desk, texts):
        join_loop(user=member, code=loop.invite_code)
    Membership.objects.update(joined_at=datetime.now(UTC) - timedelta(days=90))
    scene.ids.update(loop=desk.pk, quiet_loop=texts.pk, code=desk.invite_code)
    ask_everything(scene, desk, texts)
    fill_the_log(scene)
    fill_the_week(scene, desk)
    scene.ids.update(fill_the_account(owner, member))
    scene.ids.update(fill_decisions(scene.ask, owner, member, key_id=scene.ids["key"]))
    scene.ids.update(fill_the_mailbox(person("Emil Roth"), member))  # signing in ends his link
    scene.ids.update(guard(guarded))
    return scene


def person(name: str) -> User:
    email = f"{name.split()[0].lower()}@example.com"
    return create_account(email=email, name=name, password=PASSWORD, verified=True)


def ask_everything(scene: Scene, desk: Loop, texts: Loop) -> None:
    asked = {
        "critical": scene.ask(desk, REFUND, ago=0.8),
        "text": scene.ask(texts, REPLY, ago=12),
        "rating": scene.ask(texts, RATING, ago=21),
        "labels": scene.ask(texts, LABELS, ago=35),
        "number": scene.ask(desk, PRICE, ago=300),
        "form": scene.ask(desk, PARCEL, ago=400),
    }
    claimed = scene.ask(desk, PATCH, ago=3)
    services.claim_request(request=claimed, reviewer_id=scene.owner.pk)
    answered = scene.ask(desk, REFUND, ago=2)
    services.answer_request(request=answered, reviewer_id=scene.member.pk, answer="Refund in full")
    filled = scene.ask(desk, PARCEL, ago=60)
    services.answer_request(request=filled, reviewer_id=scene.member.pk, answer=FILLED)
    withdrawn = scene.ask(texts, REPLY, ago=40)
    services.cancel_request(request_id=withdrawn.pk, account_id=scene.owner.pk)
    missed = scene.ask(desk, RATING, ago=119)
    Request.objects.filter(pk=missed.pk).update(timeout_at=datetime.now(UTC))
    services.read_request(missed.pk)
    offer = scene.ask(desk, OFFER, ago=9)
    asked |= {"offer": offer, "next_offer": scene.ask(desk, {**BETTER, "replaces": offer.pk})}
    for name, text in zip(("first", "second", "third"), RETURNS, strict=True):
        asked[name] = scene.ask(texts, {**RETURN, "request_text": text}, ago=5)
    approved = scene.ask(desk, MAIL, ago=7)
    arguments = MAIL["response_config"]["proposal"]["arguments"]
    edited = {**arguments, "amount": 99, "to": {**arguments["to"], "vip": True}}
    decision = {"action": "edit", "arguments": edited}
    services.answer_request(request=approved, reviewer_id=scene.member.pk, answer=decision)
    asked |= {
        "approval": scene.ask(desk, MAIL, ago=5),
        "restart": scene.ask(desk, RESTART, ago=6),
        "approved": approved,
        "filled": filled,
        "claimed": claimed,
        "answered": answered,
        "cancelled": withdrawn,
        "missed": missed,
    }
    agent = Agent(scene.owner, desk)
    command = {"command": "npm publish --access public", "folder": "/srv/app"}
    once, always = agent.ask(command), agent.ask({"path": "README.md"})
    allow(once, scene.member, Terms(hours=8, uses=1))
    allow(always, scene.member, Terms(hours=8, uses=20, names=["path"]))
    asked |= {"granted": once, "granted_by_name": always, "covered": agent.ask(command)}
    asked["grantable"] = agent.ask({**command, "folder": "/srv/other"})
    scene.ids.update({name: request.pk for name, request in asked.items()})
    scene.ids["grant"] = Grant.objects.get(request_id=always.pk).pk


def fill_the_week(scene: Scene, desk: Loop) -> None:
    """What the overview draws, and somebody who has not joined yet."""
    history(*(services.read_request(scene.ids[name]) for name in ("answered", "missed")))
    written = Request.objects.exclude(pk__in=scene.ids.values()).order_by("created_at")
    for number, each in enumerate(written):
        Request.objects.filter(pk=each.pk).update(request_text=ASKED[number % len(ASKED)])
    given = {"rating": 5, "comment": "Quick, and right.", "category": "positive"}
    services.add_feedback(request=services.read_request(scene.ids["answered"]), feedback=given)
    invite_member(loop=desk, email="grace@example.org")
    alive()


def fill_the_log(scene: Scene) -> None:
    now = datetime.now(UTC)
    minute = timedelta(minutes=1)
    made(scene.owner, "request.claimed", state="delivered", created_at=now - 90 * minute)
    dead = made(scene.owner, "request.timeout", state="dead", created_at=now - 40 * minute)
    attempted(dead, error="ConnectionError: nobody answers there", started_at=now - 39 * minute)
    attempted(dead, status_code=500, response_body=b"oops", started_at=now - 30 * minute)
    soon = now + 6 * minute
    waiting = made(scene.owner, next_attempt_at=soon, created_at=now - 9 * minute)
    attempted(waiting, status_code=503, response_body=b"busy", started_at=now - 8 * minute)
    good = made(scene.owner, state="delivered", created_at=now - 2 * minute)
    headers = {"webhook-id": good.pk, "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9"}
    attempted(
        good,
        status_code=200,
        request_headers={"content-type": "application/json", **headers},
        response_headers={"content-type": "text/plain", "server": "nginx"},
        response_body=b"thank you",
        started_at=now - 2 * minute,
    )
    endpoint, _ = create_endpoint(
        account=scene.owner,
        url="https://router.example.org/review-loop/events",
        events=["request.created", "request.completed"],
        loop_ids=[scene.ids["loop"]],
    )
    scene.ids.update(delivery=good.pk, dead_delivery=dead.pk, endpoint=endpoint.pk)
