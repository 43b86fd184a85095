"""Four hundred calls at once never exceed the quota."""

import threading
from collections import Counter

import pytest
from django.db import connections

from accounts.models import Usage, User
from accounts.services import create_api_key
from tests.api.wire import send

THREADS, CALLS = 16, 25


@pytest.mark.contract("quota.exact", "quota.refused_free")
@pytest.mark.usefixtures("steady_hour")
@pytest.mark.django_db(transaction=True)
def test_exactly_a_hundred_succeed(owner: User) -> None:
    _, secret = create_api_key(user=owner, name="fresh", permissions=[])
    start = threading.Barrier(THREADS)
    statuses: list[int] = []

    def call() -> None:
        try:
            start.wait()
            for _ in range(CALLS):
                statuses.append(send("GET", "/v1/test", f"Bearer {secret}").status_code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=call) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(statuses) == {200: 100, 429: 300}
    assert Usage.objects.get().calls == 100
