"""Writes the audit log: who did what to an account. Entries are never changed or removed."""

from accounts.models import AuditEntry

MAX_SUBJECT = 200  # characters


def record(
    *,
    account_id: str,
    actor_id: str | None,
    action: str,
    subject: str = "",
    key_id: str | None = None,
    ip: str | None = None,
) -> None:
    """Adds an entry in the caller's transaction.

    `action` is one of `accounts.actions.SENTENCES`. `subject` names the changed object and never
    contains a secret. `actor_id` is None for a failed sign-in. `key_id` is the API key if a program
    did it. `ip` is stored only for sign-ins.
    """
    AuditEntry.objects.create(
        account_id=account_id,
        actor_id=actor_id,
        action=action,
        subject=subject[:MAX_SUBJECT],
        key_id=key_id,
        ip=ip,
    )
