"""The web server by itself."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from django.db import transaction

from bench.api import BODY
from bench.serving import web
from loops.models import Loop
from reviews.models import Request
from tests.backends import waiting_for_locks
from tests.serving import database_url
from tests.waiting import wait_until

CALLS = 4


@pytest.mark.django_db(transaction=True)
def test_calls_under_way_are_finished_before_it_stops(owner_key: str, loop: Loop) -> None:
    with web(DATABASE_URL=database_url(), WEB_WORKERS="2") as server, ThreadPoolExecutor() as pool:
        url = f"http://127.0.0.1:{server.port}/v1/api/loops/{loop.pk}/requests"
        headers = {"Authorization": f"Bearer {owner_key}"}
        with transaction.atomic():
            Loop.objects.select_for_update().get(pk=loop.pk)
            calls = [
                pool.submit(requests.post, url, json=BODY, headers=headers, timeout=30)
                for _ in range(CALLS)
            ]
            wait_until(lambda: waiting_for_locks() == CALLS)
            server.process.terminate()
        assert {call.result().status_code for call in calls} == {201}
        assert server.process.wait(10) == 0
    assert Request.objects.count() == CALLS
