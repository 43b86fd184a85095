"""Every page of the product, for test_every_page.py and `make screenshots`.

A new page is a line here; what its address needs is an id of the scene (tests/browser/scene.py).
tests/dashboard/test_catalogue.py finds a page that is missing.
"""

from dataclasses import dataclass

from django.urls import reverse

from tests.browser.scene import Scene
from tests.conftest import PASSWORD

SENT = "main form .btn-primary"  # the button that sends the page's form


@dataclass(frozen=True)
class Stop:
    """A page: the URL's name, the ids in its address, who looks, and what is to be expected."""

    title: str  # of the picture's file
    url: str
    args: tuple[str, ...] = ()
    query: str = ""  # may name ids of the scene: ?loop={loop}
    who: str = "owner"  # or another of the scene's people, or stranger
    status: int = 200  # of the page that is looked at
    pictured: bool = True
    first: str = ""  # a selector that is clicked before anything is typed
    typed: tuple[tuple[str, str], ...] = ()  # selectors, and what is typed there
    opens: str = ""  # a selector that is clicked then
    leads: bool = False  # to another page
    shows: str = ""  # a selector of what a script puts on the page
    refused: int = 200  # the status of what the script got
    images: bool = False  # the one page that may load an image from elsewhere

    def path(self, scene: Scene) -> str:
        """Where it is; an address stands for itself."""
        if self.url.startswith("/"):
            return self.url + self.query
        path = reverse(self.url, args=[scene.ids[name] for name in self.args])
        return path + self.query.format_map(scene.ids)


STRANGERS = [
    Stop("home", "home", who="stranger"),
    Stop("sign-in", "account_login", who="stranger"),
    Stop(
        "sign-in-wrong",
        "account_login",
        who="stranger",
        typed=(("#id_login", "ada@example.com"), ("#id_password", "wrong")),
        opens=SENT,
        leads=True,
        pictured=False,
    ),
    Stop(
        "second-step",
        "account_login",
        who="stranger",
        typed=(("#id_login", "cleo@example.com"), ("#id_password", PASSWORD)),
        opens=SENT,
        leads=True,
        pictured=False,
    ),
    Stop("sign-up", "account_signup", who="stranger"),
    Stop("sign-in-code", "sign-in-by-code", who="stranger", pictured=False),
    Stop(
        "sign-in-code-none",
        "sign-in-by-code",
        who="stranger",
        opens=SENT,
        leads=True,
        status=422,
        pictured=False,
    ),
    Stop("sign-up-code", "sign-up-by-code", who="stranger"),
    Stop(
        "code",
        "sign-up-by-code",
        who="stranger",
        typed=(("#id_name", "Nora New"), ("#id_email", "nora.new@example.org")),
        opens=SENT,
        leads=True,
    ),
    Stop("code-ended", "type-code", who="stranger", pictured=False),
    Stop("password-reset", "account_reset_password", who="stranger", pictured=False),
    Stop("password-reset-sent", "account_reset_password_done", who="stranger", pictured=False),
    Stop(
        "password-new",
        "account_reset_password_from_key",
        ("reset_user", "reset_key"),
        who="stranger",
        pictured=False,
    ),
    Stop("password-new-old", "/accounts/password/reset/key/1-x/", who="stranger", pictured=False),
    Stop(
        "password-new-done",
        "account_reset_password_from_key_done",
        who="stranger",
        pictured=False,
    ),
    Stop(
        "email-confirm",
        "account_confirm_email",
        ("confirmation",),
        who="stranger",
        pictured=False,
    ),
    Stop("email-confirm-old", "/accounts/confirm-email/x/", who="stranger", pictured=False),
    Stop("unsubscribe", "unsubscribe", ("unsubscribe",), who="stranger", pictured=False),
    Stop("offline", "offline", who="stranger", pictured=False),
    Stop("inactive", "account_inactive", who="stranger", pictured=False),
    Stop("verification-sent", "account_email_verification_sent", who="stranger", pictured=False),
    Stop("enter-code", "enter-code", who="stranger", pictured=False),
    Stop("join", "join", ("code",), who="stranger"),
    Stop("join-unknown", "/join/NOSUCHCODE", who="stranger", status=404, pictured=False),
    Stop("not-found", "/nothing-here", who="stranger", status=404),
]
ERRORS = [
    Stop(f"error-{name}", f"/errors/{name}/", who="stranger", status=int(name[:3]), pictured=False)
    for name in ("400", "403", "403-form", "429", "500", "503")
]
ACCOUNT = [
    Stop("email", "account_email"),
    Stop("email-two", "account_email", who="member", pictured=False),
    Stop("password", "account_change_password", pictured=False),
    Stop("password-set", "account_set_password", who="newcomer", pictured=False),
    Stop("sign-out", "account_logout", pictured=False),
    Stop("two-factor", "mfa_index", pictured=False),
    Stop("two-factor-on", "mfa_index", who="guarded", pictured=False),
    Stop("authenticator", "mfa_activate_totp", pictured=False),
    Stop("authenticator-off", "mfa_deactivate_totp", who="guarded", pictured=False),
    Stop("recovery-codes", "mfa_view_recovery_codes", who="guarded", pictured=False),
    Stop("recovery-codes-new", "mfa_generate_recovery_codes", who="guarded", pictured=False),
    Stop("account", "account"),
    Stop("sessions", "sessions"),
    Stop("your-data", "your-data", pictured=False),
    Stop("your-data-delete", "your-data", opens="#delete summary", pictured=False),
    Stop("reauthenticate", "account_reauthenticate", pictured=False),
    Stop("reauthenticate-code", "mfa_reauthenticate", who="guarded", pictured=False),
    Stop("passkey-new", "mfa_add_webauthn", pictured=False),
    Stop("passkey-name", "mfa_edit_webauthn", ("passkey",), who="guarded", pictured=False),
    Stop("passkey-remove", "mfa_remove_webauthn", ("passkey",), who="guarded", pictured=False),
    Stop("reauthenticate-passkey", "mfa_reauthenticate_webauthn", who="guarded", pictured=False),
    Stop("reauthenticate-email", "confirm-by-code", who="newcomer", pictured=False),
    Stop(
        "reauthenticate-email-sent",
        "confirm-by-code",
        who="newcomer",
        opens="main form .btn",
        leads=True,
        pictured=False,
    ),
]
KEYS = [
    Stop("keys", "keys"),
    Stop("keys-none", "keys", who="member", pictured=False),
    Stop("key-new", "new-key"),
    Stop("key-new-wrong", "new-key", opens=SENT, leads=True, status=422, pictured=False),
    Stop("key-secret", "new-key", typed=(("#id_name", "Night shift"),), opens=SENT, leads=True),
    Stop("key", "key", ("key",)),
    Stop("key-idle", "key", ("idle_key",), pictured=False),
    Stop("key-rolling", "key", ("rolling_key",), pictured=False),
    Stop("key-revoked", "key", ("revoked_key",), pictured=False),
    Stop("key-revoke", "revoke-key", ("key",), pictured=False),
    Stop("key-delete", "delete-key", ("idle_key",), pictured=False),
    Stop("webhook-secret", "webhook-secret"),
    Stop(
        "webhook-secret-shown",
        "webhook-secret",
        opens="[action$='/reveal/'] button",
        leads=True,
        pictured=False,
    ),
    Stop("webhook-secret-calm", "webhook-secret", who="member", pictured=False),
    Stop("audit", "audit"),
    Stop("audit-filtered", "audit", query="?kind=sign_in", pictured=False),
    Stop("audit-nothing", "audit", query="?until=2001-01-01", pictured=False),
    Stop(
        "audit-wrong",
        "audit",
        query="?since=2026-03-02&until=2026-03-01",
        status=422,
        pictured=False,
    ),
]
LOOPS = [
    Stop("overview", "overview"),
    Stop("overview-new", "overview", who="member", pictured=False),
    Stop("overview-first", "overview", who="newcomer", pictured=False),
    Stop("loops", "loops"),
    Stop("loops-none", "loops", who="member"),
    Stop("loop-new", "new-loop"),
    Stop("loop-new-wrong", "new-loop", opens=SENT, leads=True, status=422, pictured=False),
    Stop("loop", "loop", ("loop",)),
    Stop(
        "loop-invite-wrong",
        "loop",
        ("loop",),
        opens="#invite button",
        leads=True,
        status=422,
        pictured=False,
    ),
    Stop("loop-edit", "edit-loop", ("loop",), pictured=False),
    Stop("loop-delete", "edit-loop", ("loop",), opens="details.confirm > summary", pictured=False),
    Stop("loop-sheet", "loop-sheet", ("loop",)),
    Stop("loop-policy", "loop", ("strict",), pictured=False),
    Stop("loop-policy-edit", "edit-loop", ("strict",), pictured=False),
    Stop(
        "loop-policy-wrong",
        "edit-loop",
        ("strict",),
        typed=(("#id_policy_answers", "20"),),
        opens=SENT,
        leads=True,
        status=422,
        pictured=False,
    ),
    Stop(
        "loop-policy-new",
        "new-loop",
        first=".policy-fields > summary",
        pictured=False,
    ),
]
REQUESTS = [
    Stop("requests", "requests"),
    Stop("requests-searched", "requests", query="?q=refund&status=pending", pictured=False),
    Stop("requests-of-loop", "requests", query="?loop={loop}", pictured=False),
    Stop(
        "requests-of-loop-ended",
        "requests",
        query="?loop={loop}&status=completed",
        pictured=False,
    ),
    Stop("requests-nothing", "requests", query="?q=zebra", pictured=False),
    Stop("requests-none", "requests", who="member", pictured=False),
    Stop("requests-wrong", "requests", query="?status=lost", status=422, pictured=False),
    Stop(
        "request-new",
        "new-request",
        typed=(("[name=request_text]", "May it go?"), ("[name=default_response]", "yes")),
    ),
    Stop("request-new-wrong", "new-request", opens=SENT, leads=True, status=422, pictured=False),
    Stop("request-new-again", "new-request", query="?from={blind}", pictured=False),
    Stop(
        "request-new-policy-wrong",
        "new-request",
        query="?from={open_policy}",
        typed=(
            ("#id_policy_answers", "5"),
            ("#id_policy_veto", "stop\nsomething that nobody can answer at all"),
        ),
        opens=SENT,
        leads=True,
        status=422,
        pictured=False,
    ),
    Stop("request-new-loop-policy", "new-request", query="?loop={strict}", pictured=False),
    Stop("request-new-none", "new-request", who="member", pictured=False),
    Stop("request", "request", ("critical",)),
    Stop("request-answered", "request", ("answered",)),
    Stop("request-form", "request", ("filled",), pictured=False),
    Stop("request-approval", "request", ("approval",), pictured=False),
    Stop("request-approved", "request", ("approved",), pictured=False),
    Stop("request-granted", "request", ("covered",), pictured=False),
    Stop("request-late", "request", ("missed",), pictured=False),
    Stop("request-version", "request", ("next_offer",), pictured=False),
    Stop("request-replaced", "request", ("offer",), pictured=False),
    Stop("request-claimed", "request", ("claimed",), pictured=False),
    Stop("request-blind", "request", ("blind",), pictured=False),
    Stop("request-open-policy", "request", ("open_policy",), pictured=False),
    Stop("request-decided", "request", ("decided",), pictured=False),
    Stop("request-no-agreement", "request", ("dissent",), pictured=False),
    Stop("request-agreed", "request", ("agreed",), pictured=False),
    Stop("request-vetoed", "request", ("vetoed",), pictured=False),
]
DASHBOARD = [
    Stop("deliveries", "deliveries"),
    Stop("deliveries-filtered", "deliveries", query="?state=dead", pictured=False),
    Stop("deliveries-delivered", "deliveries", query="?state=delivered", pictured=False),
    Stop("deliveries-nothing", "deliveries", query="?host=zebra.example", pictured=False),
    Stop("deliveries-none", "deliveries", who="member", pictured=False),
    Stop("delivery", "delivery", ("delivery",)),
    Stop("delivery-dead", "delivery", ("dead_delivery",), pictured=False),
    Stop("webhook-endpoints", "webhook-endpoints", pictured=False),
    Stop("webhook-endpoint-new", "new-webhook-endpoint", pictured=False),
    Stop("webhook-endpoint", "webhook-endpoint", ("endpoint",), pictured=False),
]
PORTAL = [
    Stop("inbox", "inbox", who="member"),
    Stop("inbox-first", "inbox", who="newcomer", pictured=False),
    Stop("answer-single", "review", ("critical",), who="member"),
    Stop("answer-text", "review", ("text",), who="member"),
    Stop("replaced", "review", ("offer",), who="member", pictured=False),
    Stop("next-version", "review", ("next_offer",), who="member", pictured=False),
    Stop("answer-rating", "review", ("rating",), who="member", pictured=False),
    Stop("answer-multi", "review", ("labels",), who="member", pictured=False),
    Stop("answer-number", "review", ("number",), who="member", pictured=False),
    Stop("answer-form", "review", ("form",), who="member"),
    Stop(
        "answer-form-wrong",
        "review",
        ("form",),
        who="member",
        typed=(
            ("[name='answer.amount']", "500"),
            ("[name='answer.email']", "a-customer-with-a-long-name.and-a-longer-one"),
        ),
        opens="[data-send]",
        shows=".wrong",
        refused=422,
        pictured=False,
    ),
    Stop("answered-form", "review", ("filled",), who="member", pictured=False),
    Stop("approval", "review", ("approval",), who="member"),
    Stop(
        "approval-edit",
        "review",
        ("approval",),
        who="member",
        opens="details.decision:nth-of-type(1) > summary",
        pictured=False,
    ),
    Stop(
        "approval-changes",
        "review",
        ("approval",),
        who="member",
        first="details.decision:nth-of-type(1) > summary",
        typed=(("[name='answer.edit.1']", "99"),),
        opens="details.decision[open] [data-send]",
        shows="[data-changes]",
        refused=422,
        pictured=False,
    ),
    Stop(
        "approval-reject",
        "review",
        ("approval",),
        who="member",
        opens="details.decision:nth-of-type(2) > summary",
        pictured=False,
    ),
    Stop(
        "approval-reply-wrong",
        "review",
        ("approval",),
        who="member",
        first="details.decision:nth-of-type(3) > summary",
        opens="details.decision[open] [data-send]",
        shows="#answer-error",
        refused=422,
        pictured=False,
    ),
    Stop(
        "approval-schema",
        "review",
        ("booking",),
        who="member",
        opens="details.decision:nth-of-type(1) > summary",
        pictured=False,
    ),
    Stop(
        "approval-schema-wrong",
        "review",
        ("booking",),
        who="member",
        first="details.decision:nth-of-type(1) > summary",
        typed=(("[name='answer.edit.3']", "21"), ("[name='answer.edit.8']", "jane")),
        opens="details.decision[open] [data-send]",
        shows="details.decision[open] .wrong",
        refused=422,
        pictured=False,
    ),
    Stop(
        "approval-grant",
        "review",
        ("grantable",),
        who="member",
        opens="details.decision.wide > summary",
        pictured=False,
    ),
    Stop("approval-simple", "review", ("restart",), who="member", pictured=False),
    Stop("approval-answered", "review", ("approved",), who="member", pictured=False),
    Stop("claimed-by-other", "review", ("claimed",), who="member", pictured=False),
    Stop("answered", "review", ("answered",), who="member", pictured=False),
    Stop("withdrawn", "review", ("cancelled",), who="member", pictured=False),
    Stop("timed-out", "review", ("missed",), who="member", pictured=False),
    Stop("policy-blind", "review", ("blind",), who="member", pictured=False),
    Stop("policy-open", "review", ("open_policy",), who="member", pictured=False),
    Stop("policy-voted", "review", ("voted",), who="member", pictured=False),
    Stop("policy-not-asked", "review", ("not_asked",), pictured=False),
    Stop("policy-decided", "review", ("decided",), who="member", pictured=False),
    Stop("policy-no-agreement", "review", ("dissent",), who="member", pictured=False),
    Stop("policy-agreed", "review", ("agreed",), who="member", pictured=False),
    Stop("policy-vetoed", "review", ("vetoed",), who="member", pictured=False),
    Stop("done", "done", ("answered",), who="member"),
    Stop("work", "work", who="member"),
    Stop("work-none", "work", pictured=False),
    Stop("my-loops", "my-loops", who="member"),
    Stop("several", "several", who="member", pictured=False),
    Stop("several-none", "several", who="owner", query="?q=zebra", pictured=False),
    Stop(
        "several-review",
        "review-several",
        query="?selected={first}&selected={second}&selected={third}",
        who="member",
    ),
    Stop(
        "several-wrong",
        "review-several",
        query="?selected={first}&selected={second}",
        who="member",
        opens="#answer-form .btn-primary",
        leads=True,
        status=422,
        pictured=False,
    ),
    Stop(
        "several-review-approvals",
        "review-several",
        query="?selected={deploy_0}&selected={deploy_1}&selected={deploy_2}&selected={deploy_3}",
        who="member",
        pictured=False,
    ),
    Stop(
        "several-sent",
        "review-several",
        query="?selected={deploy_0}&selected={deploy_1}",
        who="member",
        first="#answer-form .choice",
        opens="#answer-form .btn-primary",
        leads=True,
        pictured=False,
    ),
    Stop("inbox-filtered", "inbox", query="?type=text&q=reply", who="member", pictured=False),
    Stop("inbox-nothing", "inbox", query="?loop=x&q=zebra", who="member", pictured=False),
    Stop("notifications", "notifications", who="member", pictured=False),
    Stop("grants", "my-grants", who="member", pictured=False),
    Stop("grants-none", "my-grants", pictured=False),
    Stop("grants-of-account", "grants", pictured=False),
    Stop("grants-of-account-none", "grants", who="member", pictured=False),
    Stop("tokens", "review-tokens", pictured=False),
    Stop("tokens-none", "review-tokens", who="member", pictured=False),
    Stop("tokens-revoke", "review-tokens", opens="details.confirm > summary", pictured=False),
    Stop("token-new", "new-review-token", pictured=False),
    Stop(
        "token-new-wrong",
        "new-review-token",
        opens=SENT,
        leads=True,
        status=422,
        pictured=False,
    ),
    Stop(
        "token-secret",
        "new-review-token",
        typed=(("#id_name", "Night shift"),),
        opens=SENT,
        leads=True,
        pictured=False,
    ),
    Stop("gone", "/inbox/x/", who="member", status=404, pictured=False),
]
EVERY_PAGE = [*STRANGERS, *ERRORS, *ACCOUNT, *KEYS, *LOOPS, *REQUESTS, *DASHBOARD, *PORTAL]
