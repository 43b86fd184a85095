"""One form, one thing: what a double click, a reload or the back button must not make twice.

A form carries the id that its object will have, signed for its person and its purpose. Whoever
sends the form again comes upon the object that is there, by the primary key of its table, and is
led to it. Nothing is stored and nothing has to be swept. The id is in the bucket of the person,
who owns what the form makes.
"""

from django.core import signing

from db.ids import is_in_bucket, normalize_id, owned_id


def issue(purpose: str, user_id: str) -> str:
    """A fresh id in a token for a hidden field."""
    return signing.dumps(owned_id(user_id), salt=salt(purpose, user_id))


def read(token: str, purpose: str, user_id: str) -> str | None:
    """The id in a token of the same person and purpose; None for anything else."""
    try:
        made = normalize_id(signing.loads(token, salt=salt(purpose, user_id)))
    except signing.BadSignature:
        return None
    return made if made is not None and is_in_bucket(made, user_id) else None


def salt(purpose: str, user_id: str) -> str:
    return f"once.{purpose}.{user_id}"
