"""Writes the audit log: who did what to an account.

An entry is only changed when a person is erased (`accounts.erasing`), and only removed once it is
older than KEEP_AUDIT_DAYS (`accounts.retention`).
"""

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
