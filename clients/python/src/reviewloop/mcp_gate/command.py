"""The command `reviewloop mcp-gate`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NoReturn

from reviewloop.client import Client
from reviewloop.errors import ConfigurationError
from reviewloop.mcp_gate.rules import read_rules

NEEDED = "pip install 'reviewloop[gate]'"
ENDING = """\
examples:
  reviewloop mcp-gate -- npx -y @modelcontextprotocol/server-filesystem /srv/files
  reviewloop mcp-gate --rules gate.toml --header 'Authorization: Bearer ${TOKEN}' https://…/mcp
"""


def add_mcp_gate(gate: argparse.ArgumentParser) -> None:
    gate.formatter_class = argparse.RawDescriptionHelpFormatter
    gate.description = "Stands before an MCP server, and asks people before a tool is called."
    gate.epilog = ENDING
    gate.add_argument(
        "server", nargs="+", help="address of the server, or -- and the command that starts it"
    )
    gate.add_argument("--rules", metavar="FILE", help="which tools to ask, pass or refuse (TOML)")
    gate.add_argument("--loop", help="name or id of the loop (else the only one you have)")
    gate.add_argument("--timeout", help="how long people have for an answer (10m)")
    gate.add_argument(
        "--no-mask",
        action="store_const",
        const=False,
        dest="mask",
        help="send values that look like secrets as they are",
    )
    gate.add_argument(
        "--header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="sent to the server's address; ${NAME} is read from the environment",
    )
    gate.set_defaults(run=run_mcp_gate)


def run_mcp_gate(client: Client, args: argparse.Namespace) -> NoReturn:
    """Serves the host on standard input and output until it leaves. Raises ConfigurationError."""
    rules = read_rules(args.rules, loop=args.loop, timeout=args.timeout, mask=args.mask)
    headers = dict(read_header(each, os.environ) for each in args.header)
    try:
        from reviewloop.mcp_gate import serving
    except ImportError as error:
        raise ConfigurationError(f"{error}: {NEEDED}") from None
    upstream = connect(args.server, headers)
    with Client(client.url, patience=rules.patience) as patient:
        code = serving.serve(patient, rules, upstream)
    # Threads that wait for people or for the host's next line would keep the process alive.
    sys.stderr.flush()
    os._exit(code)


def connect(server: Sequence[str], headers: Mapping[str, str]) -> AbstractAsyncContextManager[Any]:
    """Returns the connection to the server, unopened."""
    from reviewloop.mcp_gate import serving

    if re.match(r"https?://", server[0]):
        if len(server) > 1:
            raise ConfigurationError(f"{server[1]!r} follows the address of the server")
        return serving.connect_to_address(server[0], headers)
    if headers:
        raise ConfigurationError("--header needs the address of a server, not a command")
    return serving.start_command(server)


def read_header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Reads a header, whose value may name variables. Raises ConfigurationError."""
    name, colon, value = text.partition(":")
    if not (colon and name.strip()):
        raise ConfigurationError(f"--header {name!r} is not 'NAME: VALUE'")

    def fill(match: re.Match[str]) -> str:
        if match[1] not in environment:
            raise ConfigurationError(f"--header {name}: {match[1]} is not set")
        return environment[match[1]]

    return name.strip(), re.sub(r"\$\{(\w+)\}", fill, value.strip())
