// Servers by a name of DNS. What all clients do with one is in ../../conformance/names.json.

import assert from "node:assert/strict";
import {createServer} from "node:http";
import {AddressInfo} from "node:net";
import {test} from "node:test";

import {Client, SeenDBError} from "../src/index.js";
import {Named, Resolver} from "../src/names.js";

const NAME = "srv+http://_seendb._tcp.liar.test";

async function asked(records: unknown, url = NAME): Promise<Named> {
  const name = new Named(url, undefined, (async () => records) as Resolver);
  await name.refresh(true);
  return name;
}

test("a resolver in place of a name server", async () => {
  const server = createServer((_, answer) => answer.setHeader("Content-Type", "application/json").end('{"unseen":["v"],"seen":0,"examined":1,"degraded":false}'));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const told: string[] = [], {port} = server.address() as AddressInfo;
  const c = new Client(NAME, {timeout: 10_000, resolver: async (name) => (told.push(name), [{name: "127.0.0.1.", port, priority: 0, weight: 1}])});
  for (let i = 0; i < 3; ++i) assert.deepEqual((await c.filter("u", ["v"])).unseen, ["v"]);
  assert.deepEqual(told, ["_seendb._tcp.liar.test"]);
  c.close();
  server.close();
});

test("an answer that is old is asked for again, and the former one goes on where that fails", async () => {
  const answers = [[{name: "h", port: 7, priority: 0, weight: 0}], [], [{name: "i", port: 7, priority: 0, weight: 0}]];
  const name = new Named(NAME, undefined, async () => answers.shift()!);
  for (const url of ["http://h:7", "http://h:7", "http://i:7"]) {
    await name.refresh(false);
    assert.deepEqual([name.ranked().map((one) => one.url), name.refresh(true)], [[url], null]);
    name.asked -= 30_000;
  }
});

test("a resolver that fails or is slow", async () => {
  const never = new Promise<never>(() => undefined);
  for (const [resolver, why] of [[() => Promise.reject(new Error("it is down")), "it is down"], [() => never, "no name server has answered yet"]] as const) {
    const calls: number[][] = [];
    const c = new Client(NAME, {timeout: 300, resolver, onCall: (_, __, status, tries) => calls.push([status, tries])});
    await assert.rejects(c.filter("u", ["v"]), (error) => error instanceof SeenDBError && error.code === "unavailable" && error.message === NAME + ": " + why);
    assert.deepEqual(calls, [[0, 0]]);
    c.close();
  }
});

test("targets are chosen by priority and weight", async () => {
  const one = (name: string, priority: number, weight: number) => ({name, port: 7, priority, weight});
  const name = await asked([one("last", 20, 1), one("seldom", 10, 1), one("often", 10, 9), one("hardly", 10, 0)]);
  let often = 0;
  for (let i = 0; i < 2_000; ++i) {
    const order = name.ranked();
    often += Number(order[0]!.url === "http://often:7");
    assert.deepEqual([order.length, order[3]!.url, order[3]!.rank], [4, "http://last:7", 1]);
  }
  assert.ok(often > 1_600 && often < 1_950, String(often));
});

test("records of a name", async () => {
  const many = Array.from({length: 200}, (_, i) => ({name: "h" + ((199 - i) >> 1) + ".", port: 7, priority: (199 - i) >> 1, weight: 0}));
  const name = await asked(many, "srv+https://x.test./");
  assert.deepEqual(name.ranked().map((one) => [one.url, one.rank]), Array.from({length: 64}, (_, i) => ["https://h" + i + ":7", i]));
  const end = {name: ".", port: 7, priority: 0, weight: 0};
  for (const wrong of [[], [{...end, name: "h", port: 0}], [{...end, name: "h/x"}], [end, end], 7, [{}]]) {
    const none = await asked(wrong);
    assert.deepEqual(none.ranked(), []);
    assert.notEqual(none.why, "the service is not there");
  }
  assert.equal((await asked([{...end, name: ""}])).why, "the service is not there"); // as Node tells the root
  for (const wrong of ["srv+http://", "srv+ftp://h", "srv+unix:/s", "srv+http://h:80", "srv+http://h/x", "srv+http://[::1]"]) assert.throws(() => new Client(wrong), TypeError);
});
