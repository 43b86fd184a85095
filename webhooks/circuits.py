"""The circuit breaker of an account and host: SQL that opens and closes it with each attempt.

Parts of the statement that records an attempt (`webhooks.channel`).
"""

FAILURES_TO_OPEN = 5
MAX_PAUSE = 600  # seconds

OPEN_LATER = f"""
    INSERT INTO webhooks_circuit (account_id, host, failures, open_until)
    SELECT account_id, host, 1, NULL FROM fenced WHERE %(unreachable)s
    ON CONFLICT ON CONSTRAINT webhooks_circuit_pkey DO UPDATE SET
        failures = webhooks_circuit.failures + 1,
        open_until = CASE WHEN webhooks_circuit.failures + 1 >= {FAILURES_TO_OPEN}
            THEN statement_timestamp() + make_interval(secs => least({MAX_PAUSE}::float,
                %(pause)s::float
                * 2 ^ least(webhooks_circuit.failures + 1 - {FAILURES_TO_OPEN}, 20))) END
     WHERE webhooks_circuit.open_until IS NULL
        OR webhooks_circuit.open_until <= statement_timestamp()
"""  # noqa: S608 (nothing in it comes from outside)
CLOSE = """
    DELETE FROM webhooks_circuit USING fenced
     WHERE webhooks_circuit.account_id = fenced.account_id
       AND webhooks_circuit.host = fenced.host AND %(responded)s
"""
