"""The id of an event, which derives from what happened.

The same event has the same id wherever it is made: a copy of the database that was restored, or
a transition that was rolled back and repeated, cannot send it under a second one. Receivers see
the id as `webhook-id`, and may rely on it to recognize events that they have.

It begins with the time of its subject, a hash of the occurrence tells the events of a subject
apart, and it ends with the bucket of the account.
"""

import hashlib

from db.ids import BUCKET

TIME, HASH = 12, 9  # characters


def event_id(*, subject_id: str, occurrence: str, account_id: str) -> str:
    """The id of what happened to a subject."""
    digest = hashlib.sha256(occurrence.encode()).hexdigest()
    return f"{subject_id[:TIME]}{digest[:HASH]}{account_id[-BUCKET:]}"
