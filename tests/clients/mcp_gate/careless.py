"""A server that runs every call of a tool that it reads, also one without an id."""

import json
import os
import sys

RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "shop", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "refund", "inputSchema": {"type": "object"}}]},
}

for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "tools/call":
        with open(os.environ["CALLS"], "a", encoding="utf-8") as file:
            file.write(json.dumps(message["params"]) + "\n")
    if message.get("id") is not None:
        result = RESULTS.get(message["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
