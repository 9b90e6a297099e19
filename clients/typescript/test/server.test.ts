// Against the server that SEENDB_URL names, which has the role admin for everybody.

import assert from "node:assert/strict";
import {randomUUID} from "node:crypto";
import {after, test} from "node:test";

import {Client, Entry, Id, Refused, SeenDBError} from "../src/index.js";

const url = process.env.SEENDB_URL;
const skip = url === undefined ? "SEENDB_URL names no server" : false;
const c = new Client(url ?? "http://127.0.0.1:7373", {timeout: 30_000});
after(() => c.close());
const someone = () => "ts-" + randomUUID();

test("what was played is seen", {skip}, async () => {
  const user = someone();
  const ids: Id[] = [2n ** 53n + 1n, 2n ** 64n - 1n, "007", "caf\u00e9", "cafe\u0301", "a+b", "a b", "a/b", "\u{1f600}", "x".repeat(255)];
  const recorded = await c.recordPlays([...ids.slice(0, 5).map((item) => ({user, item})), {user, item: "late", at: new Date(Date.now() - 5_000), device: "tv"}]);
  assert.deepEqual(recorded, {accepted: 6, refused: 0, refusals: [], pending: false});
  const found = await c.filter(user, ids);
  assert.deepEqual(found.unseen, ids.slice(5));
  assert.deepEqual([found.seen, found.examined, found.degraded], [5, 10, false]);
  for (const odd of ids) {
    await c.recordPlays([{user: odd, item: "v"}]);
    assert.equal((await c.inspect(odd)).user, String(odd));
    assert.equal(await c.erase(odd), true);
  }
});

test("bigints go in binary and say the same", {skip}, async () => {
  const user = someone();
  const numbers = Array.from({length: 100}, (_, i) => BigInt(i));
  await c.recordPlays(numbers.filter((n) => n % 3n === 0n).map((item) => ({user, item})));
  const unseen = numbers.filter((n) => n % 3n !== 0n);
  assert.deepEqual((await c.filter(user, numbers)).unseen, unseen);
  assert.deepEqual((await c.filter(user, [...numbers, "text"])).unseen, [...unseen, "text"]);
  const limited = await c.filter(user, numbers, {limit: 3, exclude: [1n, 2n], record: true});
  assert.deepEqual([limited.unseen, limited.excluded, limited.recorded], [[4n, 5n, 7n], 2, true]);
  assert.deepEqual((await c.filter(user, ["4", "8"], {explain: true})).reasons, {4: "impression"});
  assert.deepEqual((await c.filter(user, [])).unseen, []);
});

test("errors name the field", {skip}, async () => {
  const user = someone();
  for (const [promise, code, field] of [
    [() => c.filter(user, ["v"], {collection: "nowhere"}), "not_found", "/collection"],
    [() => c.filter(user, [1n], {collection: "nowhere"}), "not_found", "/collection"],
    [() => c.recordPlays([{user, item: "v", at: 5}]), "invalid_argument", "/events/0/at"],
    [() => c.putCollection("odd", {fpr: 2}), "invalid_argument", "/fpr"],
    [() => c.call("GET", "/nowhere"), "not_found", ""],
  ] as [() => Promise<unknown>, string, string][]) {
    await assert.rejects(promise(), (error) => error instanceof SeenDBError && error.code === code && error.field === field && String(error).includes(error.message));
  }
  await assert.rejects(c.recordPlays([{user, item: "v", at: 5}]), (error) => error instanceof Refused && error.recorded.refused === 1);
});

test("pages", {skip}, async () => {
  const user = someone();
  const candidates = Array.from({length: 50}, (_, i) => "p" + i);
  const all: string[] = [];
  for (let i = 0; i < 3; ++i) all.push(...await c.fillPage(user, candidates, 20));
  assert.deepEqual(all, candidates);
  const asked: number[] = [];
  const search = (count: number) => {
    asked.push(count);
    return [...candidates, "q1", "q2", "q3", "q4", "q5", "q6"].slice(0, count);
  };
  assert.deepEqual(await c.searchUnseen(search, user, 5), ["q1", "q2", "q3", "q4", "q5"]);
  assert.equal(asked[0], 10);
});

test("history", {skip}, async () => {
  const user = someone(), collection = "c" + Date.now();
  await c.putCollection(collection, {history: {enabled: true}});
  await c.recordPlays(Array.from({length: 25}, (_, i) => ({user, item: "h" + i, at: Date.now() - i * 1_000, progress_s: 5, fields: {n: i}})), {collection});
  const entries: Entry[] = [];
  for await (const entry of c.history(user, {collection, limit: 10})) entries.push(entry);
  assert.deepEqual(entries.map((one) => one.item), Array.from({length: 25}, (_, i) => "h" + i));
  assert.deepEqual([entries[3]!.progress_s, entries[3]!.fields], [5, {n: 3}]);
  await c.deleteHistory(user, ["h3"], {collection});
  await c.setRecording(user, false);
  assert.equal((await c.historyPage(user)).entries.length, 24);
  await c.clearHistory(user);
  assert.equal((await c.historyPage(user, {collection: "default"})).kept, false);
  await c.deleteCollection(collection);
});
