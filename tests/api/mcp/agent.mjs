// An agent with the official TypeScript client of the revisions before 2026-07-28.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { SITE, KEY, LOOP, NAME } = process.env;
const say = (what) => console.log(JSON.stringify(what));
const transport = new StreamableHTTPClientTransport(new URL(`${SITE}/mcp`), {
  requestInit: { headers: { Authorization: `Bearer ${KEY}` } },
});
const client = new Client({ name: "agent", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
say({ version: transport.protocolVersion, tools: tools.map((tool) => tool.name) });
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
