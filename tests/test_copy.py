"""Words that pages, emails and messages no longer use: each was replaced by plainer ones."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = (
    "config", "db", "web", "accounts", "webhooks", "mailing", "loops", "reviews", "api", "portal",
    "dashboard", "signin", "local",
)  # fmt: skip
REPLACED = (
    "Look into your mail",
    "look among the spam",
    "check that you typed the address right",
    "Type the six digits that stand in it",
    "they are good for ten minutes",
    "Go on",
    "Nothing came?",
    "A mail went to",
    "a code by mail",
    "Already an account?",
    "Whoever asked sees it",
    "no common password, not only digits",
    "This is delicate",
    "Is it you?",
    "A recovery code does it too",
    "The second step",
    "On this very phone",
    "Keep them where your phone is not",
    "switched off",
    "This account exists now",
    "That code has ended",
    "That was not the code",
    "Tries left",
    "As the system has it",
    "Kept in this browser alone",
    "To the start",
    "To the inbox",
    "This is not here for you",
    "The question is not there",
    "Nothing waits for you",
    "no longer waits",
    "holds it",
    "Answered by me",
    "that you skipped still wait",
    "The time has run out",
    "so this was used",
    "Give it back",
    "Until then only they can answer it",
    "Question before",
    "Question after",
    "No answer in time?",
    "your answer was perhaps not sent",
    "The service is away for a moment",
    "here is what it has become",
    "Its questions",
    "In the dashboard",
    "This code opens no loop",
    "no I, L",
    "Requests have deadlines, often of minutes",
    "tells you of them",
    "Answer until",
    "leave this mail alone",
    "somebody, probably you",
    "Give it to nobody",
    "Everything is well",
    "Background work is running",
    "needs a look",
    "deliveries died",
    "API calls of this hour",
    "See them",
    "Half within",
    "The numbers stand in the table below",
    "Nothing to draw yet",
    "Now invite those who shall answer",
    "the name that you typed is another one",
    "open nothing any more",
    "stand below as invited until they do",
    "change it if they must not",
    "That was the sixtieth mail in an hour",
    "Behind a |",
    "After a while",
    "An answer must be given",
    "Negative numbers too",
    "Shortest, in characters",
    "What becomes of the request is posted there",
    "It has no callback URL",
    "Nothing has happened yet that its callback URL is told",
    "As the API gives it",
    "All of it",
    "Nobody is asked any more",
    "with a fresh schedule behind it",
    "Body that came back",
    "Headers that came back",
    "Its end will stand here",
    "every blank counts",
    "Rolled out",
    "lives on",
    # found beside them
    "Look in your spam",
    "That came too late",
    "This is no passkey",
    "So that you recognize",
    "There were no other sessions",
    "Nothing was sent to",
    "Dark appearance",
    "sends no email",
    "nobody else can answer it meanwhile",
    "from everybody together",
    "or JavaScript is off",
    "no device of yours",
    # one spelling for one thing
    "e-mail",
    "any more",
    "anymore",
    "Somebody",
    "somebody wants",
    "if somebody",
)
PATTERN = re.compile(
    "|".join(rf"(?{'i' * phrase[0].islower()}:\b{re.escape(phrase)})" for phrase in REPLACED)
)
COMMENT = re.compile(r"\{#.*?#\}|\{% comment.*?endcomment %\}|<!--.*?-->", re.DOTALL)
SCRIPT_COMMENT = re.compile(r"(?:^|\s)//.*$|/\*[\s\S]*?\*/", re.MULTILINE)


def replaced_in(text: str) -> list[str]:
    """The old words in a text, however its lines are broken."""
    return PATTERN.findall(" ".join(text.split()))


def strings(path: Path) -> Iterator[str]:
    """Every string of a module that is no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_old_words_are_found_across_lines() -> None:
    assert replaced_in("<p>\n  Look into\n  your mail</p>") == ["Look into your mail"]
    assert replaced_in("Check your email") == []


@pytest.mark.parametrize("folder", ["templates", "static/js"])
def test_no_page_mail_or_script_says_it_the_old_way(folder: str) -> None:
    for path in (ROOT / folder).rglob("*"):
        if path.suffix in {".html", ".txt"}:
            text = COMMENT.sub("", path.read_text(encoding="utf-8"))
        elif path.suffix == ".js":
            text = SCRIPT_COMMENT.sub(" ", path.read_text(encoding="utf-8"))
        else:
            continue
        assert replaced_in(text) == [], path


@pytest.mark.parametrize("room", ROOMS)
def test_no_message_says_it_the_old_way(room: str) -> None:
    for path in (ROOT / room).rglob("*.py"):
        if "migrations" not in path.parts:
            for text in strings(path):
                assert replaced_in(text) == [], f"{path}: {text!r}"
