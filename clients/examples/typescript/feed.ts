// Serves pages without repeats from a generated catalogue:
//
//   GET /feed?user=U            {"items": [...]}: the next page, best first
//   POST /watched?user=U&item=I

import {createServer} from "node:http";
import type {AddressInfo} from "node:net";

import {Client, SeenDBError} from "seendb";

const CATALOGUE_SIZE = 5_000, PAGE_SIZE = 20;
const PAGE_MS = 200; // for the whole page; a feed that answers late is of no use

const c = new Client(process.env.SEENDB_URL ?? "http://127.0.0.1:7373", {
  timeout: PAGE_MS,
  connections: 16, // of this process to each server
  onCall: (name, ms, status, tries) => { // a metric, in a real service
    if (status !== 200 || tries > 1) console.error(`${name}: ${status} after ${tries} tries, ${ms.toFixed(0)} ms`);
  },
});

/** Stands for a recommender: the same for a user each time, best first. */
function* candidates(user: string): Generator<string> {
  let at = 0;
  for (const letter of user) at = (at * 31 + letter.codePointAt(0)!) % CATALOGUE_SIZE;
  for (let i = 0; i < CATALOGUE_SIZE; ++i) {
    yield "video-" + String(at).padStart(4, "0");
    at = (at + 1_009) % CATALOGUE_SIZE; // 1,009 and the size have no divisor in common: each video once
  }
}

async function answer(method: string, url: URL): Promise<unknown> {
  const user = url.searchParams.get("user") ?? "", item = url.searchParams.get("item") ?? "";
  if (method === "POST" && url.pathname === "/watched") {
    await c.recordPlays([{user, item}]);
    return {};
  }
  // lastKnown: where SeenDB does not answer in time, a page all the same, without what was served just before.
  if (url.pathname === "/feed") return {items: await c.fillPage(user, candidates(user), PAGE_SIZE, {whenDegraded: "lastKnown"})};
  return undefined;
}

const server = createServer((request, response) => {
  answer(request.method ?? "GET", new URL(request.url ?? "/", "http://feed")).then(
    (told) => [told === undefined ? 404 : 200, told ?? {}] as const,
    // "invalid_argument" is the browser's own fault.
    (error: unknown) => [error instanceof SeenDBError && error.code === "invalid_argument" ? 400 : 503, {error: String(error)}] as const,
  ).then(([status, told]) => response.writeHead(status, {"Content-Type": "application/json"}).end(JSON.stringify(told)));
});
server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  console.log("listening on http://127.0.0.1:" + (server.address() as AddressInfo).port);
});
