"""The proposed call of an approval for people: a table of its arguments, and what was changed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reviews import outline
from reviews.models import Request
from reviews.response_types.approval import APPROVAL, read_proposal
from reviews.response_types.approval.values import is_same
from reviews.response_types.approval.words import RISK_LABELS
from web.humanize import format_count
from web.sanitize import show_invisible

MAX_LENGTH: Final = 400  # characters of a text that is not folded
MAX_LINES: Final = 10
MAX_BEGINNING: Final = 120  # characters of a folded text
# A text without spaces, or with a sign or an indentation that programs use more than people.
_CODE: Final = re.compile(r"\A\S*\Z|[{}<>|$`\\;=]|^(?: {2}|\t)|(?:\A|\s)--?\w", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as people see it: a text, or an outline of an object or array.

    A folded value shows its `beginning`, and its `size` in words.
    """

    text: str = ""
    outline: SafeString | None = None
    is_code: bool = False
    is_word: bool = False  # none, yes, no: words of the page's, not the program's
    beginning: str = ""
    size: str = ""
    is_open: bool = False

    @property
    def is_folded(self) -> bool:
        return bool(self.size)


@dataclass(frozen=True, slots=True)
class Row:
    """An argument; with `after`, the value that a person gave it."""

    name: str
    value: Shown
    after: Shown | None = None


@dataclass(frozen=True, slots=True)
class ProposalTable:
    """`rows` is empty for a call without arguments."""

    name: str
    title: str
    risk: str  # low, medium, high or ''
    rows: list[Row]

    @property
    def risk_label(self) -> str:
        return RISK_LABELS.get(self.risk, "")

    @property
    def changed_rows(self) -> list[Row]:
        return [row for row in self.rows if row.after]


def build(request: Request) -> ProposalTable | None:
    """Builds the table, with what was changed; None for a request without a proposal.

    Retention removes the proposal of an approval.
    """
    if request.response_type != APPROVAL or request.texts_removed_at:
        return None
    decision = request.response_data
    decided = decision.get("arguments") if isinstance(decision, dict) else None
    return build_with(request.response_config, decided)


def build_with(
    config: Mapping[str, Any], decided: Mapping[str, Any] | None = None
) -> ProposalTable:
    """Builds the table of a proposal, and of the arguments that a person decided on."""
    proposal = read_proposal(config)
    return ProposalTable(
        name=show_invisible(proposal.name),
        title=show_invisible(proposal.title),
        risk=proposal.risk,
        rows=[
            _build_row(name, value, (decided or {}).get(name, value))
            for name, value in proposal.arguments.items()
        ],
    )


def _build_row(name: str, before: Any, after: Any) -> Row:
    is_changed = not is_same(before, after)
    return Row(show_invisible(name), show(before), show(after) if is_changed else None)


def show(value: Any) -> Shown:
    """Formats any JSON value. Invisible characters get names, because they hide what is there."""
    if isinstance(value, dict | list) and value:
        return Shown(
            outline=outline.format_outline(value, write_exactly, show_invisible),
            size=outline.format_count(value),
            is_open=outline.is_short(value),
        )
    if not isinstance(value, str) or not value:
        is_word = value is None or isinstance(value, bool | str)
        text = "" if value == "" else write_exactly(value)
        return Shown(text=text, is_code=not is_word, is_word=is_word)
    return _show_text(value)


def write_exactly(value: Any) -> str:
    """Writes a value without entries so that no other value reads the same.

    A text gets quotation marks where it reads like a word of the page, a number, an empty part or a
    text with quotation marks.
    """
    if isinstance(value, dict | list):
        return "{}" if isinstance(value, dict) else "[]"
    if not isinstance(value, str):
        return outline.format_scalar(value)
    text = show_invisible(value)
    return f'"{text}"' if _reads_like_another(value.strip().casefold()) else text


def _reads_like_another(text: str) -> bool:
    words = (*map(outline.format_scalar, (True, False, None)), _("empty"), "true", "false", "null")
    if text in ("", "[]", "{}", *words) or (text[0] == text[-1] == '"'):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def _show_text(value: str) -> Shown:
    text = write_exactly(value)
    is_code = _CODE.search(value) is not None
    if len(text) <= MAX_LENGTH and text.count("\n") < MAX_LINES:
        return Shown(text=text, is_code=is_code)
    count = len(value)
    size = ngettext("%(count)s character", "%(count)s characters", count)
    return Shown(
        text=text,
        is_code=is_code,
        beginning=" ".join(text[:MAX_BEGINNING].split()),
        size=size % {"count": format_count(count)},
    )
