"""The rows about reviewing with a token."""

TOKENS = {
    "review.token": "review token: rl_review_ + 30 base62 characters + 6 of checksum, kept as a"
    " digest; only below /v1/review, where no API key is accepted: 401 'Invalid review token'; it"
    " expires, and ends with the person's last membership: 401 'Review token has expired or was"
    " revoked'",
    "review.quota": "review token: 1,000 calls an hour, apart from the quota of keys",
    "review.revoke": "review token: no answer, claim or release after its revocation has"
    " returned, nor after the member was removed",
    "review.list": "review list: the open requests of the person's loops, as in the inbox, critical"
    " first, then by deadline; loop_id, limit and offset",
    "review.read": "review read: a request of the person's loops without metadata and callback_url;"
    " others get 404 'Request not found'",
    "review.claim": "claim and release: as in the portal; 409 'Request cannot be claimed in current"
    " state' and '… released …' with status and claimed_by in data",
    "review.answer": "answer: {answer, comment}, checked like the portal's form: 400 'Invalid"
    " answer' with the reason in data; the same answer again succeeds",
    "review.policy": "answer: 403 'The policy does not let you answer this request'; blind answers"
    " are hidden until the end; another answer of one's own replaces the one before",
    "review.state": "answer: 409 'Request cannot be answered in current state' with status and"
    " claimed_by in data",
}

GRANTS = {
    "grant.covered": "a call that a grant covers is completed by its create: status completed,"
    " answered_by grant, grant_id, response_by the person who granted; nobody is notified, its"
    " event is request.completed, and it is redeemed like any other",
    "grant.bound": "a grant holds for one loop, key and name of a call",
    "grant.equal": "its arguments, or those that it names, are equal in their canonical form"
    " (RFC 8785): order of names, spelling of numbers and escapes do not count, Unicode forms do",
    "grant.never": "never for risk high, priority critical, a policy of several answers, a person"
    " whom the policy excludes, a loop that forbids grants or wants a comment, or replaces",
    "grant.terms": "with an approval without changes: 1 to 8 hours, 1 to 100 uses, all arguments or"
    " some by name; 400 'Invalid grant' with the reason in data",
    "grant.end": "a grant ends with its uses, its hours, the membership of its person, when the"
    " person's account is switched off, and when the loop's owner forbids grants; of calls at once"
    " with one use left, one is covered",
    "grant.revoke": "its person and the account revoke it; no call is covered after that has"
    " returned",
}
