"""Every list with many combinations of its filters: none of them is an error of the server."""

import random
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews import services
from tests.portal import signed_in
from tests.reviews.conftest import Make

NOWHERE = "0" * 24
WORDS = ("", "refund", "nothing like it", "' & | !:*", "%_\\", "a" * 250, "é\u200b𝕏")
DAYS = ("", "2020-01-01", "2999-12-31", "0001-01-01", "9999-12-31", "2026-02-30")
NUMBERS = ("", "1", "2", "0", "-1", "x", "9" * 30)
# What each page reads from its URL; `loop` and `request` stand for ids.
LISTS: dict[str, dict[str, tuple[str, ...]]] = {
    "/dashboard/requests/": {
        "q": WORDS,
        "loop": ("", "loop", NOWHERE, "x"),
        "status": ("", "open", "pending", "timeout", "x"),
        "priority": ("", "high", "low"),
        "person": ("", "member", "owner@", "zoe", "%"),
        "role": ("", "asked"),
        "metadata": ("", "order=1042", "order", "=", "a\0=b", "é=\u200b𝕏", "k" * 41 + "=", " "),
        "since": DAYS,
        "until": DAYS,
        "page": NUMBERS,
        "before": ("", "request", NOWHERE),
    },
    "/dashboard/deliveries/": {
        "state": ("", "pending", "delivered", "dead", "x"),
        "event": ("", "request.completed", "x"),
        "host": WORDS,
        "before": ("", NOWHERE, "x"),
        "tested": ("", NOWHERE, "x"),
    },
    "/dashboard/audit/": {
        "kind": ("", "key", "loop", "x"),
        "who": ("", "me", "others", "x"),
        "since": DAYS,
        "until": DAYS,
        "before": ("", NOWHERE, "x"),
    },
    "/dashboard/loops/": {"before": ("", "loop", NOWHERE, "x")},
    "/dashboard/keys/": {"before": ("", NOWHERE, "x")},
    "/dashboard/requests/new/": {"from": ("", "request", NOWHERE, "x"), "loop": ("", "loop", "x")},
    "/inbox/": {
        "q": WORDS,
        "loop": ("", "loop", NOWHERE, "x"),
        "type": ("", "text", "single_select", "x"),
        "page": NUMBERS,
    },
    "/inbox/{request}/": {
        "q": WORDS,
        "loop": ("", "loop", NOWHERE, "x"),
        "type": ("", "text", "single_select", "x"),
        "n": NUMBERS,
        "skipped": ("", "request", f"request.{NOWHERE}", "x.." * 99),
        "sent": ("", "request", NOWHERE, "x"),
    },
    "/my-work/": {"before": ("", "request", NOWHERE, "x")},
}


@pytest.mark.django_db
@pytest.mark.parametrize("path", LISTS)
def test_any_filters_together(owner: User, member: User, loop: Loop, make: Make, path: str) -> None:
    join_loop(user=owner, code=loop.invite_code)
    done, waiting = make(), make()
    services.answer_request(request=done, reviewer_id=member.pk, answer="yes")
    ids = {"loop": loop.pk, "request": waiting.pk}
    browser = signed_in(owner)
    chance = random.Random(path)
    for _ in range(60):
        chosen = {name: chance.choice(values) for name, values in LISTS[path].items()}
        query: dict[str, Any] = {name: ids.get(value, value) for name, value in chosen.items()}
        response = browser.get(path.format(**ids), query)
        assert response.status_code in (200, 302, 404, 422), query
