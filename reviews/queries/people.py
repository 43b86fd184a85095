"""Finds requests by a person who answered them or was asked.

A person is found by the beginning of their name, of a word of it, or of their address. Only people
who have answered the account's requests, or are in its loops, can be found. Both lists are read by
index up to a limit, and at most MAX_FOUND people's requests are merged.
"""

from typing import Any

from django.db import connection
from django.db.models import Q
from django.db.models.expressions import RawSQL
from django.db.models.fields import CharField

from accounts.emails import fold_address
from loops.active_members import ACTIVE_MEMBERS
from reviews.lifecycle.states import FINAL
from reviews.models import RequestQuerySet
from web.pasted import InvisibleCharacter, clean, to_narrow

ANSWERED, ASKED = "answered", "asked"
MAX_KNOWN = 1000  # people who have answered, or memberships, that are read
MAX_FOUND = 20  # people, or loops, whose requests are merged

_MATCHES = """(starts_with(lower(u.name), %(typed)s) OR starts_with(lower(u.email), %(typed)s)
     OR strpos(lower(u.name), ' ' || %(typed)s) > 0)"""
# Skips from person to person by index, however many requests each has answered.
_ANSWERERS = f"""
WITH RECURSIVE known AS (
    (SELECT person_id AS id, 1 AS place FROM reviews_answer
      WHERE account_id = %(account)s ORDER BY person_id LIMIT 1)
    UNION ALL
    SELECT following.id, known.place + 1 FROM known CROSS JOIN LATERAL (
        SELECT person_id AS id FROM reviews_answer
         WHERE account_id = %(account)s AND person_id > known.id
         ORDER BY person_id LIMIT 1) following
     WHERE known.place < {MAX_KNOWN}
)
SELECT u.id FROM known JOIN accounts_user u ON u.id = known.id
 WHERE {_MATCHES} ORDER BY u.id LIMIT {MAX_FOUND}
"""  # noqa: S608 (nothing in it comes from outside)
_LOOPS = f"""
SELECT DISTINCT member.loop_id FROM (
       SELECT m.loop_id, m.user_id FROM {ACTIVE_MEMBERS}
        WHERE l.creator_id = %(account)s
        ORDER BY l.id LIMIT {MAX_KNOWN}) AS member
  JOIN accounts_user u ON u.id = member.user_id
 WHERE {_MATCHES} ORDER BY member.loop_id LIMIT {MAX_FOUND}
"""  # noqa: S608
_STATEMENTS = {ANSWERED: _ANSWERERS, ASKED: _LOOPS}
_KEY = RawSQL("found.key", [], output_field=CharField())


def find_newest(
    requests: RequestQuerySet, *, account_id: str, typed: str, role: str, count: int
) -> RequestQuerySet:
    """Finds the newest `count` of the account's requests answered by people with such a name.

    With the role ASKED, finds requests of the loops of such people. `requests` has the other
    filters and the start.
    """
    own: RequestQuerySet = requests.created_by(account_id)
    keys = _fetch(_STATEMENTS[role], {"account": account_id, "typed": _fold(typed)})
    if not keys or own.query.is_empty():  # its SQL could not be made
        return own.none()
    if role == ANSWERED:
        of_key = own.filter(answers__account_id=account_id, answers__person_id=_KEY)
        # nobody learns who has answered what several people still answer
        of_key = of_key.filter(Q(policy__isnull=True) | Q(status__in=FINAL))
        newest = of_key.order_by("-answers__asked_at", "-answers__request_id")
    else:
        newest = own.filter(loop_id=_KEY).order_by("-created_at", "-id")
    ids = _merge(newest, keys, count)
    return own.filter(pk__in=ids) if ids else own.none()


def _fold(typed: str) -> str:
    """Returns the typed text in the stored form of names (lowercase) and of addresses."""
    try:
        return fold_address(to_narrow(clean(typed)))
    except InvisibleCharacter:
        return typed.strip().lower()


def _merge(newest: RequestQuerySet, keys: list[str], count: int) -> list[str]:
    """Returns the ids of the newest `count` requests; each key's are read in its index's order.

    Several people may have answered one request, which counts once.
    """
    sql, params = newest.values("id", "created_at")[:count].query.sql_with_params()
    return _fetch(
        f"""SELECT id FROM (SELECT DISTINCT request.id, request.created_at
              FROM unnest(%s::text[]) AS found (key)
             CROSS JOIN LATERAL ({sql}) AS request) AS merged
             ORDER BY created_at DESC, id DESC LIMIT {count:d}""",  # noqa: S608
        [keys, *params],
    )


def _fetch(sql: str, params: Any) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [pk for (pk,) in cursor.fetchall()]
