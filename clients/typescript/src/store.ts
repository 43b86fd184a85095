// Where questions are kept, so that a program that starts again finds them.

import type { NewRequest, Request } from "./types.js";

/** A question that is about to be asked (`requestId` is null), is asked, or has ended. */
export interface Entry {
  loop: string | null;
  loopId: string;
  body: NewRequest;
  idempotencyKey: string;
  begunAt: number; // Unix milliseconds, before the create was first sent
  requestId: string | null;
  request: Request | null;
}

/**
 * Keeps text under a name. `set` has to be durable when its promise resolves: a row of your
 * database, an object in a bucket, a file (`FileStore` of `reviewloop/node`).
 */
export interface Store {
  get(name: string): Promise<string | null>;
  set(name: string, text: string): Promise<void>;
  delete(name: string): Promise<void>;
}

/** Keeps questions as long as the process lives. */
export class MemoryStore implements Store {
  readonly #entries = new Map<string, string>();

  async get(name: string): Promise<string | null> {
    return this.#entries.get(name) ?? null;
  }

  async set(name: string, text: string): Promise<void> {
    this.#entries.set(name, text);
  }

  async delete(name: string): Promise<void> {
    this.#entries.delete(name);
  }
}
