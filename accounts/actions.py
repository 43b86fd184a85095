"""What the audit log can tell, in words. Pure.

An action is `kind.verb`; its sentence goes on from the name of whoever did it, and the subject of
the entry follows it.
"""

KINDS = {
    "sign_in": "Sign-ins",
    "key": "API keys",
    "webhook_secret": "Webhook secret",
    "loop": "Loops",
    "member": "Members",
    "security": "Password and two-factor",
    "account": "Account",
}

SENTENCES = {
    "sign_in.done": "signed in",
    "sign_in.failed": "failed to sign in",
    "sign_in.session_ended": "signed out another browser",
    "key.created": "created the key",
    "key.rolled": "rolled the key",
    "key.active": "activated the key",
    "key.inactive": "deactivated the key",
    "key.revoked": "revoked the key",
    "key.deleted": "deleted the key",
    "key.limit_changed": "changed the hourly limit of the key",
    "webhook_secret.revealed": "revealed the webhook secret",
    "webhook_secret.set": "set a webhook secret",
    "webhook_secret.rotated": "rotated the webhook secret",
    "webhook_secret.replaced": "replaced the webhook secret",
    "webhook_secret.rotation_ended": "ended the old webhook secret",
    "loop.created": "created the loop",
    "loop.edited": "edited the loop",
    "loop.deleted": "deleted the loop",
    "loop.code_rotated": "changed the invite code of the loop",
    "member.invited": "invited",
    "member.joined": "joined the loop",
    "member.removed": "removed",
    "member.left": "left the loop",
    "security.password_changed": "changed the password",
    "security.password_reset": "set a new password by mail",
    "security.password_ended": "confirmed the address, which ended the password",
    "security.two_factor_on": "turned two-factor sign-in on",
    "security.two_factor_off": "turned two-factor sign-in off",
    "security.recovery_codes": "made new recovery codes",
    "security.second_step_failed": "gave a wrong two-factor code",
    "account.created": "signed up",
    "account.profile_changed": "changed the profile",
    "account.email_changed": "changed the e-mail address to",
    "account.email_removed": "removed the e-mail address",
    "account.email_lost": "showed that the address which this account had signed up with is"
    " theirs; its own is now",
    "account.switched_off": "switched the account off",
    "account.switched_on": "switched the account on",
    "account.limit_changed": "changed the hourly limit of the account",
    "account.operator_made": "made this account an operator",
    "account.operator_unmade": "took the operator's rights from this account",
}


def sentence(action: str) -> str:
    """The action in words; one that this version does not know stands for itself."""
    return SENTENCES.get(action, action)
