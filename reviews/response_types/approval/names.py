"""The words of an approval in the API: actions and risks."""

from typing import Final, Literal

APPROVAL: Final = "approval"  # the response type

Action = Literal["approve", "edit", "reject", "respond"]

APPROVE: Final = "approve"
EDIT: Final = "edit"
REJECT: Final = "reject"
RESPOND: Final = "respond"

ACTIONS: Final = (APPROVE, EDIT, REJECT, RESPOND)
OFFERED_BY_DEFAULT: Final = (APPROVE, REJECT)
HIGH: Final = "high"
RISKS: Final = ("low", "medium", HIGH)
