// Uses the types made by openapi-typescript with openapi-fetch, as a program would, and prints what
// it did as JSON.

import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

type NewRequest = components["schemas"]["NewRequest"];
declare const process: { env: Record<string, string | undefined> };

const client = createClient<paths>({
  baseUrl: process.env.SITE!,
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

/** The data of a success; throws the sentence of a failure. */
function taken<Data>(result: { data?: { data: Data }; error?: { msg: string } }): Data {
  if (result.data === undefined) throw new Error(result.error?.msg);
  return result.data.data;
}

check(taken(await client.GET("/v1/test")).rate_limit.limit > 0, "limit");
const created = taken(
  await client.POST("/v1/api/loops", { body: { name: "Generated", icon: "chat" } }),
);
const loop_id = created.loop.id;
const inLoop = { params: { path: { loop_id } } };
const loop = taken(await client.GET("/v1/api/loops/{loop_id}", inLoop)).loop;
check(loop.join_url === created.join_url, "join_url");
const members = taken(await client.GET("/v1/api/loops/{loop_id}/members", inLoop));
check(members.total_count === 1, "total_count");

const common = { priority: "high", platform: "api", request_text: "Shall we?" } as const;
const now = { processing_type: "time-sensitive", timeout_seconds: 600, type: "markdown" } as const;
const newRequests: NewRequest[] = [
  {
    ...common, ...now, response_type: "text", response_config: {}, default_response: "",
    context: { order: 7 },
  },
  {
    ...common, ...now, response_type: "single_select",
    response_config: { options: ["yes", { value: "no", label: "No" }] }, default_response: "no",
  },
  {
    ...common, processing_type: "deferred", type: "markdown", response_type: "multi_select",
    response_config: { options: ["a", "b"], max_selections: 1 }, default_response: ["a"],
  },
  {
    ...common, ...now, type: "image", image_url: "https://example.com/a.png",
    response_type: "rating", response_config: { scale_max: 5 }, default_response: 3,
  },
  {
    ...common, ...now, response_type: "number", response_config: { max_value: 80 },
    default_response: 1.5,
  },
  {
    ...common, ...now, response_type: "form", default_response: { sure: false },
    response_config: { schema: { type: "object", properties: { sure: { type: "boolean" } } } },
  },
  {
    ...common, ...now, response_type: "approval", default_response: { action: "reject" },
    response_config: { proposal: { name: "refund", arguments: { order: 7 }, risk: "high" } },
  },
];
const ids: Record<string, string> = {};
for (const body of newRequests) {
  const made = taken(await client.POST("/v1/api/loops/{loop_id}/requests", { ...inLoop, body }));
  ids[body.response_type] = made.request_id;
}

const listed = new Set<string>();
let offset: number | null = 0;
while (offset !== null) {
  const page: { requests: { id: string }[]; pagination: { next_offset: number | null } } = taken(
    await client.GET("/v1/api/loops/{loop_id}/requests", {
      params: { path: { loop_id }, query: { limit: 3, offset } },
    }),
  );
  page.requests.forEach((request) => listed.add(request.id));
  offset = page.pagination.next_offset;
}
check(listed.size === 7, "pages");

async function read(request_id: string) {
  const params = { path: { request_id } };
  return taken(await client.GET("/v1/api/requests/{request_id}", { params })).request;
}

for (const body of newRequests) {
  const seen = await read(ids[body.response_type]!);
  check(seen.response_type === body.response_type, "response_type");
  const [sent, echoed] = [body.response_config, seen.response_config].map((x) => JSON.stringify(x));
  check(sent === echoed, "response_config");
}

const wrong: NewRequest = {
  ...common, ...now, response_type: "single_select", response_config: { options: ["yes"] },
  default_response: "perhaps",
};
const refused = await client.POST("/v1/api/loops/{loop_id}/requests", { ...inLoop, body: wrong });
check(refused.response.status === 400, "status");
check(refused.error?.msg === "Invalid default response", "msg");

const cancelled = taken(
  await client.DELETE("/v1/api/requests/{request_id}", {
    params: { path: { request_id: ids.number! } },
  }),
);
check(cancelled.status === "cancelled", "cancelled");

let answered = await read(ids.single_select!);
while (answered.status === "pending" || answered.status === "claimed") {
  await new Promise<void>((done) => setTimeout(done, 100));
  answered = await read(answered.id);
}
const given = taken(
  await client.POST("/v1/api/requests/{request_id}/feedback", {
    params: { path: { request_id: answered.id } },
    body: { feedback: { rating: 5, comment: "Quick." } },
  }),
);
console.log(
  JSON.stringify({
    ids,
    answer: answered.response_data,
    answered_by: answered.answered_by,
    feedback: given.feedback,
  }),
);
