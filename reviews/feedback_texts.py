"""Removes the texts of feedback once those of its request go; numbers and choices stay."""

from typing import Any

# All other fields were typed or are unknown: comments, tags and fields of programs.
KEPT = (
    "rating", "accuracy", "timeliness", "helpfulness", "would_recommend", "follow_up_needed",
    "category",
)  # fmt: skip
REMOVE = f"""
UPDATE reviews_feedback
   SET body = coalesce(
       (SELECT json_object_agg(key, value) FROM json_each(body)
         WHERE key IN ({", ".join(f"'{name}'" for name in KEPT)})), '{{}}')
 WHERE request_id = ANY (%(ids)s) AND account_id = %(account)s
"""  # noqa: S608 (nothing in it comes from outside)


def remove_texts(feedback: dict[str, Any]) -> dict[str, Any]:
    """Returns the feedback without its texts."""
    return {name: value for name, value in feedback.items() if name in KEPT}
