"""What the bench fills its tables with obeys their constraints."""

from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from bench import seed
from reviews import services
from reviews.models import Answer, Request
from tests.reviews.conftest import Make
from tests.reviews.conftest import make as make
from tests.reviews.test_answers import MISSING
from webhooks.models import Attempt, Delivery

pytestmark = pytest.mark.django_db


def test_deliveries_in_each_state(owner: User, make: Make) -> None:
    requests = [make() for _ in range(6)]
    for each in requests[1:]:
        services.cancel_request(request_id=each.pk, account_id=owner.pk)
    with connection.cursor() as cursor:
        cursor.execute(seed._DELIVERIES, {"loop": requests[0].loop_id, "count": 5})
    states = sorted(Delivery.objects.of_account(owner.pk).values_list("state", flat=True))
    assert states == ["dead", "delivered", "delivered", "delivered", "waiting"]
    assert Delivery.objects.failing().count() == 1
    assert Attempt.objects.filter(account=owner).count() == 5


def test_completed_requests_have_their_answers(owner: User, make: Make) -> None:
    params: dict[str, Any] = {"loops": [make().loop_id], "most": 1, "count": 100}
    with connection.cursor() as cursor:
        cursor.execute(seed._MIXED, params)
        cursor.execute(seed._ANSWERS, params)
        cursor.execute(MISSING)
        assert cursor.fetchone() == (0,)
    completed = Request.objects.created_by(owner.pk).filter(status="completed").count()
    assert Answer.objects.filter(account=owner).count() == completed == 60
