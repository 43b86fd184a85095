// A store in files, for Node.

import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Store } from "./store.js";

/** Keeps each question in a file of a folder, which only its owner can read. */
export class FileStore implements Store {
  constructor(readonly folder: string) {}

  async get(name: string): Promise<string | null> {
    try {
      return await readFile(this.#path(name), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  async set(name: string, text: string): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const draft = join(this.folder, `.${randomUUID()}`);
    await writeDurably(draft, text);
    await rename(draft, this.#path(name));
    await sync(this.folder);
  }

  async delete(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  #path(name: string): string {
    return join(this.folder, `${createHash("sha256").update(name).digest("hex").slice(0, 40)}.json`);
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text, "utf8");
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Flushes the folder, so that the name of a new file is on the disk. */
async function sync(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const file = await open(folder, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
