"""Which item a thread sends next."""

from typing import Any

from outbox.items import Item
from outbox.queue import Queue


def item(account: str, name: str = "", **changes: Any) -> Item[None]:
    values: dict[str, Any] = {"lane": "lane", "lease_ends": 60.0, **changes}
    return Item(ids=(name or account,), claim_id="c", account=account, content=None, **values)


def filled(threads: int, *items: Item[None], **changes: Any) -> Queue[None]:
    queue: Queue[None] = Queue(threads, prefetch=3, **changes)
    for each in items:
        queue.add(each)
    return queue


def take_all(queue: Queue[None]) -> list[str]:
    taken = []
    while found := queue.take():
        taken.append(found.ids[0])
    return taken


def test_an_account_gets_half_of_the_threads() -> None:
    queue = filled(8, *[item("a") for _ in range(9)])
    assert take_all(queue) == ["a"] * 4
    queue.add(item("b"))
    assert take_all(queue) == ["b"]
    queue.done(item("a"))
    assert take_all(queue) == ["a"]


def test_the_account_with_the_fewest_under_way_comes_first() -> None:
    queue = filled(8, *[item("a") for _ in range(3)], item("b", lease_ends=61.0))
    assert take_all(queue) == ["a", "b", "a", "a"]


def test_one_more_thread_is_for_an_account_that_has_none() -> None:
    queue = filled(4, *[item(name) for name in "aabb"])
    assert sorted(take_all(queue)) == ["a", "a", "b", "b"]
    queue.add(item("c", is_suspect=True))
    assert take_all(queue) == []
    for _ in range(2):
        queue.add(item("d"))
    assert take_all(queue) == ["d"]


def test_suspects_share_half_of_the_threads() -> None:
    names = [f"a{number}" for number in range(8)]
    queue = filled(8, *[item(name, is_suspect=True) for name in names])
    assert len(take_all(queue)) == 4
    queue.add(item("fine"))
    assert take_all(queue) == ["fine"]
    queue.done(item(names[0], is_suspect=True))
    assert len(take_all(queue)) == 1


def test_a_lane_has_half_of_the_threads_where_accounts_share_it() -> None:
    items = [item(f"a{number}", lane="slow.example") for number in range(8)]
    assert len(take_all(filled(8, *items))) == 8
    queue = filled(8, *items, has_lane_share=True)
    assert len(take_all(queue)) == 4
    queue.add(item("b", lane="fcm.example"))
    assert take_all(queue) == ["b"]
    assert queue.bounds().full_lanes == []
    for _ in range(4):
        queue.add(item("c", lane="slow.example"))
    assert queue.bounds().full_lanes == ["slow.example"]


def test_what_may_be_claimed_leaves_room_for_others() -> None:
    queue = filled(8)
    assert (queue.bounds().limit, queue.bounds().share) == (24, 12)
    for _ in range(12):
        queue.add(item("a"))
    bounds = queue.bounds()
    assert (bounds.limit, bounds.share, bounds.full_accounts) == (12, 6, ["a"])
    for number in range(20):
        queue.add(item(f"b{number}"))
    assert (queue.bounds().limit, queue.bounds().share) == (1, 1)


def test_suspects_are_half_of_what_is_claimed() -> None:
    queue = filled(8, *[item(f"a{number}", is_suspect=True) for number in range(9)])
    assert queue.bounds().suspects == 3
    for _ in range(4):
        queue.take()
    assert queue.bounds().suspects == 3
    for number in range(9):
        queue.add(item(f"b{number}", is_suspect=True))
    assert queue.bounds().suspects == 0


def test_one_thread_sends_one_after_another() -> None:
    queue = filled(1, item("a", "1"), item("a", "2"))
    assert take_all(queue) == ["1"]
    queue.done(item("a"))
    assert take_all(queue) == ["2"]


def test_the_late_are_taken_out() -> None:
    queue = filled(8, item("a", "1", lease_ends=10.0), item("a", "2", lease_ends=20.0))
    assert [each.ids for each in queue.take_late(15.0)] == [("1",)]
    assert take_all(queue) == ["2"]
    assert queue.held == 1
