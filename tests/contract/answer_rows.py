"""The rows about response configurations, answers, states, deadlines and claims."""

CONFIGURATIONS = {
    "config.single_select": "single_select: options, required",
    "config.multi_select": "multi_select: options, min_selections, max_selections, required",
    "config.rating": "rating: scale_max is mandatory; scale_min 1, scale_step 1, required false",
    "config.number": "number: max_value is mandatory; min_value, decimal_places, allow_negative",
    "config.text": "text: placeholder, min_length, max_length, required; {} is accepted",
    "config.form": "form: schema, the flat JSON Schema of MCP elicitation, at most 30 fields",
    "config.form_faults": "anything else in a schema is refused with its path: $ref, pattern, …",
    "config.options": "options: 1-100, objects or plain strings, unique values, echoed as sent",
    "config.no_options": "without options: 'options array required for select response type'",
    "config.aliases": "min and max are aliases of the bounds of rating and number",
    "config.extra": "unknown keys of response_config are kept and echoed",
    "default.select": "a select default must be a configured option value (or a list, for multi)",
    "default.type": "a rating or number default is a finite number, a text default a string",
    "default.form": "a form default is an object of fields of the schema, with their types",
    "default.unbounded": "bounds do not apply to the default of rating, number, text and form",
}

ANSWERS = {
    "answer.text": "text: min_length to max_length, 10,000 where none is given",
    "answer.single_select": "single_select: one option value, a string",
    "answer.multi_select": "multi_select: within min and max, in the options' order",
    "answer.rating": "rating: on the step, counted from scale_min in decimals",
    "answer.number": "number: within the bounds, at most decimal_places decimals",
    "answer.form": "form: an object, its fields in the schema's order, empty ones left out",
    "answer.negative": "allow_negative without min_value: the minimum is -max_value",
    "answer.empty": "required false: text may be '' and multi_select []; never null",
}

STATES = {
    "state.created": "(new) to pending: valid input, broadcast to active members",
    "state.cancelled": "pending to cancelled: DELETE by the account that created it",
    "state.replaced": "pending or claimed to cancelled: a create by the account that replaces it",
    "state.completed": "pending to completed: response_data, _by, _at and _time_seconds are set",
    "state.timeout": "pending to timeout: default_response is the final answer",
    "state.final": "completed, timeout and cancelled are final",
    "timeout.data": "on timeout response_data is the default as sent; by, at, seconds stay null",
    "timeout.answered_by": "answered_by: human, default or null",
    "timeout.clock": "from timeout_at on nothing says pending, and no write gets through",
    "claim.lease": "an active member claims a pending request for a lease",
    "claim.answer": "a claimed request is answered by its claimer alone",
    "claim.unclaimed": "a pending request is answered without a claim",
    "claim.back": "released or lease run out: back to pending",
    "claim.cancel": "a claimed request: 400 'Request cannot be cancelled in current state'",
    "claim.deleted": "a claimed request is cancelled when its loop is deleted",
    "claim.race": "of two reviewers and a cancel exactly one wins",
    "answer.portal": "reviewers answer in the pages only",
    "answer.twice": "the same answer by the same reviewer again is a success",
    "answer.late": "any other late answer is told who answered first",
}
