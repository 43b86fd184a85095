"""`reviewloop hook`: coding agents ask people before they act. docs/agents.md describes it."""
