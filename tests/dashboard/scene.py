"""An account with realistic data, for tests of pages."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.models import ApiKey, Usage, User
from accounts.services import create_api_key
from db import worker_status
from db.ids import new_id
from loops.models import Loop
from loops.services import create_loop, invite_member, join_loop
from reviews import services
from reviews.models import Request
from tests.dashboard.many import older
from tests.reviews.conftest import FIELDS, acting
from webhooks.models import Delivery

TEXT = """The customer writes:

> The cup arrived **broken**, and I want my money back.

| Order | Paid |
|---|---|
| 4821 | 49.00 € |

```python
refund(order=4821, amount=49)  # what I would do
```"""


def draw(owner: User, member: User) -> dict[str, Any]:
    """Loops, people, and requests in every state; returns some of them by name."""
    desk = create_loop(
        owner_id=owner.pk,
        name="Refund desk",
        icon="shield-check",
        description="Decides on refunds above 50 €.",
    )
    join_loop(user=member, code=desk.invite_code)
    invite_member(loop=desk, email="grace.hopper@navy.example")
    create_loop(owner_id=owner.pk, name="Legal", icon="certificate")
    create_loop(owner_id=owner.pk, name="Tone of voice", icon="megaphone")
    made = {
        "pending": ask(owner, desk, request_text=TEXT, context={"order": 4821, "vip": True}),
        "image": ask(owner, desk, type="image", image_url="https://images.example/cup.png"),
        "claimed": ask(owner, desk, priority="critical", request_text="Block this card?"),
        "completed": ask(owner, desk, request_text="Is this reply polite?", priority="low"),
        "late": ask(owner, desk, request_text="Send the newsletter now?"),
        "cancelled": ask(owner, desk, request_text="Rename the product?", priority="medium"),
    }
    services.claim_request(request=made["claimed"], reviewer_id=member.pk)
    services.answer_request(request=made["completed"], reviewer_id=member.pk, answer="yes")
    services.cancel_request(request_id=made["cancelled"].pk, account_id=owner.pk)
    services.add_feedback(
        request=services.read_request(made["completed"].pk),
        feedback={"rating": 5, "comment": "Quick and right."},
    )
    history(services.read_request(made["completed"].pk), made["late"])
    alive()
    used(create_api_key(user=owner, name="Support agent")[0], 64)
    used(create_api_key(user=owner, name="Newsletter bot")[0], 93)
    return {"loop": desk, **made}


def alive() -> None:
    """Background work has just been at it."""
    for name in worker_status.EXPECTED_SWEEPS:
        worker_status.record_heartbeat(name)


def ask(owner: User, loop: Loop, **changes: Any) -> Request:
    fields = {**FIELDS, "callback_url": "https://agent.example/hook", **changes}
    return services.create_request(loop_id=loop.pk, account=acting(owner), fields=fields)


def history(completed: Request, late: Request) -> None:
    """A week of answers, timeouts and dead deliveries before today."""
    now = timezone.now()
    Request.objects.filter(pk=late.pk).update(timeout_at=now - timedelta(minutes=1))
    late = services.read_request(late.pk)
    for day in range(7):
        for number in range(3 + (day * 5) % 4):
            at = now - timedelta(days=day, minutes=37 * number)
            took = timedelta(minutes=2 + (number * 7 + day * 3) % 23)
            older(completed, 1, created_at=at - took, response_at=at, updated_at=at)
        if day % 3 == 1:
            at = now - timedelta(days=day)
            older(late, day, created_at=at - timedelta(hours=1), timeout_at=at)
            Delivery.objects.create(
                account=completed.creator,
                event="request.timeout",
                subject_id=late.pk,
                occurrence=new_id(),
                url="https://agent.example/hook",
                host="agent.example",
                body=b"{}",
                state="dead",
            )


def used(key: ApiKey, calls: int) -> None:
    """What the key has called in the last hours."""
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    Usage.objects.bulk_create(
        Usage(
            account_id=key.user_id,
            key=key,
            hour=hour - timedelta(hours=back),
            calls=max(1, (calls * (7 + back * 5) % 97) if back else calls),
            last_at=hour,
        )
        for back in range(24)
    )
