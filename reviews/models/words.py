"""The words of requests' texts, beside the requests."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.search import SearchVectorField
from django.db import models


class RequestWords(models.Model):
    """What a request is found by; written once, by a trigger, when the request is created.

    In a table of its own, because every change of a request's status writes into every index of
    its table, this one included: a sweep would compute the words of all that it settles again.
    """

    request = models.OneToOneField(
        "reviews.Request",
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_constraint=False,  # the trigger writes in the statement that makes the request
    )
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    words = SearchVectorField()

    objects: ClassVar[Any] = models.Manager()

    def __str__(self) -> str:
        return str(self.request_id)
