"""Finds requests by their metadata, for lists that the ORM reads."""

from collections.abc import Mapping
from typing import Any

from django.db import connection

from reviews.models import RequestQuerySet
from reviews.models.metadata import HAS_PAIRS, PAIRS, write_pairs

MAX_INDEXED = 10_000  # what more requests have is soon found from the newest on
_BY_INDEX = f"SELECT id FROM reviews_request WHERE {HAS_PAIRS} LIMIT {MAX_INDEXED + 1}"  # noqa: S608


def keep_those_with(
    requests: RequestQuerySet, account_id: str, metadata: Mapping[str, str]
) -> RequestQuerySet:
    """Keeps requests that the account created with all of these pairs.

    The planner cannot tell rare pairs from common ones, and would read all requests in search of a
    rare one. So the index is asked first.
    """
    pairs = write_pairs(account_id, metadata)
    with connection.cursor() as cursor:
        cursor.execute(_BY_INDEX, {"pairs": pairs})
        ids = [pk for (pk,) in cursor.fetchall()]
    if not ids:
        return requests.none()
    if len(ids) <= MAX_INDEXED:
        return requests.filter(pk__in=ids)
    wanted: Any = pairs  # the stubs take a field of arrays for one of strings
    return requests.alias(pairs=PAIRS).filter(metadata__isnull=False, pairs__contains=wanted)
