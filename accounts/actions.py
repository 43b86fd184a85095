"""Describes the actions of the audit log in words. Pure.

An action is `kind.verb`. Pages show the actor's name, then the sentence, then the entry's subject.
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
    "security.password_reset": "reset the password by email",
    "security.password_ended": "confirmed the address; the old password no longer works",
    "security.two_factor_on": "turned two-factor sign-in on",
    "security.two_factor_off": "turned two-factor sign-in off",
    "security.recovery_codes": "created new recovery codes",
    "security.passkey_added": "added a passkey",
    "security.passkey_removed": "removed a passkey",
    "security.second_step_failed": "entered a wrong two-factor code",
    "account.created": "signed up",
    "account.profile_changed": "changed the profile",
    "account.email_added": "added the email address",
    "account.email_changed": "changed the email address to",
    "account.email_removed": "removed the email address",
    "account.email_confirmed": "confirmed the email address",
    "account.email_lost": "confirmed the sign-up address elsewhere; this account now uses",
    "account.switched_off": "disabled the account",
    "account.switched_on": "enabled the account",
    "account.limit_changed": "changed the hourly limit of the account",
    "account.operator_made": "made this account an operator",
    "account.operator_unmade": "removed operator rights from this account",
}


def describe_action(action: str) -> str:
    """Returns the action in words; an unknown action is returned unchanged."""
    return SENTENCES.get(action, action)
