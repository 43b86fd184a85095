"""The audit log: who did what to an account. It only grows."""

from accounts.models import AuditEntry


def record(
    *,
    account_id: str,
    actor_id: str | None,
    action: str,
    subject: str = "",
    key_id: str | None = None,
    ip: str | None = None,
) -> None:
    """Adds an entry, in the caller's transaction.

    `action` is one of `accounts.actions.SENTENCES`; `subject` names what was touched and never
    holds a secret; `actor_id` is None for whoever failed to sign in; `key_id` is the key through
    which a program did it; `ip` is kept for signing in alone.
    """
    AuditEntry.objects.create(
        account_id=account_id,
        actor_id=actor_id,
        action=action,
        subject=subject[:200],
        key_id=key_id,
        ip=ip,
    )
