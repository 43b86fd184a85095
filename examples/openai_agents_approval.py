"""Parks runs of the OpenAI Agents SDK in SQLite until people have approved their tool calls.
No process waits: webhooks bring the decisions, and a run goes on from its serialised state."""

import json
import sqlite3
from typing import Any

from agents import Agent, Runner, RunState
from reviewloop import Client

TABLES = """
CREATE TABLE IF NOT EXISTS runs (id TEXT PRIMARY KEY, state TEXT, output TEXT);
CREATE TABLE IF NOT EXISTS calls (run TEXT, call TEXT, name TEXT, arguments TEXT, is_asked INT
                                  DEFAULT 0, decision TEXT, message TEXT, PRIMARY KEY (run, call));
"""
DECIDED = "UPDATE calls SET decision = ?, message = ? WHERE (run, call) = (?, ?)"
READY = """SELECT id, state FROM runs WHERE state IS NOT NULL AND NOT EXISTS
           (SELECT 1 FROM calls WHERE run = runs.id AND decision IS NULL)"""


class Parking:
    """The runs of one agent. It asks the loop with this id; events go to the address `url`."""

    def __init__(self, path: str, agent: Agent[Any], client: Client, loop: str, url: str) -> None:
        self.agent, self.client, self.loop_id, self.callback_url = agent, client, loop, url
        self.db = sqlite3.connect(path, check_same_thread=False)
        self.db.executescript(TABLES)

    async def start(self, run: str, words: Any) -> None:
        """Runs the agent to its end, or until it needs people. `run` is a name of your own."""
        result = await Runner.run(self.agent, words)
        state = result.to_state().to_string() if result.interruptions else None
        calls = [(run, it.call_id, it.name, it.arguments) for it in result.interruptions]
        with self.db:  # stored before anybody is asked, so an answer always finds its run
            self.db.execute("DELETE FROM calls WHERE run = ?", [run])
            row = [run, state, None if state else str(result.final_output)]
            self.db.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", row)
            add = "INSERT INTO calls (run, call, name, arguments) VALUES (?, ?, ?, ?)"
            self.db.executemany(add, calls)
        self.ask()

    def ask(self) -> None:
        """Asks what is not asked yet. Repeated after a crash, it asks nobody twice."""
        waiting = "SELECT run, call, name, arguments FROM calls WHERE NOT is_asked"
        done = "UPDATE calls SET is_asked = 1 WHERE (run, call) = (?, ?)"
        for run, call, name, arguments in self.db.execute(waiting).fetchall():
            self.client.requests.create(
                self.loop_id,
                request_text=f"**Call {name}?**",
                response_type="approval",
                response_config={"proposal": {"name": name, "arguments": json.loads(arguments)}},
                default_response={"action": "reject"},
                context={"run": run, "call": call},
                callback_url=self.callback_url,
                idempotency_key=f"{run} {call}",
            )
            with self.db:
                self.db.execute(done, [run, call])

    def receive(self, event: Any) -> None:
        """Stores the decision of a verified event. The same event twice changes nothing."""
        if event.get("status") in ("completed", "timeout", "cancelled"):
            place = event["data"]["request"]["context"]
            decision = event["response_data"] or {"action": "reject"}
            row = [decision["action"], decision.get("message"), place["run"], place["call"]]
            with self.db:
                self.db.execute(DECIDED, row)

    async def go_on(self) -> None:
        """Continues the runs whose tool calls are all decided."""
        for run, text in self.db.execute(READY).fetchall():
            state = await RunState.from_string(self.agent, text)
            rows = self.db.execute("SELECT call, decision, message FROM calls WHERE run = ?", [run])
            decided = {call: rest for call, *rest in rows}
            for item in state.get_interruptions():
                if decided[item.call_id][0] == "approve":
                    state.approve(item)
                else:
                    reason = decided[item.call_id][1] or "Not approved."
                    state.reject(item, rejection_message=reason)
            await self.start(run, state)
