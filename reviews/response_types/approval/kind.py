"""The response type for a decision about a proposed call."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from reviews.canonical import canonicalize
from reviews.policy import Ballot
from reviews.response_types.approval import form
from reviews.response_types.approval.decision import check_decision, check_default
from reviews.response_types.approval.names import (
    ACTIONS,
    APPROVAL,
    APPROVE,
    EDIT,
    HIGH,
    REJECT,
    RISKS,
    VETOES,
)
from reviews.response_types.approval.proposal import MAX_ARGUMENTS, MAX_NAME, read_proposal
from reviews.response_types.approval.words import ACTION_LABELS, format_decision
from reviews.response_types.base import (
    Answer,
    BulkAnswer,
    Example,
    Page,
    ResponseType,
    Schema,
    Setting,
    Typed,
)
from reviews.response_types.faults import InvalidAnswer, Unconfirmed
from reviews.response_types.fields import Config, read_flag, read_integer
from reviews.response_types.flat_schema import check_labels
from reviews.response_types.text import MAX_TEXT_LENGTH
from reviews.response_types.widgets import Widget
from web.phrases import say

_PROPOSAL: Schema = {
    "type": "object",
    "description": "The call that may run.",
    "properties": {
        "name": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_NAME,
            "description": "What is called, such as the name of a tool. Nobody can edit it.",
        },
        "arguments": {
            "type": "object",
            "additionalProperties": True,
            "maxProperties": MAX_ARGUMENTS,
            "description": "What it is called with. Numbers beyond 2^53 are refused: send them "
            "as strings.",
        },
        "schema": {
            "type": "object",
            "additionalProperties": True,
            "description": "A flat JSON Schema of the arguments, as for the response type form. An "
            "argument without a field in it keeps its own type.",
        },
        "title": {"type": "string", "maxLength": MAX_NAME, "description": "For people."},
        "risk": {"type": "string", "enum": list(RISKS), "description": "Shown in words."},
    },
    "required": ["name"],
    "additionalProperties": True,
}
_ACTIONS: Schema = {
    "type": "array",
    "items": {"type": "string", "enum": list(ACTIONS)},
    "minItems": 1,
    "uniqueItems": True,
    "default": ["approve", "reject"],
    "description": "What people may do.",
}
_EDITABLE: Schema = {
    "oneOf": [
        {"type": "boolean", "const": True},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
    ],
    "default": True,
    "description": "Only with the action edit: true, or the names of the arguments that people "
    "may change.",
}
VALID_FOR = "approval_valid_seconds"
VALID_SECONDS, MAX_VALID = 86_400, 30 * 86_400
_MESSAGE: Schema = {"type": "string", "maxLength": MAX_TEXT_LENGTH}


class Approval(ResponseType):
    """A decision about a call: what may run, or why it may not."""

    name = APPROVAL
    label = say("Approval")
    description = "A call that people approve, edit, reject or reply to."
    settings = (
        Setting(
            "proposal",
            _PROPOSAL,
            say("Proposal"),
            kind="object",
            help_text=say(
                "A JSON object with name and arguments, and optionally title, risk and schema."
            ),
            is_mandatory=True,
        ),
        Setting(
            "actions",
            _ACTIONS,
            say("Actions"),
            kind="options",
            help_text=say(
                "One per line: approve, edit, reject, respond. Default: approve, reject."
            ),
        ),
        Setting(
            "editable",
            _EDITABLE,
            say("Editable arguments"),
            kind="options",
            help_text=say("With the action edit: names, one per line. Default: all."),
        ),
        Setting(
            VALID_FOR,
            {"type": "integer", "minimum": 60, "maximum": MAX_VALID, "default": VALID_SECONDS},
            say("Valid for so many seconds"),
            help_text=say("How long the receipt of an approval can be redeemed. Default: a day."),
        ),
    )
    has_vetoes = True
    takes_bulk_answers = True
    required_by_default = True
    default_schema = {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["reject", "respond"]},
            "message": _MESSAGE,
        },
        "required": ["action"],
        "additionalProperties": True,
        "description": "reject or respond, because nobody has looked at the proposal.",
    }
    answer_noun = "a Decision"
    example = Example(
        {
            "proposal": {
                "name": "issue_refund",
                "arguments": {"order": 4821, "amount": 129.5},
                "title": "Refund order 4821",
                "risk": "high",
            },
            "actions": ["approve", "edit", "reject", "respond"],
            "editable": ["amount"],
        },
        {"action": "reject"},
    )

    def check_configuration(self, config: Config) -> None:
        fields = read_proposal(config).fields.values()
        check_labels(config["proposal"].get("schema"), fields, path="proposal.schema")
        read_flag(config, "required", default=self.required_by_default)
        read_integer(config, VALID_FOR, low=60, high=MAX_VALID, default=VALID_SECONDS)

    def check_default(self, config: Config, default: object) -> None:
        check_default(default)

    def check_answer(self, config: Config, answer: object) -> Answer:
        return check_decision(read_proposal(config), answer)

    def parse_form(self, config: Config, typed: Typed, page: Page) -> Answer:
        proposal = read_proposal(config)
        answer, seen = form.parse_decision(proposal, typed, page)
        decision = check_decision(proposal, answer)
        if decision["action"] == EDIT and seen != form.digest(decision["arguments"]):
            raise Unconfirmed(say("Check the changes"))
        return decision

    def build_form(
        self, config: Config, typed: Typed, page: Page, errors: Mapping[str, str]
    ) -> Widget:
        return form.build_form(read_proposal(config), typed, page, errors)

    def format_typed(self, config: Config, typed: Typed) -> str:
        return form.format_typed(read_proposal(config), typed)

    def read_default(self, typed: str, *, point: str) -> object:
        """Reads `reject`, `reject: reason` and `respond: message`."""
        action, _, message = (part.strip() for part in typed.partition(":"))
        if action.lower() not in ACTIONS:
            raise InvalidAnswer(say("Enter reject, or respond: and a message"))
        return {"action": action.lower(), **({"message": message} if message else {})}

    def write_default(self, default: dict[str, Any]) -> str:
        return ": ".join(filter(None, (default["action"], default.get("message"))))

    def get_key(self, answer: dict[str, Any]) -> str:
        return canonicalize([answer["action"], answer.get("arguments")]).decode()

    def get_vote(self, answer: dict[str, Any]) -> str:
        return str(answer["action"])

    def build_ballot(self, answer: dict[str, Any], veto: Sequence[Any]) -> Ballot:
        """To approve is never a veto, whatever the policy of a loop names."""
        return super().build_ballot(answer, [vote for vote in veto if vote in VETOES])

    def check_vote(self, config: Config, vote: object) -> None:
        if vote not in VETOES or vote not in read_proposal(config).actions:
            raise InvalidAnswer(say("Choose what to do"))

    def list_bulk_answers(self, config: Config) -> list[BulkAnswer]:
        """Approve and reject, where nobody edits; not where the risk is high."""
        proposal = read_proposal(config)
        if EDIT in proposal.actions or proposal.risk == HIGH:
            return []
        return [
            BulkAnswer(action, str(ACTION_LABELS[action]), {"action": action})
            for action in proposal.actions
            if action in (APPROVE, REJECT)
        ]

    def get_bulk_subject(self, config: Config) -> Hashable:
        """Returns the call and its risk: only requests equal in both are answered together."""
        proposal = read_proposal(config)
        return proposal.name, proposal.risk

    def list_values(self, config: Config) -> list[str]:
        return list(read_proposal(config).actions)

    def list_chosen(self, answer: object) -> list[object]:
        """Returns the action; none of a decision with a message, which is comment enough."""
        decision = answer if isinstance(answer, dict) else {}
        return [] if "message" in decision else [decision.get("action")]

    def get_labels(self, config: Config, values: list[Any]) -> list[str]:
        return [str(ACTION_LABELS.get(value, value)) for value in values]

    def format_answer(self, config: Config, answer: object) -> str:
        return format_decision(answer)
