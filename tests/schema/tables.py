"""Lists every table and its owner column. A table that is not listed fails the tests."""

# Tables of ours whose rows an account owns, with the column that names the account. In a loop, a
# request and what counts requests it is the creator, as in the contract; a key, a push subscription
# and an email preference belong to a person; everywhere else it is called the account.
OWNED = {
    "accounts_apikey": "user_id",
    "accounts_auditentry": "account_id",
    "accounts_reviewtoken": "user_id",
    "accounts_storedresponse": "account_id",
    "accounts_usage": "account_id",
    "accounts_webhookendpoint": "account_id",
    "accounts_webhooksecret": "account_id",
    "webhooks_attempt": "account_id",
    "webhooks_circuit": "account_id",
    "webhooks_delivery": "account_id",
    "webhooks_failinghost": "account_id",
    "webhooks_loggedevent": "account_id",
    "loops_loop": "creator_id",
    "loops_membership": "account_id",
    "reviews_pushsubscription": "user_id",
    "reviews_feedback": "account_id",
    "reviews_erasure": "account_id",
    "reviews_exportlease": "account_id",
    "reviews_emailpreference": "user_id",
    "reviews_notification": "account_id",
    "reviews_request": "creator_id",
    "reviews_viewer": "account_id",
    "reviews_answer": "account_id",
    "reviews_grant": "account_id",
    "reviews_receipt": "account_id",
    "reviews_requestwords": "account_id",
    "reviews_counter": "creator_id",
    "reviews_counterchange": "creator_id",
}

# Tables of ours without an account: accounts themselves, and what is the service's.
GLOBAL = {
    "accounts_user",
    "accounts_user_groups",
    "accounts_user_user_permissions",
    "accounts_reservedid",  # an id for whoever has no account yet
    "accounts_emailedcode",  # to an address, which may have no account; deleted within the hour
    "db_heartbeat",
    "db_deliverystop",
    "reviews_signingkey",  # of the service
    "mailing_queuedmail",  # to addresses, which may have no account; deleted once it is sent
}

# What frameworks keep, by their prefixes: sign-in, sessions, migrations.
FRAMEWORKS = ("auth_", "account_", "mfa_", "usersessions_", "socialaccount_", "django_")

# Rows that live for a second, in a queue that nothing refers to.
SURROGATES = {"reviews_counterchange"}
