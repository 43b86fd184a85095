// An agent with an official TypeScript client. Environment: SITE, KEY, LOOP, NAME, and MODE: `sdk` is
// the package of the revisions before 2026-07-28, `legacy` and `auto` are modes of its successor.
const { SITE, KEY, LOOP, NAME, MODE } = process.env;
const { Client, StreamableHTTPClientTransport } =
  MODE === "sdk"
    ? {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
      }
    : await import("@modelcontextprotocol/client");
const say = (what) => console.log(JSON.stringify(what));
const transport = new StreamableHTTPClientTransport(new URL(`${SITE}/mcp`), {
  requestInit: { headers: { Authorization: `Bearer ${KEY}` } },
});
const client = new Client(
  { name: "agent", version: "1" },
  { versionNegotiation: { mode: MODE } }, // the older package has no such option
);
await client.connect(transport);
const { tools } = await client.listTools();
const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
say({ version, tools: tools.map((tool) => tool.name) });
const answer = await client.callTool({
  name: "ask_human",
  arguments: {
    loop_id: LOOP,
    request_text: "Deploy **version 7** now?",
    response_type: "single_select",
    response_config: { options: ["yes", "no"] },
    default_response: "no",
    timeout_seconds: 3600,
    idempotency_key: NAME,
  },
});
say({ answer: answer.structuredContent, error: answer.isError ?? false });
const refused = await client.callTool({ name: "get_loop", arguments: { loop_id: "x" } });
say({ refused: refused.content[0].text, error: refused.isError });
await client.close();
