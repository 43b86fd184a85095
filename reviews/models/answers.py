"""The table of answers: what each person has answered to a request."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from db.columns import ExactJSONField, bucket_constraint, owned_id_field
from loops.models import Loop
from reviews.models.requests import Request, is_member_of_loop


class AnswerQuerySet(models.QuerySet["Answer"]):
    """Filters for answers."""

    def of_reviewer(self, person_id: str) -> "AnswerQuerySet":
        """Keeps the person's own answers in loops where they are an active member."""
        return self.filter(is_member_of_loop(person_id), person_id=person_id)

    def by_request(self, request_ids: Iterable[str]) -> dict[str, list["Answer"]]:
        """Reads the answers to these requests with their people, the oldest first."""
        found: dict[str, list[Answer]] = {request_id: [] for request_id in request_ids}
        for answer in self.filter(request_id__in=list(found)).in_order():
            found[answer.request_id].append(answer)
        return found

    def in_order(self) -> "AnswerQuerySet":
        """Loads the people with their answers, the oldest first."""
        return self.select_related("person").order_by("answered_at", "id")


class Answer(models.Model):
    """One person's answer to a request. What the answers decide is in the request's own columns.

    `account`, `loop` and `asked_at` repeat the request's creator, loop and `created_at`, which
    never change, for the indexes. Only `reviews.lifecycle.transitions` writes it.
    """

    id = owned_id_field("account_id")
    request = models.ForeignKey(
        Request, on_delete=models.CASCADE, related_name="answers", db_index=False
    )
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        db_constraint=False,  # the request refers to it
    )
    loop = models.ForeignKey(
        Loop, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="answers", db_index=False
    )
    data = ExactJSONField()
    comment = models.TextField(null=True)  # noqa: DJ001 (the API returns null)
    asked_at = models.DateTimeField()
    answered_at = models.DateTimeField()

    objects: ClassVar[Any] = AnswerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "person"], name="one_answer_a_person"),
            bucket_constraint("account_id", name="answer_in_bucket"),
        ]
        indexes = [
            models.Index(fields=["person", "-answered_at", "-id"], name="answer_person"),
            models.Index(
                fields=["account", "person", "-asked_at", "-request"], name="answer_account_person"
            ),
            models.Index(
                fields=["account", "answered_at"], include=["asked_at"], name="answer_account"
            ),
            models.Index(fields=["loop", "-asked_at", "-id"], name="answer_loop"),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} on {self.request_id}"


def build_answer(
    request: Request, *, person_id: str, data: Any, comment: str | None, at: datetime
) -> Answer:
    """Builds the row of an answer to the request."""
    return Answer(
        request_id=request.pk,
        account_id=request.creator_id,
        loop_id=request.loop_id,
        person_id=person_id,
        data=data,
        comment=comment,
        asked_at=request.created_at,
        answered_at=at,
    )
