"""Describes the actions of the audit log in words. Pure.

An action is `kind.verb`. Pages show the actor's name, then the sentence, then the entry's subject.
"""

from web.phrases import say

KINDS = {
    "sign_in": say("Sign-ins"),
    "key": say("API keys"),
    "review_token": say("Review tokens"),
    "webhook_secret": say("Webhook secret"),
    "endpoint": say("Webhook endpoints"),
    "loop": say("Loops"),
    "member": say("Members"),
    "request": say("Requests"),
    "grant": say("Standing grants"),
    "security": say("Password and two-factor"),
    "account": say("Account"),
}

SENTENCES = {
    "sign_in.done": say("signed in"),
    "sign_in.failed": say("failed to sign in"),
    "sign_in.session_ended": say("signed out another browser"),
    "key.created": say("created the key"),
    "key.rolled": say("rolled the key"),
    "key.active": say("activated the key"),
    "key.inactive": say("deactivated the key"),
    "key.revoked": say("revoked the key"),
    "key.deleted": say("deleted the key"),
    "key.limit_changed": say("changed the hourly limit of the key"),
    "review_token.created": say("created the review token"),
    "review_token.revoked": say("revoked the review token"),
    "review_token.ended": say("left the last loop, which ended the review token"),
    "webhook_secret.revealed": say("revealed the webhook secret"),
    "webhook_secret.set": say("set a webhook secret"),
    "webhook_secret.rotated": say("rotated the webhook secret"),
    "webhook_secret.replaced": say("replaced the webhook secret"),
    "webhook_secret.rotation_ended": say("ended the old webhook secret"),
    "endpoint.created": say("created the webhook endpoint"),
    "endpoint.edited": say("edited the webhook endpoint"),
    "endpoint.on": say("enabled the webhook endpoint"),
    "endpoint.off": say("disabled the webhook endpoint"),
    "endpoint.rotated": say("rotated the secret of the webhook endpoint"),
    "endpoint.rotation_ended": say("ended the old secret of the webhook endpoint"),
    "endpoint.deleted": say("deleted the webhook endpoint"),
    "loop.created": say("created the loop"),
    "loop.edited": say("edited the loop"),
    "loop.deleted": say("deleted the loop"),
    "loop.days_changed": say("changed how long things are kept in the loop"),
    "loop.code_rotated": say("changed the invite code of the loop"),
    "member.invited": say("invited"),
    "member.joined": say("joined the loop"),
    "member.removed": say("removed"),
    "member.left": say("left the loop"),
    "grant.created": say("allowed for a while the call"),
    "grant.used": say("had allowed the call"),
    "grant.revoked": say("no longer allows the call"),
    "request.exported": say("exported requests as"),
    "security.password_changed": say("changed the password"),
    "security.password_reset": say("reset the password by email"),
    "security.password_ended": say("confirmed the address; the old password no longer works"),
    "security.two_factor_on": say("turned two-factor sign-in on"),
    "security.two_factor_off": say("turned two-factor sign-in off"),
    "security.recovery_codes": say("created new recovery codes"),
    "security.passkey_added": say("added a passkey"),
    "security.passkey_removed": say("removed a passkey"),
    "security.second_step_failed": say("entered a wrong two-factor code"),
    "account.created": say("signed up"),
    "account.profile_changed": say("changed the profile"),
    "account.email_added": say("added the email address"),
    "account.email_changed": say("changed the email address to"),
    "account.email_removed": say("removed the email address"),
    "account.email_confirmed": say("confirmed the email address"),
    "account.email_lost": say("confirmed the sign-up address elsewhere; this account now uses"),
    "account.erased": say("deleted the account"),
    "account.exported": say("downloaded everything stored about them"),
    "account.switched_off": say("disabled the account"),
    "account.switched_on": say("enabled the account"),
    "account.limit_changed": say("changed the hourly limit of the account"),
    "account.operator_made": say("made this account an operator"),
    "account.operator_unmade": say("removed operator rights from this account"),
}


def describe_action(action: str) -> str:
    """Returns the action in words; an unknown action is returned unchanged."""
    return SENTENCES.get(action, action)
