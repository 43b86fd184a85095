"""Reads the values that a reviewer posted in the form of a question, valid or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from django.http import HttpRequest

from reviews.response_types.base import ANSWER


@dataclass(frozen=True, slots=True)
class Posted:
    """The values of each field of the answer, by its name, and the comment."""

    answer: Mapping[str, list[str]]
    comment: str

    @classmethod
    def read(cls, request: HttpRequest) -> "Posted":
        names = [name for name in request.POST if name.partition(".")[0] == ANSWER]
        answer = {name: request.POST.getlist(name) for name in names}
        return cls(answer, request.POST.get("comment", ""))

    def __bool__(self) -> bool:
        return any(self.list_values()) or bool(self.comment.strip())

    def list_values(self) -> list[str]:
        """Returns the values of all fields of the answer."""
        return list(chain.from_iterable(self.answer.values()))

    def format_draft(self, answer: str) -> str:
        """Formats the values for people to copy; `answer` is the answer in words."""
        return "\n\n".join(filter(None, (answer, self.comment.strip())))


NOTHING = Posted({}, "")
