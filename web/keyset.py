"""Pages of a list by the key of their last row, not by counting."""

from django.http import Http404

from db.ids import normalize_id
from web.guards import SignedInRequest


def behind(http: SignedInRequest) -> str | None:
    """The id that a page of a listing begins behind, None on the first page. Raises Http404."""
    raw_id = http.GET.get("before")
    if not raw_id:
        return None
    known = normalize_id(raw_id)
    if known is None:
        raise Http404
    return known
