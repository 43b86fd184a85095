"""Splits requests into parts of bounded size, for readers that hold all of a part in memory.

The body of a call has at most 256 KiB, so a request, its feedback and each answer have no more.
With 15 answers that is about 4.5 MiB for one request.
"""

from collections.abc import Iterable, Iterator, Sequence

from django.db import connection
from django.db.models import BigIntegerField
from django.db.models.expressions import RawSQL

PART = 4 * 1024 * 1024  # bytes of stored texts and JSON; a single larger request is a part
# Of the columns without a small limit of their own.
_SIZE = """
    octet_length(r.request_text) + octet_length(r.response_config::text)
    + octet_length(r.default_response::text) + coalesce(octet_length(r.context::text), 0)
    + coalesce(octet_length(r.response_data::text), 0)
    + coalesce((SELECT octet_length(f.body::text) FROM reviews_feedback f
                 WHERE f.request_id = r.id), 0)
    + coalesce((SELECT sum(octet_length(a.data::text) + coalesce(octet_length(a.comment), 0))
                  FROM reviews_answer a WHERE a.request_id = r.id), 0)"""
_SIZES = f"SELECT r.id, {_SIZE} FROM reviews_request r WHERE r.id = ANY (%(ids)s)"  # noqa: S608
# The size of a request, for a queryset.
SIZE = RawSQL(_SIZE.replace("r.", "reviews_request."), (), output_field=BigIntegerField())  # noqa: S611


def split(request_ids: Sequence[str]) -> Iterator[list[str]]:
    """Yields the ids in their order, as many at a time as have PART bytes together, at least one.

    One statement; none for a single request.
    """
    if len(request_ids) < 2:
        return split_sized((request_id, 0) for request_id in request_ids)
    with connection.cursor() as cursor:
        cursor.execute(_SIZES, {"ids": list(request_ids)})
        sizes = dict(cursor.fetchall())
    # one may have been removed meanwhile
    return split_sized((request_id, sizes.get(request_id, 0)) for request_id in request_ids)


def split_sized(sized: Iterable[tuple[str, int]]) -> Iterator[list[str]]:
    """Yields the ids as `split` does, given their sizes."""
    part: list[str] = []
    total = 0
    for request_id, size in sized:
        if part and total + size > PART:
            yield part
            part, total = [], 0
        part.append(request_id)
        total += size
    if part:
        yield part
