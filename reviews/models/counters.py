"""The counters of requests, and the changes that are not yet added to them."""

from typing import Any, ClassVar

from django.db import models

from db.columns import LookupField


class Counter(models.Model):
    """The number of requests of an account or a loop (`scope_id`), by status and priority.

    `creator_id` is the account in both cases. Only `reviews.counters` writes here.
    """

    pk = models.CompositePrimaryKey("scope_id", "status", "priority")
    creator_id = LookupField(max_length=24)
    scope_id = LookupField(max_length=24)
    status = LookupField(max_length=9)
    priority = LookupField(max_length=8)
    n = models.BigIntegerField()

    objects: ClassVar[Any] = models.Manager()

    def __str__(self) -> str:
        return f"{self.scope_id} {self.status} {self.priority}: {self.n}"


class CounterChange(models.Model):
    """The change of a counter by one statement, written by a trigger on the table of requests.

    Writers only insert rows, so writers of the same loop never wait for each other.
    """

    creator_id = LookupField(max_length=24)
    loop_id = LookupField(max_length=24)
    status = LookupField(max_length=9)
    priority = LookupField(max_length=8)
    n = models.BigIntegerField()

    objects: ClassVar[Any] = models.Manager()

    class Meta:
        indexes = [
            models.Index(fields=["creator_id"], name="counter_change_account"),
            models.Index(fields=["loop_id"], name="counter_change_loop"),
        ]

    def __str__(self) -> str:
        return f"{self.loop_id} {self.status} {self.priority}: {self.n:+}"
