"""Issues form tokens, which prevent duplicate objects (double click, reload, back button).

A form carries the id of the object that it will create, signed for one person and purpose. If the
form is sent again, the primary key shows that the object exists, and the person is redirected to
it. Tokens are not stored. The id is in the bucket of the person, the owner of the object.
"""

from django.core import signing

from db.ids import is_in_bucket, normalize_id, owned_id


def issue(purpose: str, user_id: str) -> str:
    """Returns a token with a new id, for a hidden field."""
    return signing.dumps(owned_id(user_id), salt=build_salt(purpose, user_id))


def read(token: str, purpose: str, user_id: str) -> str | None:
    """Returns the id in a token of the same person and purpose, or None for any other token."""
    try:
        object_id = normalize_id(signing.loads(token, salt=build_salt(purpose, user_id)))
    except signing.BadSignature:
        return None
    if object_id is None or not is_in_bucket(object_id, user_id):
        return None
    return object_id


def build_salt(purpose: str, user_id: str) -> str:
    return f"once.{purpose}.{user_id}"
