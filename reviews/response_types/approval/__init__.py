"""Approvals: a person approves, edits, rejects or answers a call that a program proposes."""

from reviews.response_types.approval.names import APPROVAL
from reviews.response_types.approval.proposal import Proposal, read_proposal

__all__ = ["APPROVAL", "Proposal", "read_proposal"]
