// Uses clients/typescript as a program would. The scenario is JSON in SCENARIO; prints JSON.

import { ApiError, Cancelled, Client, DefaultUsed, ReviewLoopError, webhooks } from "reviewloop";
import { FileStore } from "reviewloop/node";

const scenario = JSON.parse(process.env.SCENARIO ?? "{}");
const [url, key] = [process.env.URL!, process.env.KEY!];
const client = new Client({ url, key, patience: 30 });

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

async function ask() {
  const resume = scenario.resume && { name: scenario.resume, store: new FileStore(scenario.folder) };
  const answer = await client.ask(scenario.question, {
    default: "no",
    options: ["yes", "no"],
    ...(resume && { resume }),
    ...scenario.more,
  });
  return {
    value: answer.value,
    byHuman: answer.byHuman,
    comment: answer.comment,
    arguments: answer.arguments,
    id: answer.request.id,
  };
}

async function flow() {
  const made = await client.loops.create({ name: "Editors", icon: "chat" });
  check((await client.loops.get(made.id)).join_url === made.join_url, "join_url");
  check((await client.loops.update(made.id, { name: "Writers" })).name === "Writers", "name");
  check((await client.loops.find("Writers")).id === made.id, "find");
  check((await client.loops.members(made.id)).length === 1, "members");
  const common = {
    processing_type: "deferred", type: "markdown", priority: "low", platform: "api",
    response_type: "text", response_config: {}, default_response: "-",
  } as const;
  const ids: string[] = [];
  for (const request_text of ["One?", "Two?", "Three?"]) {
    const body = { ...common, request_text };
    const created = await client.requests.create(made.id, body, undefined, scenario.traces[0]);
    ids.push(created.request_id);
  }
  const listed: string[] = [];
  const all = client.requests.list({ loop_id: made.id, sort: "created_at_asc" }, 2);
  for await (const request of all) listed.push(request.id);
  check(listed.join() === ids.join(), "pages");
  for await (const request of client.requests.listOfLoop(made.id)) {
    check(ids.includes(request.id), "list of loop");
  }
  await client.requests.cancel(ids[0]!, scenario.traces[1]);
  check((await client.requests.wait(ids[1]!, 1)).status === "pending", "wait");
  const ended = await client.requests.wait(ids[2]!);
  const feedback = await client.requests.giveFeedback(ended.id, { rating: 5 });
  await tryEndpoints(made.id);
  await client.loops.delete(made.id);
  return { ids, answer: ended.response_data, feedback };
}

async function tryEndpoints(loopId: string) {
  const endpoints = client.webhookEndpoints;
  const made = await endpoints.create({ url: "https://router.example/hook", events: ["request.created"] });
  check(made.secret.startsWith("whsec_"), "secret");
  check(!("secret" in (await endpoints.get(made.id))), "shown once");
  const changed = await endpoints.update(made.id, { loop_ids: [loopId], enabled: false });
  check(changed.loop_ids.join() === loopId && !changed.enabled, "changed");
  const rotated = await endpoints.rotateSecret(made.id);
  const forced = await endpoints.rotateSecret(made.id, { force: true });
  check(new Set([made, rotated, forced].map((each) => each.secret)).size === 3, "rotated");
  check((await endpoints.list()).map((each) => each.id).join() === made.id, "listed");
  await endpoints.delete(made.id);
  check((await endpoints.list()).length === 0, "deleted");
}

async function listen() {
  const ending = new AbortController();
  const seen = new Set<string>();
  const options = { signal: ending.signal, ...(scenario.after && { after: scenario.after }) };
  for await (const event of client.events(options)) {
    if (event.name === "stream.reset") throw new Error(event.body.detail);
    check(event.body.event === event.name, "name");
    console.log(event.name, event.body.request_id, event.body.response_data);
    seen.add(event.id);
    if (seen.size === scenario.count) ending.abort();
  }
  return { events: seen.size };
}

/** Makes a call without sleeping, and tells how long it would have slept each time. */
async function repeat() {
  const pauses: number[] = [];
  const sleep = async (seconds: number) => void pauses.push(seconds);
  const hasty = new Client({ url, key, patience: scenario.patience, sleep });
  let status = 200;
  try {
    await (scenario.call === "wait" ? hasty.requests.wait(scenario.id, scenario.seconds ?? undefined) : hasty.check());
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    status = error.status;
  }
  return { status, pauses };
}

/** Waits, and tells for how many seconds each call would have waited for its response. */
async function limits() {
  const seen: number[] = [];
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (milliseconds) => {
    seen.push(milliseconds / 1000);
    return timeout.call(AbortSignal, milliseconds);
  };
  await client.requests.wait(scenario.id, 1);
  await client.check();
  return seen;
}

/** Checks the key, for so many seconds at most. */
async function checkKey() {
  await new Client({ url, key, patience: scenario.patience }).check();
  return { name: "" };
}

/** Calls that are wrong before they are sent. */
async function unsendable() {
  const body = { ...scenario, context: { count: 1n } };
  const failed: string[] = [];
  for (const call of [
    async () => client.requests.create(scenario.loop, body),
    async () => client.requests.cancel("0".repeat(24), "new\nline"),
    async () => new Client({ url, key: "rl_live_…" }).check(),
    async () => new Client({ url: "http://h:99999", key }).check(),
    async () => new Client({ url: "http://127.0.0.1:6667", key }).check(),
  ]) {
    await call().catch((error) => failed.push((error as Error).name));
  }
  return failed;
}

/** Goes through all pages, while a new request moves the others to the next one. */
async function pages() {
  const listed: string[] = [];
  for await (const request of client.requests.list({ sort: "created_at_desc" }, 2)) {
    listed.push(request.id);
    if (listed.length === 2) await client.requests.create(request.loop_id, scenario.body);
  }
  return listed;
}

/** Finds requests by their metadata, in both lists. */
async function findByMetadata() {
  const [metadata, found]: [Record<string, string>, string[]] = [scenario.metadata, []];
  for await (const { id } of client.requests.list({ metadata, status: "pending" })) {
    found.push(id, JSON.stringify((await client.requests.get(id)).metadata));
  }
  for await (const { id } of client.requests.listOfLoop(scenario.loop, { metadata })) found.push(id);
  return found;
}

/** Cancels every request that a list of pending ones yields. */
async function cancelAll() {
  const listed: string[] = [];
  for await (const request of client.requests.list({ status: "pending" }, 2)) {
    await client.requests.cancel(request.id);
    listed.push(request.id);
  }
  return listed;
}

/** What is done already is no failure if the answer to it was lost. */
async function lost() {
  await client.requests.cancel(scenario.id);
  await client.loops.delete(scenario.loop);
  const failed: string[] = [];
  for (const again of [
    () => client.requests.cancel(scenario.id),
    () => client.loops.delete(scenario.loop),
  ]) {
    await again().catch((error) => failed.push((error as Error).name));
  }
  return failed;
}

async function find() {
  const names: string[] = [];
  for (const name of scenario.names) {
    const found = await client.loops.find(name ?? undefined).catch((error) => error);
    names.push(found instanceof Error ? found.message : found.name);
  }
  return names;
}

// The shapes in which frameworks hand over a body. A view may begin in the middle of its buffer.
const shapes: Record<string, (text: string) => any> = {
  text: (text) => text,
  Buffer: (text) => Buffer.from(text),
  ArrayBuffer: (text) => new TextEncoder().encode(text).buffer,
  Uint8Array: (text) => new TextEncoder().encode(`#${text}#`).subarray(1, -1),
  DataView: (text) => {
    const bytes = new TextEncoder().encode(`#${text}#`);
    return new DataView(bytes.buffer, 1, bytes.length - 2);
  },
  Uint16Array: (text) => new Uint16Array(new TextEncoder().encode(text).buffer),
  parsed: (text) => JSON.parse(text),
  absent: () => undefined,
};

async function verify() {
  const results: (string | null)[] = [];
  for (const { body, headers, secret, now, shape = "text" } of scenario.events) {
    for (const check of [webhooks.verify, webhooks.verifyBody]) {
      try {
        const given = scenario.asHeaders ? new Headers(headers) : headers;
        results.push((await check(shapes[shape]!(body), given, secret, { now })).event);
      } catch (error) {
        results.push((error as Error).name);
      }
    }
  }
  return results;
}

const all = { ask, flow, checkKey, repeat, limits, unsendable, pages, findByMetadata, cancelAll, lost, find, listen, verify };
const scenarios: Record<string, () => Promise<unknown>> = all;
try {
  console.log(JSON.stringify(await scenarios[scenario.name]!()));
} catch (error) {
  if (!(error instanceof ReviewLoopError)) throw error;
  const { name, message } = error;
  const status = error instanceof ApiError ? error.status : null;
  const id = error instanceof Cancelled ? error.requestId : null;
  const by = error instanceof Cancelled ? error.supersededBy : null;
  const value = error instanceof DefaultUsed ? error.answer.value : null;
  console.log(JSON.stringify({ name, message, status, id, by, value }));
}
