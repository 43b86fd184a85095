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
# What a policy can name as a veto: one person may stop a call, but never let it run.
VETOES: Final = (REJECT, RESPOND)
HIGH: Final = "high"
RISKS: Final = ("low", "medium", HIGH)
