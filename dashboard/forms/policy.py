"""The fields of a policy, in the forms of a new request and of a loop."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from dashboard.forms.answer_settings import build_number_field
from reviews.policy import FIRST, MAJORITY, MEDIAN, UNANIMOUS, Policy
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.posted import read_lines, read_number, unify_newlines
from web.languages import decimal_mark, translate
from web.languages import gettext_lazy as _lazy
from web.phrases import Phrase, say
from web.typed_numbers import write_number

RULES = {
    FIRST: _lazy("First answer"),
    MAJORITY: _lazy("Majority"),
    UNANIMOUS: _lazy("Unanimous"),
    MEDIAN: _lazy("Median"),
}
FIELDS = (
    "policy_rule",
    "policy_answers",
    "policy_open",
    "policy_veto",
    "policy_exclude_creator",
)
_VETO = re.compile(r"policy\.veto\[(\d+)\]")
_PART = re.compile(r"[.\[]")


class PolicyForm(forms.Form):
    """A form with a policy, which explains errors of the API with its own labels.

    With the rule `first`, only `policy_exclude_creator` counts: the page shows no other field.
    """

    policy_rule = forms.ChoiceField(
        label=_lazy("Rule"),
        choices=list(RULES.items()),
        initial=FIRST,
        required=False,
        help_text=_lazy(
            "Majority: more than half give the same answer. Unanimous: all give the same answer. "
            "Median: the middle one of numbers or ratings decides."
        ),
    )
    policy_answers = build_number_field(
        _lazy("Number of people"),
        initial="2",
        help_text=_lazy("How many people answer, from 2 to 15."),
    )
    policy_open = forms.BooleanField(
        label=_lazy("Show each answer as soon as it’s given"),
        required=False,
        help_text=_lazy("Otherwise nobody sees the answers of others until it’s decided."),
    )
    policy_veto = forms.CharField(
        label=_lazy("Veto"),
        required=False,
        widget=forms.Textarea({"rows": 2, "spellcheck": "false"}),
        help_text=_lazy(
            "Answers that decide alone, one per line, such as no. For an approval: reject."
        ),
    )
    policy_exclude_creator = forms.BooleanField(
        label=_lazy("Don’t ask me"),
        required=False,
        help_text=_lazy("Only other members can answer."),
    )

    def build_policy(
        self, read_vote: Callable[[str], Any], *, stored: Mapping[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """Builds the policy that a program would send, from valid or invalid values.

        Returns None for the usual one. `read_vote` reads a veto; `stored` is the policy that the
        form changes, of which the rule `first` keeps what the form has no field for.
        """
        typed = {name: self[name].value() for name in FIELDS}
        rule, excludes_creator = (
            typed["policy_rule"] or FIRST,
            bool(typed["policy_exclude_creator"]),
        )
        if rule == FIRST:
            usual = Policy().store()
            kept = stored if stored and stored["rule"] == FIRST else usual
            policy = {**kept, "exclude_creator": excludes_creator}
            return None if policy == usual else policy
        lines = read_lines(unify_newlines(typed["policy_veto"] or ""))
        return {
            "rule": rule,
            "answers": _read_whole(typed["policy_answers"] or ""),
            "blind": not typed["policy_open"],
            "exclude_creator": excludes_creator,
            "veto": [read_vote(line) for line in lines],
        }

    def find_place(self, path: str) -> str | None:
        """Returns the name of the field for a path of the API, None if there is none."""
        parts = _PART.split(path)
        places = ("_".join(parts[:2]), parts[0])
        return next((name for name in places if name in self.fields), None)

    def explain(self, detail: str) -> str:
        """Translates an error's detail, with the labels of this form for the API's names."""
        if not isinstance(detail, Phrase):  # of a response type that has no phrases
            name, blank, rest = detail.partition(" ")
            return f"{self.name_value(name)}{blank}{rest}"
        named = {name: self.name_value(value) for name, value in detail.values.items()}
        return translate(say(detail.template, **named))

    def name_value(self, value: Any) -> Any:
        """Returns the label of a field's name or of rules, and any other value unchanged."""
        if not isinstance(value, str):
            return value
        veto, words = _VETO.fullmatch(value), value.split(", ")
        if veto:
            return _("Veto %(number)s") % {"number": int(veto[1]) + 1}
        if RULES.keys() >= {*words}:
            return ", ".join(str(RULES[word]) for word in words)
        name = value.replace(".", "_")
        return self.fields[name].label if name in self.fields else value


def name_field(detail: str) -> str:
    """Returns the first word of an error's detail, which is the API's name of the field."""
    if isinstance(detail, Phrase):
        return str(detail.values.get("field", ""))
    return detail.partition(" ")[0]


def build_initial(policy: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the form's values for a stored policy."""
    if policy is None:
        return {}
    initial = {
        "policy_rule": policy["rule"],
        "policy_open": not policy["blind"],
        "policy_exclude_creator": policy["exclude_creator"],
        "policy_veto": "\n".join(map(write_vote, policy["veto"])),
    }
    return initial if policy["rule"] == FIRST else {**initial, "policy_answers": policy["answers"]}


def write_vote(vote: Any) -> str:
    return vote if isinstance(vote, str) else write_number(vote, point=decimal_mark())


def read_any_vote(line: str) -> Any:
    """Reads a veto of requests of any type: a number, or else a text."""
    try:
        return read_number(line, point=decimal_mark())
    except InvalidAnswer:
        return line


def _read_whole(typed: Any) -> Any:
    """Returns the number, None for an empty field, or the text itself if it is no whole number."""
    try:
        return read_number(str(typed), point=decimal_mark(), is_whole=True)
    except InvalidAnswer:
        return typed
