"""What a dispatcher takes, and what it refuses."""

import threading
from functools import partial

from outbox.dispatcher import Dispatcher
from reviews.notifications.push.channel import PushChannel


def test_work_without_a_row_is_refused_where_it_would_pile_up() -> None:
    dispatcher, free = Dispatcher(PushChannel(), threads=1, room=4), threading.Event()
    done: list[bool | None] = []
    for _ in range(10):
        dispatcher.do(partial(free.wait, 20), done.append)
    dispatcher.recorder.settle()
    refused = list(done)
    free.set()
    dispatcher.settle()
    dispatcher.close()
    assert set(refused) == {None}
    assert 4 <= done.count(True) <= 4 + dispatcher.threads.count
    assert len(done) == 10
