"""What a receiver is told (specification, Events): one body for every published shape.

The body is built by PostgreSQL, in the statement of the transition: ten thousand requests that
are due at once are settled with their events in about a second, and nothing can come between a
transition and its event. `data.request` is the single read; a property test compares the two.
"""

MILLISECONDS = """'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'"""


def moment(column: str) -> str:
    """A time as the contract writes it; null stays null."""
    return f"to_char({column} AT TIME ZONE 'UTC', {MILLISECONDS})"


def in_milliseconds(column: str) -> str:
    """A time in whole milliseconds, as a client sees it."""
    return f"floor(extract(epoch FROM {column}) * 1000)"


# How a value is written: in words that need no escaping (identifiers, choices, times), in texts
# that may hold anything, and all others as PostgreSQL does, for they are numbers or stored JSON.
_WORDS = (
    "event", "request_id", "id", "user_id", "loop_id", "creator_id", "processing_type", "type",
    "priority", "status", "response_type", "platform", "response_by", "claimed_by", "answered_by",
    "response_at", "claimed_at", "completed_at", "timeout_at", "created_at", "updated_at",
    "timestamp",
)  # fmt: skip
_TEXTS = ("request_text", "image_url", "callback_url", "platform_version", "name", "email")


def json_object(fields: dict[str, str]) -> str:
    """A JSON object of SQL expressions, as text.

    `json_build_object` looks every argument's type up for every row, which takes most of its
    time; `concat` does so once in a statement.
    """
    pieces = [
        f"""'{"," if place else "{"}"{name}":', {written(name, sql)}"""
        for place, (name, sql) in enumerate(fields.items())
    ]
    return f"concat({', '.join(pieces)}, '}}')"


def written(name: str, sql: str) -> str:
    """The value of a field as JSON, as text."""
    if name in _WORDS:
        return f"""coalesce('"' || ({sql}) || '"', 'null')"""
    value = f"to_json({sql})" if name in _TEXTS else f"({sql})"
    return f"coalesce({value}::text, 'null')"


# Aliases: r is the request after its transition, l its loop, p the person who acted on it.
_TAKEN = (
    f"round(({in_milliseconds('r.response_at')} - {in_milliseconds('r.created_at')}) / 1000, 3)"
    "::double precision"
)
_ANSWERED = "r.status = 'completed'"
_PERSON = {"name": "p.name", "email": "p.email"}

REQUEST = {
    **{
        name: f"r.{name}"
        for name in (
            "id", "loop_id", "processing_type", "type", "priority", "request_text",
            "response_type", "status", "response_data",
        )
    },
    "response_by": "r.response_by_id",
    "response_at": moment("r.response_at"),
    "response_time_seconds": _TAKEN,
    "timeout_at": moment("r.timeout_at"),
    "created_at": moment("r.created_at"),
    "updated_at": moment("r.updated_at"),
    **{
        name: f"r.{name}"
        for name in (
            "creator_id", "image_url", "context", "response_config", "default_response",
            "platform", "platform_version", "callback_url", "timeout_seconds", "broadcasted_to",
            "notifications_sent",
        )
    },
    "claimed_by": "r.claimed_by_id",
    "claimed_at": moment("r.claimed_at"),
    "answered_by": "CASE r.status WHEN 'completed' THEN 'human' WHEN 'timeout' THEN 'default' END",
    "response_by_user": f"CASE WHEN {_ANSWERED} THEN {json_object({'id': 'p.id', **_PERSON})} END",
    "feedback": "NULL",
}  # fmt: skip

BODY = {
    "event": "%(event)s::text",
    "request_id": "r.id",
    "loop_id": "r.loop_id",
    "status": "r.status",
    "response_data": "r.response_data",
    "response_by": "r.response_by_id",
    "completed_at": f"CASE WHEN r.status <> 'claimed' THEN {moment('r.updated_at')} END",
    "response_at": moment("r.response_at"),
    "response_time_seconds": _TAKEN,
    "created_at": moment("r.created_at"),
    "timestamp": f"(SELECT {moment('statement_timestamp()')})",  # once in a statement
    "data": json_object(
        {
            "request": json_object(REQUEST),
            "loop": json_object({"id": "l.id", "name": "l.name"}),
            "reviewer": (
                "CASE WHEN p.id IS NOT NULL THEN "
                + json_object({"user_id": "p.id", **_PERSON})
                + " END"
            ),
        }
    ),
}

# What happened, once: the request's end, or its n-th claim.
OCCURRENCE = "r.id || CASE r.status WHEN 'claimed' THEN ':claim:' || r.claim_count ELSE ':end' END"

EVENTS = f"""
SELECT r.creator_id AS account_id, r.callback_url AS url, %(event)s::text AS name,
       r.id AS subject_id, {OCCURRENCE} AS occurrence, {json_object(BODY)} AS payload
  FROM moved r
  JOIN loops_loop l ON l.id = r.loop_id
  LEFT JOIN accounts_user p
         ON p.id = CASE r.status WHEN 'claimed' THEN r.claimed_by_id ELSE r.response_by_id END
 WHERE r.callback_url IS NOT NULL
"""  # noqa: S608 (nothing in it comes from outside)
