// Webhook endpoints of the account, which get the events of all its requests, or of some loops.

import { newKey } from "./client.js";
import type { Transport } from "./transport.js";
import type { SecretEndpoint, WebhookEndpoint, WebhookEndpointChanges, WebhookEndpointInput } from "./types.js";

const PATH = "/api/webhook-endpoints";

interface Shown {
  webhook_endpoint: WebhookEndpoint;
}

/** The key needs the permission loops:write. */
export class WebhookEndpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the endpoints, at most five. */
  async list(): Promise<WebhookEndpoint[]> {
    type Listed = { webhook_endpoints: WebhookEndpoint[] };
    return (await this.#transport.call<Listed>("GET", PATH)).data.webhook_endpoints;
  }

  /** Reads an endpoint, without its secret. */
  async get(endpointId: string): Promise<WebhookEndpoint> {
    return (await this.#transport.call<Shown>("GET", locate(endpointId))).data.webhook_endpoint;
  }

  /** Creates an endpoint; only this call returns its `secret`. */
  async create(body: WebhookEndpointInput, idempotencyKey: string = newKey()): Promise<SecretEndpoint> {
    return await this.#make(PATH, body, idempotencyKey);
  }

  async update(endpointId: string, body: WebhookEndpointChanges): Promise<WebhookEndpoint> {
    const call = await this.#transport.call<Shown>("PUT", locate(endpointId), { body });
    return call.data.webhook_endpoint;
  }

  /** Deletes an endpoint; nothing more is sent there. */
  async delete(endpointId: string): Promise<void> {
    await this.#transport.delete(locate(endpointId));
  }

  /**
   * Makes a new `secret`; the old one stays valid for 24 hours. Within these, only `force` rotates
   * again, and ends the older one.
   */
  async rotateSecret(
    endpointId: string,
    body: { force?: boolean } = {},
    idempotencyKey: string = newKey(),
  ): Promise<SecretEndpoint> {
    return await this.#make(`${locate(endpointId)}/rotate`, body, idempotencyKey);
  }

  async #make(path: string, body: unknown, idempotencyKey: string): Promise<SecretEndpoint> {
    const options = { body, idempotencyKey };
    const made = (await this.#transport.call<Shown & { secret: string }>("POST", path, options)).data;
    return { ...made.webhook_endpoint, secret: made.secret };
  }
}

function locate(endpointId: string): string {
  return `${PATH}/${encodeURIComponent(endpointId)}`;
}
