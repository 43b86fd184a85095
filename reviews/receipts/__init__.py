"""Receipts: signed proofs of approvals, each of which a program redeems once."""
