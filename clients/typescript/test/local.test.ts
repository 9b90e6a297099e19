// LocalFilter on dumps that the engine made, and against the server that SEENDB_URL names.

import assert from "node:assert/strict";
import {randomUUID} from "node:crypto";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";

import {Answer} from "../src/caller.js";
import {Dump} from "../src/dump.js";
import {Candidate, Client, Double, Id, ItemHashKey, LocalFilter, LocalOptions, SeenDBError} from "../src/index.js";
import {ItemKey} from "../src/item_key.js";

interface Vector {
  name: string;
  key: ItemHashKey;
  etag: string;
  dump: string;
  candidates: {id: string; of?: string[]; at?: number}[];
  unseen: number[];
}

const folder = process.env.SEENDB_CONFORMANCE ?? new URL("../../../conformance", import.meta.url).pathname;
const vectors = JSON.parse(readFileSync(join(folder, "local", "vectors.json"), "utf8")) as Vector[];
const bodyOf = (vector: Vector) => Buffer.from(vector.dump, "hex");
const isFor = (code: string, field = "") => (error: unknown) => error instanceof SeenDBError && error.code === code && error.field === field;

/** Of a server that answers every question by one body. */
async function localOf(vector: Vector, options: LocalOptions = {}, body: Buffer | Error = bodyOf(vector)): Promise<LocalFilter> {
  const ask = async (): Promise<Answer> => {
    if (body instanceof Error) throw body;
    return {status: 200, headers: {}, body};
  };
  const local = new LocalFilter({ask}, "u", new ItemKey(vector.key), {refresh: null, ...options});
  await local.refresh();
  return local;
}

test("dumps of the engine", async () => {
  assert.equal(vectors.length, 4);
  for (const vector of vectors) {
    const {candidates, unseen} = vector;
    const found = (await localOf(vector)).filter(candidates);
    assert.deepEqual(found.unseen, unseen.map((at) => candidates[at]!.id), vector.name);
    assert.deepEqual([found.examined, found.duplicates, found.seen], [candidates.length, 1, candidates.length - unseen.length - 1]);
    assert.equal(new Dump(bodyOf(vector)).etag, vector.etag);
  }
});

test("a dump that is cut, longer or of another key is refused", async () => {
  for (const vector of vectors) {
    const whole = bodyOf(vector);
    for (let cut = 0; cut < Math.min(2_000, whole.length); ++cut) assert.throws(() => new Dump(whole.subarray(0, cut)), isFor("protocol"));
    assert.throws(() => new Dump(Buffer.concat([whole, Buffer.from("x")])), isFor("protocol"));
  }
  await assert.rejects(localOf(vectors[1]!, {}, bodyOf(vectors[3]!)), isFor("incompatible"));
  for (const key of [{version: 3, id: "1", secret: ""}, {version: 2, id: "1", secret: "00"}, {version: 1, id: "x", secret: ""}, {}]) {
    assert.throws(() => new ItemKey(key as ItemHashKey), isFor("invalid_argument"));
  }
});

test("a dump with a changed byte is read or refused", () => {
  const whole = bodyOf(vectors[1]!);
  for (let at = 0; at < whole.length; ++at) {
    for (const value of [0, 1, 0x7F, 0xFF]) {
      const other = Buffer.from(whole);
      other[at] = value;
      try {
        new Dump(other).seen(at);
      } catch (error) {
        assert.ok(isFor("protocol")(error), String(error));
      }
    }
  }
});

test("hashes of texts and numbers", () => {
  const key = new ItemKey(vectors[0]!.key), without = new ItemKey(vectors[3]!.key);
  for (const number of [0n, 1n, 255n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]) assert.equal(key.of(String(number)), key.of(number));
  for (const text of ["07", "+7", "18446744073709551616", "-7", " 7"]) assert.notEqual(key.of(text), key.of(7n));
  assert.notEqual(key.of("7"), without.of("7"));
  assert.equal(new Set(Array.from({length: 255}, (_, i) => key.of("x".repeat(i + 1)))).size, 255);
  assert.notEqual(key.of("caf\u00e9"), key.of("cafe\u0301"));
  assert.equal(key.of("7"), key.of(7n)); // the key of this call, not of the one before
});

test("what the caller noted", async () => {
  const local = await localOf(vectors[0]!, {keep: 500});
  local.noteServed(["s", 5n]);
  local.notePlayed(["p"]);
  assert.deepEqual(local.filter(["s", "5", "p", "q"]).unseen, ["q"]);
  await local.refresh();
  assert.deepEqual(local.filter([5n]).unseen, []);
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.deepEqual(local.filter(["s", 5n]).unseen, ["s", 5n]);
  assert.throws(() => local.noteServed(["a", ""]), isFor("invalid_argument", "/items/1"));
});

test("what is for the server is refused", async () => {
  const local = await localOf(vectors[0]!);
  const limited = local.filter(["a", "b", "c"], {limit: 2});
  assert.deepEqual([limited.unseen, limited.examined], [["a", "b"], 2]);
  assert.throws(() => local.filter(["a"], {record: true} as {limit?: number}), isFor("invalid_argument", "/record"));
  assert.throws(() => local.filter(["a", {id: "b", same_as: ["src:1"]}]), isFor("invalid_argument", "/items/1/same_as"));
  assert.throws(() => local.filter(["a", ""]), isFor("invalid_argument", "/items/1"));
});

test("without a server the former dump stays", async () => {
  const vector = vectors[1]!;
  let away: Error | null = null, asked = 0;
  const ask = async (): Promise<Answer> => {
    ++asked;
    if (away !== null) throw away;
    return {status: 200, headers: {}, body: bodyOf(vector)};
  };
  const local = new LocalFilter({ask}, "u", new ItemKey(vector.key), {refresh: 0});
  assert.throws(() => local.filter(["v2"]), isFor("unavailable"));
  await local.refresh();
  away = new SeenDBError("unavailable", "it is away");
  await assert.rejects(local.refresh(), isFor("unavailable"));
  assert.equal(local.error, away);
  assert.deepEqual(local.filter(["v2", "new"]).unseen, ["new"]);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(asked >= 2 && local.age >= 0);
});

test("a double has none", async () => {
  await assert.rejects(new Double().localFilter("u"), isFor("not_found"));
});

// ---- Against a server ----

const url = process.env.SEENDB_URL;
const skip = url === undefined ? "SEENDB_URL names no server" : false;

function connected(t: {after(done: () => void): void}): Client {
  const client = new Client(url, {timeout: 30_000});
  t.after(() => client.close());
  return client;
}

/** The same numbers each time. */
function chosen(): (below: number) => number {
  let state = 7;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

async function compare(client: Client, local: LocalFilter, user: string, items: (Id | Candidate)[], collection?: string): Promise<void> {
  const there = await client.filter(user, items, {collection});
  await local.refresh();
  const here = local.filter(items);
  assert.deepEqual(here.unseen, there.unseen);
  assert.deepEqual([here.seen, here.examined, here.duplicates, here.undated, here.degraded, here.unseenShare],
    [there.seen, there.examined, there.duplicates, there.undated ?? 0, there.degraded, there.unseenShare]);
}

test("answers as the server", {skip}, async (t) => {
  const client = connected(t), below = chosen();
  const some = (count: number) => Array.from({length: count}, (): Id => {
    const number = below(20_000);
    return [BigInt(number), "v" + number, 2n ** 63n + BigInt(number)][below(3)]!;
  });
  for (const policy of [{}, {representation: "exact"}, {max_filter_bytes: 4096}]) {
    const user = "ts-" + randomUUID(), collection = "c" + randomUUID().slice(0, 12);
    await client.putCollection(collection, {...policy, exposed_is_seen: true, history: {enabled: true, deleted_items: "recommend_again"}});
    const local = await client.localFilter(user, {collection, refresh: null});
    for (let round = 0; round < 2; ++round) {
      await client.recordPlays(some(6_000).map((item) => ({user, item})), {collection});
      await compare(client, local, user, some(3_000), collection);
      await client.call("POST", "/admin/drain", {});
      await compare(client, local, user, some(3_000), collection);
      await client.recordImpressions(user, some(50), {collection});
      await client.recordExposures(some(50).map((item) => ({user, item})), {collection});
      await client.deleteHistory(user, some(100), {collection});
    }
    await compare(client, local, user, some(9_000), collection);
    await client.call("POST", "/admin/seal", {collection, bucket: new Date().toISOString().slice(0, 7)});
    await compare(client, local, user, some(9_000), collection);
    await client.deleteCollection(collection);
  }
});

test("marks", {skip}, async (t) => {
  const client = connected(t), user = "ts-" + randomUUID(), local = await client.localFilter(user);
  await client.mark(user, "channel:1", "always");
  await client.mark(user, "channel:2", 1_000);
  const items = [
    {id: "a", of: ["other", "channel:1"]}, {id: "b", of: ["channel:1"], at: 5}, {id: "c", of: ["channel:2"]}, {id: "d", of: ["channel:2"], at: 1_000},
    {id: "e", of: ["channel:2"], at: new Date(1_001)}, "f", "a",
  ];
  await compare(client, local, user, items);
  assert.deepEqual(local.filter(items).unseen, ["c", "e", "f"]);
});

test("refreshes behind its answers", {skip}, async (t) => {
  const client = connected(t), user = "ts-" + randomUUID(), local = await client.localFilter(user, {refresh: 1});
  await client.recordPlays([{user, item: "v1"}]);
  for (const end = Date.now() + 20_000; local.filter(["v1"]).unseen.length > 0 && Date.now() < end;) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(local.filter(["v1"]).unseen, []);
  assert.equal(local.error, null);
  assert.ok(local.age < 20_000 && !local.degraded);
});
