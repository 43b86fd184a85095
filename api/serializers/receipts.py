"""Checks the arguments with which a receipt is redeemed."""

from collections.abc import Mapping
from typing import Any

from api.errors import ValidationFailed
from api.fields import Input, JsonObject, StrictText
from reviews import canonical
from reviews.response_types.approval.proposal import MAX_NAME


class RedeemInput(Input):
    """The body of POST /api/requests/{id}/redeem."""

    arguments = JsonObject(help_text="What the program is about to run, in any order of names.")
    name = StrictText(
        longest=MAX_NAME,
        required=False,
        help_text="What the program is about to call. Another name than the approved one spends "
        "nothing. Without it only the arguments are compared.",
    )

    def check(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Checks that the arguments can be compared. Raises ApiError."""
        checked = super().check(body)
        if fault := canonical.find_fault(checked["arguments"], "arguments"):
            raise ValidationFailed(fault)
        return checked
