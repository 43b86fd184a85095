"""Reads the versions of a question: the place of one among them, and what changed before it."""

from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from reviews import response_types
from reviews.changes import MAX_CHANGES, Change, compare_texts, compare_values
from reviews.diff_html import format_change, format_text
from reviews.models import Request
from web.sanitize import show_invisible

MAX_STEPS = 200  # to both sides; each takes a look into an index
# The request itself has step 0.
_CHAIN = f"""
WITH RECURSIVE earlier (id, replaces_id, step) AS (
    SELECT id, replaces_id, 0 FROM reviews_request WHERE id = %(id)s
    UNION ALL
    SELECT r.id, r.replaces_id, step - 1 FROM earlier JOIN reviews_request r
        ON r.id = earlier.replaces_id WHERE step > -{MAX_STEPS:d}
), later (id, step) AS (
    SELECT %(id)s::text, 0
    UNION ALL
    SELECT r.id, step + 1 FROM later JOIN reviews_request r
        ON r.replaces_id = later.id WHERE step < {MAX_STEPS:d}
)
SELECT id, step FROM earlier WHERE step < 0 UNION ALL SELECT id, step FROM later ORDER BY step
"""  # noqa: S608 (nothing in it comes from outside)


@dataclass(frozen=True, slots=True)
class Section:
    """The changes in one part of a question. With `is_more`, further ones are not shown.

    Each row has the path of a value, and the value before and after as HTML.
    """

    title: str
    rows: list[tuple[str, SafeString]]
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed since the version before: in its text, and elsewhere.

    `text` is empty if the text is the same. With `is_unknown` a version has lost its texts.
    """

    text: SafeString = field(default_factory=SafeString)
    sections: list[Section] = field(default_factory=list)
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Versions:
    """The place of a request among its versions, counted from 1; ids are '' where there is none.

    `earlier` are the ids before it, the nearest first. `changes` is None for a first version.
    """

    number: int
    total: int
    is_more: bool
    earlier: list[str]
    following: str
    newest: str
    changes: Changes | None

    @property
    def previous(self) -> str:
        return next(iter(self.earlier), "")


def read_versions(item: Request) -> Versions | None:
    """Reads the versions of a request of `for_single_read()`; None if it is the only one.

    At most two statements, none for the only version.
    """
    if not (item.replaces_id or item.superseded_by_id):
        return None
    with connection.cursor() as cursor:
        cursor.execute(_CHAIN, {"id": item.pk})
        rows: list[tuple[str, int]] = cursor.fetchall()
    ids = [each for each, _step in rows]
    at = ids.index(item.pk)
    older = Request.objects.filter(pk=item.replaces_id).first() if item.replaces_id else None
    return Versions(
        number=at + 1,
        total=len(ids),
        is_more=MAX_STEPS in (at, len(ids) - at - 1),
        earlier=ids[:at][::-1],
        following=item.superseded_by_id or "",
        newest=ids[-1] if ids[-1] != item.pk else "",
        changes=compare(older, item) if older else None,
    )


def compare(older: Request, newer: Request) -> Changes:
    """Compares what reviewers see of two versions."""
    if older.texts_removed_at or newer.texts_removed_at:
        return Changes(is_unknown=True)
    is_same = older.request_text == newer.request_text
    parts = [] if is_same else compare_texts(older.request_text, newer.request_text)
    found = [
        (_("Proposed action"), compare_values(*map(_describe_proposal, (older, newer)))),
        (_("Arguments"), compare_values(*map(_read_arguments, (older, newer)))),
        (_("Fields"), compare_values(*map(_read_fields, (older, newer)))),
        (_("Context"), compare_values(older.context or {}, newer.context or {})),
        (_("Answer"), _compare_answers(older, newer)),
    ]
    sections = [build_section(title, changes) for title, changes in found if changes]
    return Changes(format_text(parts), sections)


def build_section(title: str, changes: list[Change]) -> Section:
    rows = [
        (show_invisible(change.path), format_change(change)) for change in changes[:MAX_CHANGES]
    ]
    return Section(title, rows, is_more=len(changes) > MAX_CHANGES)


def _describe_proposal(request: Request) -> dict[str, Any]:
    """Describes the call that an approval proposes, but for its arguments; {} for other types."""
    proposal = _read_object(request, "proposal")
    labels = {"name": _("Name"), "title": _("Title"), "risk": _("Risk")}
    return {label: proposal[name] for name, label in labels.items() if proposal.get(name)}


def _read_arguments(request: Request) -> dict[str, Any]:
    return dict(_read_object(request, "proposal").get("arguments") or {})


def _read_fields(request: Request) -> dict[str, Any]:
    """Reads the fields of a form; {} for other types."""
    return dict(_read_object(request, "schema").get("properties") or {})


def _read_object(request: Request, name: str) -> dict[str, Any]:
    """Reads an object of the configuration, which other types may have as any value."""
    value = request.response_config.get(name)
    return value if isinstance(value, dict) else {}


def _compare_answers(older: Request, newer: Request) -> list[Change]:
    """Compares options, default and image, as people read them."""
    rows = (
        (_("Options"), *map(_format_options, (older, newer))),
        (_("If nobody answers in time"), *map(_format_default, (older, newer))),
        (_("Image"), older.image_url, newer.image_url),
    )
    return [
        Change(name, before, after, has_before=bool(before), has_after=bool(after))
        for name, before, after in rows
        if before != after
    ]


def _format_options(request: Request) -> str:
    kind = response_types.get_response_type(request.response_type)
    values = kind.list_values(request.response_config)
    return ", ".join(kind.get_labels(request.response_config, values))


def _format_default(request: Request) -> str:
    return request.format_answer(request.default_response)
