"""Serves documents for programs and agents as Markdown: /llms.txt (llmstxt.org) and the guides."""

from functools import cache
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

TEXT = "text/plain; charset=utf-8"  # browsers show it; they download text/markdown
# The files that refer to each other, at their paths in the repository, so that their links work.
GUIDES: Final = (
    "docs/api.md",
    "docs/agents.md",
    "docs/webhooks.md",
    "docs/guides/approvals.md",
    "docs/guides/forms.md",
    "docs/guides/mcp-gate.md",
    "clients/python/README.md",
    "clients/typescript/README.md",
    "examples/README.md",
    "examples/ai-sdk/approval.ts",
    "examples/airflow/approved_refunds.py",
    "examples/approval_gate.py",
    "examples/ask.py",
    "examples/claude_agent_approval.py",
    "examples/cron/cleanup.sh",
    "examples/github-action/action.yml",
    "examples/langchain_review.py",
    "examples/langgraph_interrupt.py",
    "examples/n8n/approved_refunds.json",
    "examples/openai_agents_approval.py",
    "examples/receiver.py",
)
LLMS = """\
# Review Loop

> With Review Loop, programs and AI agents ask people for a decision and get the answer: an HTTP \
API, MCP tools, webhooks, and libraries for Python and TypeScript. This service is at {site}.

A request asks a group of people (a loop) one question, with a deadline and a default. The first \
answer counts. If nobody answers in time, the default becomes the answer, and `answered_by` says so.

- Every call needs an API key, which people create in the dashboard: \
`Authorization: Bearer rl_live_…`
- The API is at {site}/v1, and MCP (streamable HTTP, the same keys) at {site}/mcp
- Never poll: use `?wait=50`, a webhook, the stream /v1/api/events or the tool `ask_human`
- Send an `Idempotency-Key` with every POST, so that a repeated call asks nobody twice
- Choose a default that does no harm

## Guides

- [Agents]({site}/docs/agents.md): when to ask, how to phrase it, defaults, deadlines, MCP tools
- [The API]({site}/docs/api.md): keys, quota, errors, retries, requests, and which way to wait
- [Webhooks]({site}/docs/webhooks.md): events, signatures, retries, duplicates

## Schemas

- [OpenAPI]({site}/openapi.json): every call with its fields, errors and examples
- [Webhook body]({site}/webhook.schema.json): JSON Schema of the body of an event

## Libraries

- [Python]({site}/clients/python/README.md): `Client().ask(…)`, and the command `reviewloop ask`
- [TypeScript]({site}/clients/typescript/README.md): `client.ask(…)` for Node 20 or newer

## Optional

- [Examples]({site}/examples/README.md): LangGraph, LangChain, OpenAI Agents, Vercel AI SDK, \
GitHub Actions, cron
- [Reference]({site}/docs): the OpenAPI document as a page for people
"""


@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """Responds with an introduction for language models."""
    return HttpResponse(LLMS.format(site=settings.SITE_URL), content_type=TEXT)


@require_safe
def guide(request: HttpRequest, name: str) -> HttpResponse:
    """Responds with a guide. Raises Http404 if the installation does not include it."""
    try:
        return HttpResponse(read_guide(name), content_type=TEXT)
    except FileNotFoundError:
        raise Http404 from None


@cache
def read_guide(name: str) -> str:
    return (settings.BASE_DIR / name).read_text(encoding="utf-8")
