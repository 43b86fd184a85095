"""The types of clients/typescript, made from the schemas of the OpenAPI document.

`UPDATE_TYPES=1 make test ARGS="tests/clients/test_typescript_client.py -k types"` writes them.
"""

import json
from pathlib import Path

from api.openapi.pages import build_document
from tests.clients import node
from tests.processes.stack import ROOT

TYPESCRIPT = ROOT / "clients" / "typescript"
TYPES = TYPESCRIPT / "src" / "schema.ts"


def generate(folder: Path) -> str:
    """Returns the types of the API as it is now."""
    generator = node.program("openapi-typescript", "bin/cli.js")
    document = json.loads(build_document())
    schemas = {"schemas": document["components"]["schemas"]}
    short = {"openapi": document["openapi"], "info": document["info"], "components": schemas}
    (folder / "short.json").write_text(json.dumps(short), encoding="utf-8")
    node.run([*generator, "short.json", "--output", "schema.ts"], folder)
    return (folder / "schema.ts").read_text(encoding="utf-8")
