// The sample of the Vercel AI SDK, with its mock of a model: it refunds orders, and then says what
// came of it.

import * as mocks from "ai/test";

const Model = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3;

const orders = (process.env.ORDERS ?? "1042").split(" ");
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function describe({ output }) {
  if (output.type === "execution-denied") return `refused: ${output.reason || "no reason"}`;
  return output.value;
}

const model = new Model({
  doGenerate: async ({ prompt }) => {
    const parts = prompt.filter(({ role }) => role === "tool").flatMap(({ content }) => content);
    const results = parts.filter(({ type }) => type === "tool-result").map(describe);
    if (results.length) {
      const text = results.sort().join(" | ");
      const finishReason = { unified: "stop", raw: "stop" };
      return { content: [{ type: "text", text }], finishReason, usage, warnings: [] };
    }
    const content = orders.map((order) => ({
      type: "tool-call",
      toolCallId: `call_${order}`,
      toolName: "refund",
      input: JSON.stringify({ order }),
    }));
    const finishReason = { unified: "tool-calls", raw: "tool_calls" };
    return { content, finishReason, usage, warnings: [] };
  },
});

// The sample stands here.
