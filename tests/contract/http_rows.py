"""The rows about the wire: envelope, addressing, bodies, authentication, quota, versioning."""

ENVELOPE = {
    "envelope.error": "error: boolean, false on success and true on failure",
    "envelope.msg": "msg: a sentence for people, on success and on failure",
    "envelope.data": "data: an object or a string; {} for a failure without detail",
    "envelope.keys": "every body has exactly the keys error, msg, data",
    "envelope.times": "times read YYYY-MM-DDTHH:MM:SS.mmmZ, in UTC",
    "envelope.ids": "ids are 24 lowercase hexadecimal characters; uppercase input is accepted",
}

ADDRESSING = {
    "http.base": "the whole API lives below /v1",
    "http.slash": "a trailing slash is tolerated without a redirect",
    "http.unknown_path": "an unknown path is a 404 in the envelope: 'Not found'",
    "http.method": "a wrong method is a 405 in the envelope with Allow, HEAD and OPTIONS included",
    "http.unknown_host": "an unknown Host: 400 in the envelope, which says so, without a quota",
    "http.beside": "unknown paths outside /v1: the envelope for clients that ask for JSON",
    "http.json_only": "nothing below /v1 answers HTML; Accept is ignored, never 406",
    "http.ignored_bodies": "bodies of GET and DELETE are ignored",
    "http.openapi": "the OpenAPI document is at /openapi.json, outside /v1",
    "http.precedence": "404, 405, 401, 429, account, permission, id, 404, owner, state, body",
    "http.first_fault": "of two faults in one body the first in the order of the table wins",
    "http.codes": "200 for reads, updates, cancel and feedback; 201 for creation",
}

BODIES = {
    "body.unknown_fields": "unknown body fields are ignored, never refused",
    "body.not_object": "a body that is no JSON object: 400 'Invalid request body'",
    "body.not_json": "a body that is not JSON: 400 'Invalid request body'",
    "body.content_type": "a body not declared as JSON: 400 'Invalid request body'",
    "body.mark": "a UTF-8 byte order mark before the object is skipped",
    "body.nul": "NUL characters: 400 'Invalid request body'",
    "body.surrogates": "lone surrogates: 400 'Invalid request body'",
    "body.literals": "the literals NaN and Infinity: 400 'Invalid request body'",
    "body.overflow": "numbers that overflow a double (1e999): 400 'Invalid request body'",
    "body.depth": "more than 32 levels of nesting: 400 'Invalid request body'",
    "body.size": "more than 256 KiB: 400 'Invalid request body'",
    "body.empty_put": "on PUT an empty body is {}",
    "body.missing_field": "a missing field without a sentence of its own: '{field} is required'",
    "body.details": "details name the field and the rule: '{field} must be one of: a, b, c'",
    "body.types": "types are strict; 60.0 may pass as the integer 60",
    "body.untrimmed": "strings are stored and echoed as sent, never trimmed",
    "body.blank": "a name or text of blanks alone counts as missing",
    "body.code_points": "lengths count Unicode code points",
}

AUTHENTICATION = {
    "auth.bearer": "Authorization: Bearer <API_KEY>, on every endpoint",
    "auth.missing": "no header: 401 'Missing Authorization header'",
    "auth.required": "an empty header: 401 'API key required'",
    "auth.format": "other forms: 401 'Invalid Authorization header format. Use 'Bearer <api_key>''",
    "auth.empty": "Bearer and nothing: 401 'Empty API key'",
    "auth.invalid": "an unknown or deleted key: 401 'Invalid API key'",
    "auth.inactive": "deactivated, revoked or expired: 401 'API key is inactive'",
    "auth.loops_read": "loops:read covers reading loops and members",
    "auth.loops_write": "loops:write covers changing loops and members",
    "auth.requests_read": "requests:read covers reading requests, those of a loop included",
    "auth.requests_write": "requests:write covers creating, cancelling and feedback",
    "auth.write_not_read": "write never implies read",
    "auth.denied": "a permission that is lacking: 403 'Access denied to this resource'",
    "auth.test_free": "/test needs no permission",
    "auth.as_owner": "a key acts as the user that owns it",
    "auth.scope": "everything is scoped to the account that owns the key",
    "auth.key_form": "rl_live_ + 30 base62 characters + 6 of checksum",
    "auth.key_digest": "a key is kept as a SHA-256 digest, with prefix and last four for display",
    "auth.key_states": "a key can be deactivated, activated, revoked for good, and deleted",
    "auth.account_inactive": "an inactive account: /test says so, all else is 403",
    "auth.loop_rules": "loops: only the creator reads, updates, deletes, removes members by key",
    "auth.request_rules": "requests: create in own loops, view as member, cancel and rate own",
}

QUOTA = {
    "quota.rate": "100 calls an hour and key, on every endpoint",
    "quota.window": "the window ends at the top of the hour, UTC",
    "quota.headers": "X-RateLimit-Limit, -Remaining and -Reset on all responses, errors included"
    " (but not where the Host is unknown)",
    "quota.keyless_headers": "without a valid key: the limit, 0 remaining, the next reset",
    "quota.over": "beyond the limit: 429 'API rate limit exceeded' with Retry-After",
    "quota.over_data": "429 data: usage_count, usage_limit, remaining, reset_at",
    "quota.cost": "an authenticated call costs 1 whatever its outcome",
    "quota.refused_free": "a call refused with 429 costs nothing",
    "quota.dashboard_free": "what is done in the pages costs nothing",
    "quota.credit": "a cancel credits 1 to the key that created the request, in the same window",
    "quota.credit_once": "the credit comes once and never lifts the rest above the limit",
    "quota.limits": "the operator sets another limit as default, for an account or for a key",
    "quota.exact": "400 concurrent calls with a fresh key: exactly 100 succeed",
    "quota.failed_keys": "failed keys are throttled per address, never touching a valid key",
}

STATUSES = {
    "status.400": "400: invalid data or state",
    "status.401": "401: authentication",
    "status.403": "403: forbidden",
    "status.404": "404: missing",
    "status.429": "429: rate limit",
    "status.500": "500: a server failure, with the sentence of its endpoint",
    "status.503": "database out of reach: 503 'Service temporarily unavailable'",
    "version.base": "the version is part of the address: /v1",
    "version.polling": "polling_url starts with /v1",
}
