// Reads the event stream of the account, and resumes it after a broken connection.

import { ConnectionFailed, RateLimited, ReviewLoopError } from "./errors.js";
import { choosePause, describe, mayPass, type Transport } from "./transport.js";
import type { Event } from "./types.js";

const PATH = "/api/events";
const READ_SECONDS = 40; // the service says something every 12 seconds
const MAX_KNOWN = 10_000; // ids of events, which may come again after a broken connection
const RESET = "stream.reset";
const CLOSED = "stream.closed";

export interface EventOptions {
  /** The id of an event to begin behind, at most three days old. */
  after?: string;
  /** Ends the stream. */
  signal?: AbortSignal;
}

/** An event. `id` is the `webhook-id`, and `body` that of a webhook. */
export type StreamEvent =
  | { id: string; name: Event["event"]; body: Event }
  /** Events may be missing before the next one: read your requests. */
  | { id: null; name: "stream.reset"; body: { event: "stream.reset"; detail: string } };

/** A block of the stream; an id without data is a position for resuming. */
interface Block {
  id?: string;
  event?: string;
  data: string[];
}

export async function* follow(
  transport: Transport,
  options: EventOptions,
): AsyncGenerator<StreamEvent> {
  const known = new Set<string>();
  let lastId = options.after ?? "";
  let left = transport.patience;
  for (let repeats = 0; !options.signal?.aborted; repeats++) {
    const begun = performance.now();
    let failure: ReviewLoopError = new ConnectionFailed(`${transport.url}: the stream has ended`);
    try {
      for await (const block of readStream(transport, lastId, options.signal)) {
        [left, repeats] = [transport.patience, 0];
        if (block.id !== undefined) lastId = block.id;
        const event = readEvent(block, lastId);
        if (event && !(event.id && isKnown(known, event.id))) yield event;
      }
    } catch (error) {
      if (options.signal?.aborted) return;
      if (!(error instanceof ReviewLoopError && mayPass(error))) throw error;
      failure = error;
    }
    if (options.signal?.aborted) return;
    const pause = choosePause(failure, repeats);
    const isFree = failure instanceof RateLimited;
    if (repeats) left -= (performance.now() - begun) / 1000;
    left -= isFree ? 0 : pause;
    if (left < 0) throw failure;
    await transport.sleep(pause);
  }
}

function readEvent(block: Block, id: string): StreamEvent | null {
  if (!block.data.length || block.event === CLOSED) return null;
  const body = JSON.parse(block.data.join("\n"));
  return block.event === RESET
    ? { id: null, name: RESET, body }
    : { id, name: block.event as Event["event"], body };
}

/** Tells whether the event was received before, and remembers it. */
function isKnown(known: Set<string>, id: string): boolean {
  if (known.has(id)) return true;
  known.add(id);
  if (known.size > MAX_KNOWN) known.delete(known.values().next().value!);
  return false;
}

/** Reads one connection until it ends or is silent for too long. */
async function* readStream(
  transport: Transport,
  lastId: string,
  outer: AbortSignal | undefined,
): AsyncGenerator<Block> {
  const inner = new AbortController();
  const stop = () => inner.abort();
  outer?.addEventListener("abort", stop);
  let timer = setTimeout(stop, READ_SECONDS * 1000);
  try {
    const response = await transport.open(PATH, lastId, inner.signal);
    const decoder = new TextDecoder();
    const reader = response.body!.getReader();
    let rest = "";
    let block: Block = { data: [] };
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(stop, READ_SECONDS * 1000);
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (line) {
          readLine(line, block);
        } else {
          yield block;
          block = { data: [] };
        }
      }
    }
  } catch (error) {
    if (error instanceof ReviewLoopError) throw error;
    throw new ConnectionFailed(`${transport.url}: ${describe(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", stop);
    inner.abort(); // closes the connection where the loop was left
  }
}

function readLine(line: string, block: Block): void {
  const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line)!;
  if (name === "data") block.data.push(value!);
  else if (name === "id") block.id = value!;
  else if (name === "event") block.event = value!;
}
