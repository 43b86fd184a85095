"""The rows about reviewing with a token."""

TOKENS = {
    "review.token": "review token: rl_review_ + 30 base62 characters + 6 of checksum, kept as a"
    " digest; only below /v1/review, where no API key is accepted: 401 'Invalid review token'; it"
    " expires, and ends with the person's last membership: 401 'Review token has expired or was"
    " revoked'",
    "review.quota": "review token: 1,000 calls an hour, apart from the quota of keys",
    "review.revoke": "review token: no call uses it after its revocation has returned, nor after"
    " the member was removed",
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
