"""The search words of requests."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.search import SearchVectorField
from django.db import models


class RequestWords(models.Model):
    """The words of a request's text, written once by a trigger when the request is created.

    They have their own table because every change of a request's status updates all indexes of its
    table: a sweep would compute the words of its requests again.
    """

    request = models.OneToOneField(
        "reviews.Request",
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_constraint=False,  # the trigger runs in the statement that inserts the request
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
