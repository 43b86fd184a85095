"""Reads the values that a reviewer posted in the form of a question, valid or not."""

from dataclasses import dataclass

from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class Posted:
    """The values of the answer, and the comment."""

    answer: list[str]
    comment: str

    @classmethod
    def read(cls, request: HttpRequest) -> "Posted":
        return cls(request.POST.getlist("answer"), request.POST.get("comment", ""))

    def __bool__(self) -> bool:
        return any(self.answer) or bool(self.comment.strip())

    def format_draft(self, answer: str) -> str:
        """Formats the values for people to copy; `answer` is the answer in words."""
        return "\n\n".join(filter(None, (answer, self.comment.strip())))


NOTHING = Posted([], "")
