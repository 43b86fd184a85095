"""The pure rules of an approval: proposals, decisions, defaults, and their words."""

from typing import Any

import pytest

from reviews.response_types import InvalidAnswer, InvalidConfiguration, InvalidDefault
from reviews.response_types.approval import read_proposal
from reviews.response_types.approval.decision import check_decision, check_default
from reviews.response_types.approval.values import is_same
from reviews.response_types.approval.words import format_decision

ARGUMENTS: dict[str, Any] = {
    "order": 1042,
    "amount": 129.5,
    "note": "Sorry!",
    "notify": True,
    "tags": ["vip"],
    "to": {"name": "Ada"},
    "coupon": None,
}


def config(**changes: Any) -> dict[str, Any]:
    proposal = {"name": "issue_refund", "arguments": ARGUMENTS, **changes.pop("proposal", {})}
    return {"proposal": proposal, **changes}


EDITING = config(actions=["approve", "edit", "reject", "respond"])


def with_arguments(arguments: Any) -> dict[str, Any]:
    return config(proposal={"arguments": arguments})


class TestProposals:
    def test_what_is_left_out(self) -> None:
        proposal = read_proposal({"proposal": {"name": "restart"}})
        assert proposal.arguments == {}
        assert proposal.actions == ("approve", "reject")
        assert (proposal.title, proposal.risk, proposal.editable) == ("", "", ())

    def test_every_argument_but_null_can_be_edited(self) -> None:
        editable = ("order", "amount", "note", "notify", "tags", "to")
        assert read_proposal(EDITING).editable == editable
        assert read_proposal({**EDITING, "editable": True}).editable == editable

    def test_only_named_arguments_can_be_edited(self) -> None:
        assert read_proposal({**EDITING, "editable": ["note", "amount"]}).editable == (
            "amount",
            "note",
        )

    def test_null_can_be_edited_where_the_schema_has_its_type(self) -> None:
        schema = {"type": "object", "properties": {"coupon": {"type": "string"}}}
        editing = config(proposal={"schema": schema}, actions=["edit"])
        assert "coupon" in read_proposal(editing).editable
        assert read_proposal({**editing, "editable": ["coupon"]}).editable == ("coupon",)

    @pytest.mark.parametrize("value", [0, False, [], {}])
    def test_an_empty_value_has_to_fit_the_schema_too(self, value: Any) -> None:
        schema = {"type": "object", "properties": {"note": {"type": "string"}}}
        with pytest.raises(InvalidConfiguration, match=r"^proposal.arguments.note must be a str"):
            read_proposal(config(proposal={"schema": schema, "arguments": {"note": value}}))

    def test_actions_have_an_order_of_their_own(self) -> None:
        assert read_proposal(config(actions=["reject", "approve"])).actions == ("approve", "reject")

    @pytest.mark.parametrize("number", [2**53 - 1, 1 - 2**53, 0.1, 1e-300, -0.0])
    def test_numbers_that_every_program_reads_alike(self, number: float) -> None:
        assert read_proposal(with_arguments({"n": number})).arguments == {"n": number}

    @pytest.mark.parametrize(
        ("changed", "sentence"),
        [
            ({}, "proposal is required"),
            ({"proposal": None}, "proposal is required"),
            ({"proposal": []}, "proposal must be an object"),
            ({"proposal": {}}, "proposal.name is required"),
            (config(proposal={"name": " "}), "proposal.name is required"),
            (config(proposal={"name": 5}), "proposal.name must be a string"),
            (
                config(proposal={"name": "x" * 201}),
                "proposal.name must have at most 200 characters",
            ),
            (config(proposal={"title": ["x"]}), "proposal.title must be a string"),
            (
                config(proposal={"title": "x" * 201}),
                "proposal.title must have at most 200 characters",
            ),
            (
                config(proposal={"risk": "grave"}),
                "proposal.risk must be one of: low, medium, high",
            ),
            (config(proposal={"risk": []}), "proposal.risk must be one of: low, medium, high"),
            (with_arguments([]), "proposal.arguments must be an object"),
            (
                with_arguments({str(n): n for n in range(101)}),
                "proposal.arguments must have at most 100 fields",
            ),
            (with_arguments({" ": 1}), "proposal.arguments must not have a blank name"),
            (
                with_arguments({"x" * 201: 1}),
                "proposal.arguments must have names of at most 200 characters",
            ),
            (
                with_arguments({"__proto__": {}}),
                "proposal.arguments must not have a field named __proto__",
            ),
            (
                with_arguments({"items": [{"a": {"__proto__": 1}}]}),
                "proposal.arguments.items[0].a must not have a field named __proto__",
            ),
            (
                with_arguments({"items": [1, {"id": 2**53}]}),
                "proposal.arguments.items[1].id must be between -9007199254740991 and "
                "9007199254740991. Send a number beyond them as a string",
            ),
            (
                with_arguments({"n": -1e300}),
                "proposal.arguments.n must be between -9007199254740991 and "
                "9007199254740991. Send a number beyond them as a string",
            ),
            (config(actions="approve"), "actions must be an array"),
            (config(actions=[]), "actions must not be empty"),
            (
                config(actions=["approve", "deny"]),
                "actions[1] must be one of: approve, edit, reject, respond",
            ),
            (
                config(actions=[["approve"]]),
                "actions[0] must be one of: approve, edit, reject, respond",
            ),
            (config(actions=["reject", "reject"]), "actions must not contain an action twice"),
            (config(editable=True), "editable needs the action edit"),
            (config(editable=["note"]), "editable needs the action edit"),
            (
                {**EDITING, "editable": "note"},
                "editable must be true or an array of argument names",
            ),
            ({**EDITING, "editable": False}, "editable must be true or an array of argument names"),
            (
                {**EDITING, "editable": ["note", "name"]},
                "editable[1] must be the name of an argument",
            ),
            ({**EDITING, "editable": [["note"]]}, "editable[0] must be the name of an argument"),
            (
                {**EDITING, "editable": ["coupon"]},
                "editable[0] must be an argument with a value, or have a field in proposal.schema",
            ),
            (
                {**EDITING, "editable": []},
                "actions must not contain edit without an argument to edit",
            ),
            (
                {"proposal": {"name": "restart"}, "actions": ["edit"]},
                "actions must not contain edit without an argument to edit",
            ),
        ],
    )
    def test_what_is_refused(self, changed: dict[str, Any], sentence: str) -> None:
        with pytest.raises(InvalidConfiguration) as caught:
            read_proposal(changed)
        assert str(caught.value) == sentence


def decide(**answer: Any) -> dict[str, Any]:
    return check_decision(read_proposal(EDITING), answer)


def edit(**changes: Any) -> dict[str, Any]:
    return decide(action="edit", arguments={**ARGUMENTS, **changes})


class TestDecisions:
    def test_an_approval_says_what_may_run(self) -> None:
        assert decide(action="approve") == {
            "action": "approve",
            "edited": [],
            "arguments": ARGUMENTS,
        }

    def test_an_edit_says_what_differs(self) -> None:
        changes = {"amount": 12, "note": "", "tags": [], "to": {"name": "Bob"}}
        decision = edit(**changes)
        assert decision["action"] == "edit"
        assert decision["edited"] == ["amount", "note", "tags", "to"]
        assert decision["arguments"] == {**ARGUMENTS, **changes}
        assert list(decision["arguments"]) == list(ARGUMENTS)

    def test_an_edit_without_a_difference_is_an_approval(self) -> None:
        same = edit(amount=129.50, order=1042.0)
        assert edit() == same == decide(action="approve")
        assert type(same["arguments"]["order"]) is int

    @pytest.mark.parametrize(
        ("value", "sentence"),
        [
            ({"amount": "10"}, "p: p.amount: Enter a whole number"),
            ({"amount": True}, "p: p.amount: Enter a whole number"),
            ({"amount": 10, "extra": 1}, "p: p must not have a field named extra"),
            ({"lines": [{"sku": 5}]}, "p: p.lines[0].sku: Enter text"),
            ({"lines": [{"sku": "x"}, {"sku": 5}]}, "p: p.lines[1].sku: Enter text"),
            ({"lines": [{"sku": "x", "n": 1}]}, "p: p.lines[0] must not have a field named n"),
            ({"nothing": 1}, "p: p.nothing: This can’t be changed"),
            (
                {"amount": 2**60},
                "p: p.amount must be between -9007199254740991 and 9007199254740991",
            ),
            (
                {"any": [{"\u202e": {"__proto__": 1}}]},
                "p: p.any[0].‹U+202E› must not have a field named __proto__",
            ),
            (
                {"any": [{"\u3164": 2**60}]},
                "p: p.any[0].‹U+3164› must be between -9007199254740991 and 9007199254740991",
            ),
            (
                {"lines": [{"sku": "x", "\u3164": 1}]},
                "p: p.lines[0] must not have a field named ‹U+3164›",
            ),
            ({"any": [{"__proto__": 1}]}, "p: p.any[0] must not have a field named __proto__"),
        ],
    )
    def test_what_is_inside_an_argument_keeps_its_type(self, value: Any, sentence: str) -> None:
        with pytest.raises(InvalidAnswer) as caught:
            self.edit_inside(value)
        assert str(caught.value) == sentence

    @pytest.mark.parametrize(
        "value",
        [
            {"amount": 11, "lines": [{"sku": "y"}, {"sku": "z"}], "nothing": None},
            {"lines": [], "any": ["x", {"y": 1}]},
            {},
        ],
    )
    def test_what_may_change_inside_an_argument(self, value: Any) -> None:
        assert self.edit_inside(value)["arguments"] == {"p": value}

    def test_a_whole_number_inside_an_argument_stays_one(self) -> None:
        amount = self.edit_inside({"amount": 11.0})["arguments"]["p"]["amount"]
        assert (amount, type(amount)) == (11, int)

    def edit_inside(self, value: Any) -> dict[str, Any]:
        arguments = {"p": {"amount": 10, "lines": [{"sku": "x"}], "nothing": None, "any": []}}
        proposal = read_proposal(config(proposal={"arguments": arguments}, actions=["edit"]))
        return check_decision(proposal, {"action": "edit", "arguments": {"p": value}})

    def test_an_edit_without_a_difference_where_nobody_may_approve(self) -> None:
        proposal = read_proposal(config(actions=["edit", "reject"]))
        with pytest.raises(InvalidAnswer, match=r"^Change at least one argument$"):
            check_decision(proposal, {"action": "edit", "arguments": ARGUMENTS})

    def test_a_whole_number_stays_one(self) -> None:
        order = edit(order=7.0)["arguments"]["order"]
        assert (order, type(order)) == (7, int)

    def test_a_whole_number_of_the_schema_is_one(self) -> None:
        schema = {"type": "object", "properties": {"order": {"type": "integer"}}}
        proposal = read_proposal(config(proposal={"schema": schema}, actions=["edit"]))
        answer = {"action": "edit", "arguments": {**ARGUMENTS, "order": 7.0}}
        order = check_decision(proposal, answer)["arguments"]["order"]
        assert (order, type(order)) == (7, int)

    def test_an_edit_has_to_fit_the_schema(self) -> None:
        schema = {"type": "object", "properties": {"amount": {"type": "number", "maximum": 130}}}
        proposal = read_proposal(config(proposal={"schema": schema}, actions=["edit"]))
        with pytest.raises(InvalidAnswer, match=r"^amount: amount must be at most 130$"):
            check_decision(
                proposal, {"action": "edit", "arguments": {**ARGUMENTS, "amount": 130.5}}
            )

    def test_a_rejection_and_a_reply(self) -> None:
        assert decide(action="reject") == {"action": "reject"}
        assert decide(action="reject", message=" ") == {"action": "reject"}
        assert decide(action="reject", message="Too much.") == {
            "action": "reject",
            "message": "Too much.",
        }
        assert decide(action="respond", message="Which order?") == {
            "action": "respond",
            "message": "Which order?",
        }

    @pytest.mark.parametrize(
        ("answer", "sentence"),
        [
            (None, "Choose what to do"),
            ("approve", "Choose what to do"),
            ({}, "Choose what to do"),
            ({"action": "deny"}, "Choose what to do"),
            ({"action": ["approve"]}, "Choose what to do"),
            ({"action": "respond"}, "Write a message"),
            ({"action": "respond", "message": " \n"}, "Write a message"),
            ({"action": "reject", "message": 5}, "The message must be text"),
            (
                {"action": "reject", "message": "\ud800"},
                "The message contains a character that cannot be stored",
            ),
            (
                {"action": "reject", "message": "x" * 10_001},
                "The message must have at most 10000 characters",
            ),
            (
                {"action": "edit", "arguments": {"amount": 5}},
                "Give all arguments of the proposal, and no others",
            ),
            (
                {"action": "edit", "arguments": {**ARGUMENTS, "more": 1}},
                "Give all arguments of the proposal, and no others",
            ),
            (
                {"action": "edit", "arguments": []},
                "Give all arguments of the proposal, and no others",
            ),
            ({"action": "edit"}, "Give all arguments of the proposal, and no others"),
            (
                {"action": "approve", "arguments": {**ARGUMENTS, "amount": 5, "note": ""}},
                "You changed amount, note. Approve it with the changes, or undo them",
            ),
        ],
    )
    def test_what_is_no_decision(self, answer: Any, sentence: str) -> None:
        with pytest.raises(InvalidAnswer) as caught:
            check_decision(read_proposal(EDITING), answer)
        assert str(caught.value) == sentence

    @pytest.mark.parametrize("action", ["edit", "respond"])
    def test_an_action_that_is_not_offered(self, action: str) -> None:
        with pytest.raises(InvalidAnswer, match=r"^Choose what to do$"):
            check_decision(
                read_proposal(config()),
                {"action": action, "message": "x", "arguments": {**ARGUMENTS, "amount": 5}},
            )

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"coupon": "FREE"}, "coupon: This can’t be changed"),
            ({"order": 7.5}, "order: Enter a whole number"),
            ({"order": "7"}, "order: Enter a whole number"),
            ({"order": True}, "order: Enter a whole number"),
            (
                {"order": 2**53},
                "order: order must be between -9007199254740991 and 9007199254740991",
            ),
            ({"amount": "7"}, "amount: Enter a number"),
            ({"amount": None}, "amount: Enter a number"),
            ({"notify": 1}, "notify: Choose yes or no"),
            ({"note": None}, "note: Enter text"),
            ({"note": "\0"}, "note: The value contains a character that cannot be stored"),
            ({"tags": {"0": "vip"}}, "tags: Enter a JSON array"),
            ({"tags": ["\ud800"]}, "tags: The value contains a character that cannot be stored"),
            ({"to": ["Ada"]}, "to: Enter a JSON object"),
            ({"to": {"__proto__": 1}}, "to: to must not have a field named __proto__"),
            ({"note": "x" * 256 * 1024}, "The arguments are too long"),
            ({"note": "ü" * 140_000}, "The arguments are too long"),
        ],
    )
    def test_an_edit_keeps_what_the_argument_is(
        self, changes: dict[str, Any], sentence: str
    ) -> None:
        with pytest.raises(InvalidAnswer) as caught:
            edit(**changes)
        assert str(caught.value) == sentence

    def test_an_edit_of_what_is_not_editable(self) -> None:
        proposal = read_proposal({**EDITING, "editable": ["note"]})
        with pytest.raises(InvalidAnswer, match=r"^amount: This can’t be changed$"):
            check_decision(proposal, {"action": "edit", "arguments": {**ARGUMENTS, "amount": 1}})

    def test_an_edit_nests_no_deeper_than_a_body_may(self) -> None:
        deep: Any = "x"
        for _ in range(30):
            deep = [deep]
        proposal = read_proposal(config(proposal={"arguments": {"tags": []}}, actions=["edit"]))
        with pytest.raises(InvalidAnswer, match=r"^tags: The value has too many levels$"):
            check_decision(proposal, {"action": "edit", "arguments": {"tags": deep}})


def test_the_longest_message() -> None:
    decision = {"action": "respond", "message": "x" * 10_000}
    assert check_decision(read_proposal(EDITING), decision) == decision


class TestDefaults:
    @pytest.mark.parametrize(
        "default",
        [
            {"action": "reject", "message": ""},
            {"action": "reject", "message": "x" * 10_000},
            {"action": "reject"},
            {"action": "reject", "message": None, "code": 5},
            {"action": "reject", "message": "Nobody had time."},
            {"action": "respond", "message": "Ask again tomorrow."},
        ],
    )
    def test_nobody_has_looked(self, default: Any) -> None:
        check_default(default)

    @pytest.mark.parametrize(
        ("default", "sentence"),
        [
            ("reject", "default_response must be an object"),
            ({}, "default_response.action must be one of: reject, respond"),
            ({"action": "deny"}, "default_response.action must be one of: reject, respond"),
            ({"action": ["reject"]}, "default_response.action must be one of: reject, respond"),
            (
                {"action": "approve"},
                "default_response.action must not be approve, because nobody has looked at the "
                "proposal. Use reject or respond",
            ),
            (
                {"action": "edit", "arguments": ARGUMENTS},
                "default_response.action must not be edit, because nobody has looked at the "
                "proposal. Use reject or respond",
            ),
            (
                {"action": "reject", "arguments": ARGUMENTS},
                "default_response.arguments is only for an approval by a person",
            ),
            ({"action": "respond"}, "default_response.message is required"),
            ({"action": "respond", "message": " "}, "default_response.message is required"),
            ({"action": "reject", "message": 5}, "default_response.message must be a string"),
            (
                {"action": "reject", "message": "x" * 10_001},
                "default_response.message must have at most 10000 characters",
            ),
        ],
    )
    def test_what_is_refused(self, default: Any, sentence: str) -> None:
        with pytest.raises(InvalidDefault) as caught:
            check_default(default)
        assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"action": "approve", "edited": [], "arguments": {}}, "Approved"),
        ({"action": "edit", "edited": ["amount", "note"]}, "Approved with changes: amount, note"),
        (
            {"action": "edit", "edited": list("abcdefghij")},
            "Approved with changes: a, b, c, d, e, f, g, h and 2 more",
        ),
        ({"action": "reject"}, "Rejected"),
        ({"action": "reject", "message": "Too much."}, "Rejected: Too much."),
        ({"action": "respond", "message": "Which one?"}, "Replied: Which one?"),
        ({"action": "respond"}, "Replied"),
        ({"action": "approve", "message": "Go."}, "Approved: Go."),
        ({}, "nothing"),
        (None, "nothing"),
        (["approve"], "nothing"),
        ({"action": ["approve"]}, "nothing"),
    ],
)
def test_words(answer: Any, words: str) -> None:
    assert format_decision(answer) == words


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, False, False),
        ("1", 1, False),
        ([1, [2.0]], [1.0, [2]], True),
        ([1, True], [1, 1], False),
        ([1], [1, 2], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": {"b": True}}, {"a": {"b": 1}}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({}, [], False),
        ("", None, False),
        ("é", "e\u0301", False),
    ],
)
def test_equal_values(one: Any, other: Any, same: bool) -> None:
    assert is_same(one, other) is is_same(other, one) is same
