// Has people approve the tool calls of the Vercel AI SDK that need it: `toolApproval` of AI SDK 7,
// or `needsApproval` of AI SDK 6.
//
// The conversation is in the store before anybody is asked: a process that starts again under the
// same name finds its questions and goes on.

import { generateText, type ModelMessage, type ToolApprovalResponse } from "ai";
import { AlreadyRedeemed, type Client, type Store } from "reviewloop";

type Options = Omit<Parameters<typeof generateText>[0], "messages" | "prompt"> & {
  messages: ModelMessage[];
};
type Asked = { approvalId: string; toolCallId: string; toolName: string; input: unknown };

/** Calls `generateText` until no tool call waits for a person. */
export async function generateWithApproval(
  client: Client,
  { name, store }: { name: string; store: Store },
  options: Options,
) {
  const saved = await store.get(name);
  const messages: ModelMessage[] = saved ? JSON.parse(saved) : [...options.messages];
  for (;;) {
    const waiting = findWaiting(messages);
    if (waiting.length) {
      const ask = (asked: Asked) => decide(client, { name, store }, asked);
      messages.push({ role: "tool", content: await Promise.all(waiting.map(ask)) });
    }
    const result = await generateText({ ...options, messages } as Parameters<typeof generateText>[0]);
    messages.push(...result.response.messages);
    await store.set(name, JSON.stringify(messages));
    if (!findWaiting(messages).length) return result;
  }
}

/** Returns the tool calls at the end of the conversation that nobody has decided about. */
function findWaiting(messages: ModelMessage[]): Asked[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || typeof last.content === "string") return [];
  const parts = last.content;
  return parts.flatMap((part) => {
    if (part.type !== "tool-approval-request") return [];
    const call = parts.find((it) => it.type === "tool-call" && it.toolCallId === part.toolCallId);
    return call?.type === "tool-call" ? [{ ...call, approvalId: part.approvalId }] : [];
  });
}

/**
 * Asks about one tool call, by the id of its approval: providers may use that of a call again. It is
 * refused if nobody answers in time. The approval is spent before the call runs, so that a process
 * that starts again between the two does not run it twice.
 */
async function decide(
  client: Client,
  { name, store }: { name: string; store: Store },
  { approvalId, toolName, input }: Asked,
): Promise<ToolApprovalResponse> {
  const answer = await client.ask(`**Call ${toolName}?**`, {
    responseType: "approval",
    responseConfig: { proposal: { name: toolName, arguments: input as Record<string, unknown> } },
    default: { action: "reject" },
    resume: { name: `${name} ${approvalId}`, store },
  });
  const respond = (approved: boolean, reason: string): ToolApprovalResponse =>
    ({ type: "tool-approval-response", approvalId, approved, ...(reason && { reason }) });
  const message = answer.decision?.message ?? "";
  if (answer.arguments === null) {
    return respond(false, message || (answer.byHuman ? "" : "Nobody answered in time."));
  }
  try {
    await client.requests.redeem(answer.request.id, answer.arguments, { name: toolName });
  } catch (error) {
    if (!(error instanceof AlreadyRedeemed)) throw error;
    return respond(false, "This call was approved once, and an earlier run may have made it.");
  }
  return respond(true, message);
}
