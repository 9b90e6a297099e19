// The scenarios of clients/conformance: those of a server against the one that SEENDB_URL names, the others against liar.py.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {randomUUID} from "node:crypto";
import {mkdtempSync, readFileSync, readdirSync, utimesSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {test} from "node:test";
import {isDeepStrictEqual} from "node:util";

import {Candidate, Client, Double, Entry, Id, Mark, Recorded, SeenDBError, WhenDegraded} from "../src/index.js";
import {exactJson, parseExact} from "../src/json.js";

const FOLDER = process.env.SEENDB_CONFORMANCE ?? join("..", "conformance");
const url = process.env.SEENDB_URL;
const skip = url === undefined ? "SEENDB_URL names no server" : false;
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

const scenarios = (lying: boolean, files = readdirSync(FOLDER)): Json[] => files.filter((name) => name.endsWith(".json") && name !== "answers.json").sort()
  .flatMap((name) => (JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as Json[]).filter((row) => "servers" in row === lying));

const given = (one: Json): Id => (typeof one === "string" ? one : BigInt(one.u64));
const candidate = (one: Json): Id | Candidate => (one.id === undefined ? given(one) : {...one, id: given(one.id)});
/** A value of an item, as scenarios write it. */
const exact = (one: Json): Json => (Array.isArray(one) ? one.map(exact) : one?.i64 !== undefined ? BigInt(one.i64) : typeof one === "object" ? each(one, exact) : one);
/** The reverse. */
const spelled = (one: Json): Json => (Array.isArray(one) ? one.map(spelled) : typeof one === "bigint" ? {i64: String(one)} : typeof one === "object" ? each(one, spelled) : one);
const each = (of: Json, to: (one: Json) => Json): Json => Object.fromEntries(Object.entries(of).map(([name, one]) => [name, to(one)]));
const told = (ids: readonly Id[]) => ids.map((one) => (typeof one === "bigint" ? {u64: String(one)} : one));
const recorded = ({accepted, refused, pending, refusals}: Recorded) => ({accepted, refused, pending, refusals: refusals.map((one) => [one.index, one.code, one.field])});
const WHEN: Record<string, WhenDegraded> = {fail_open: "failOpen", fail_closed: "failClosed", last_known: "lastKnown"};
const DONE = {done: true};

function callsOf(c: Client, now: number): Record<string, (a: Json) => Promise<unknown>> {
  const entries = (list: Iterable<Entry>) => [...list].map((one) => ({
    collection: one.collection, item: String(one.item), ago_ms: now - one.at, progress_s: one.progress_s ?? 0, duration_s: one.duration_s ?? 0,
    device: one.device ?? "", fields: one.fields ?? null,
  }));
  const user = (a: Json) => given(a.user);
  const items = (a: Json): Id[] => a.items.map(given);
  const common = (a: Json) => (a.collection === undefined ? {} : {collection: a.collection});
  const rules = (a: Json) => ({
    ...common(a), exclude: a.exclude?.map(given), excludeSets: a.exclude_sets, collections: a.collections, not: a.not, caps: a.caps, where: a.where && exact(a.where), atMost: a.at_most, unknown: a.unknown,
  });
  const events = (list: Json[]) => list.map(({ago_ms, ...one}) => ({...one, user: given(one.user), item: given(one.item), ...(ago_ms === undefined ? {} : {at: now - ago_ms})}));
  return {
    record_plays: async (a) => recorded(await c.recordPlays(events(a.plays), common(a))),
    record_exposures: async (a) => recorded(await c.recordExposures(events(a.exposures), common(a))),
    mark: async (a) => (await c.mark(user(a), a.group, a.until), DONE),
    unmark: async (a) => ({deleted: await c.unmark(user(a), a.group)}),
    marks: async (a) => {
      const page = await c.marks(user(a), {limit: a.limit});
      const pairs = (marks: readonly Mark[]) => marks.map((one) => [one.group, one.until]);
      const next = page.cursor === undefined ? {} : {next: pairs((await c.marks(user(a), {limit: a.limit, cursor: page.cursor})).marks)};
      return {marks: pairs(page.marks), more: page.cursor !== undefined, degraded: page.degraded, ...next};
    },
    put_item_schema: async (a) => (await c.putItemSchema(a.fields), DONE),
    put_items: async (a) => {
      const taken = await c.putItems(a.updates.map((one: Json) => ({...one, id: given(one.id), ...(one.set ? {set: each(one.set, exact)} : {})})));
      return {...recorded(taken), stale: taken.stale};
    },
    get_items: async (a) => ({
      items: (await c.getItems(a.ids.map(given), {fields: a.fields})).map((one) => ({...one, id: told([one.id])[0], fields: each(one.fields, spelled)})),
    }),
    bulk: async (a) => {
      const bulk = c.bulk({...common(a), batch: a.batch, kind: a.kind});
      for (const one of events(a.plays)) await bulk.add(one);
      await bulk.flush();
      return {accepted: bulk.accepted, refused: bulk.refused, refusals: bulk.refusals.map((one) => [one.index, one.code, one.field])};
    },
    put_set: async (a) => {
      const {name, count} = await c.putSet(a.name, items(a));
      return {name, count};
    },
    get_set: async (a) => {
      const {name, count, items, cursor} = await c.getSet(a.name, {limit: a.limit});
      return {name, count, items, more: cursor !== undefined, ...(cursor === undefined ? {} : {next: (await c.getSet(a.name, {limit: a.limit, cursor})).items})};
    },
    delete_set: async (a) => (await c.deleteSet(a.name), DONE),
    sets: async (a) => ({sets: (await c.sets()).filter(({name}) => name.startsWith(a.prefix)).map(({name, count}) => [name, count])}),
    counts: async (a) => {
      const {counts, more, degraded} = await c.counts(user(a), a.of, common(a));
      return {counts: counts.map((one) => [one.key, one.served, one.exposed, one.played, one.at_least ?? false]), more, degraded};
    },
    reserve: async (a) => {
      const {reserved, refused} = await c.reserve(user(a), a.items.map(candidate), a.caps, {...common(a), expiresMs: a.expires_ms});
      return {reserved: told(reserved), refused: told(refused)};
    },
    record_impressions: async (a) => recorded(await c.recordImpressions(user(a), a.items.map(candidate), common(a))),
    filter: async (a) => {
      const {unseen, seen, examined, degraded, missing, excluded, duplicates, recorded, reasons, undated, coarse, beyond, repeats, unseenShare, fields} = await c.filter(user(a), a.items.map(candidate), {
        ...rules(a), limit: a.limit, record: a.record, verify: a.verify, explain: a.explain, facts: a.facts, fields: a.fields, whenShort: a.when_short, onError: a.on_error, deadlineMs: a.deadline_ms,
      });
      return {unseen: told(unseen), seen, examined, degraded, missing, excluded, duplicates, ...(a.record ? {recorded} : {}), ...(a.explain ? {reasons} : {}),
        ...(a.items.some((one: Json) => one.id !== undefined) ? {undated: undated ?? 0} : {}), ...(a.not?.length ? {coarse: coarse ?? [], beyond: beyond ?? []} : {}),
        ...(a.when_short ? {repeats: told(repeats ?? []), unseen_share: unseenShare} : {}), ...(a.fields?.length ? {fields: spelled(fields)} : {})};
    },
    fill_page: async (a) => ({
      ids: told(await c.fillPage(user(a), a.candidates.map(candidate), a.need, {...rules(a), whenDegraded: WHEN[a.when_degraded ?? "fail_open"]})),
    }),
    search_unseen: async (a) => ({ids: told(await c.searchUnseen((count) => a.best.slice(0, count).map(candidate), user(a), a.k, rules(a)))}),
    history_page: async (a) => {
      const page = await c.historyPage(user(a), {...common(a), limit: a.limit});
      return {entries: entries(page.entries), more: page.cursor !== undefined, kept: page.kept ?? true, degraded: page.degraded};
    },
    history: async (a) => {
      const all: Entry[] = [];
      for await (const entry of c.history(user(a), {limit: a.limit})) all.push(entry);
      return {entries: entries(all)};
    },
    look_up_history: async (a) => ({entries: entries((await c.lookUpHistory(user(a), items(a), common(a))).values())}),
    delete_history: async (a) => (await c.deleteHistory(user(a), items(a), {...common(a), sameAs: a.same_as}), DONE),
    clear_history: async (a) => (await c.clearHistory(user(a), common(a)), DONE),
    set_recording: async (a) => (await c.setRecording(user(a), a.recording), DONE),
    inspect: async (a) => ({user: String((await c.inspect(user(a))).user)}),
    export: async (a) => ({types: [...new Set((await c.export(user(a))).map((one) => one.type))]}),
    erase: async (a) => ({known: await c.erase(user(a))}),
    collections: async () => ({names: (await c.collections()).map((one) => String(one.name)).filter((name) => name.startsWith("conf-x"))}),
    put_collection: async (a) => (await c.putCollection(a.name, a.policy), DONE),
    delete_collection: async (a) => (await c.deleteCollection(a.name), DONE),
    call: async (a) => {
      const answer = (await c.call(a.method, a.path, a.body)) as Json;
      return Object.fromEntries(a.only.map((name: string) => [name, answer[name]]));
    },
  };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What differs. */
async function play(c: Client, row: Json, tokenFile = ""): Promise<string[]> {
  const calls = callsOf(c, Date.now());
  for (const step of JSON.parse(JSON.stringify(row.steps).replaceAll("$run", randomUUID().slice(0, 12)))) {
    if (step.sleep_ms !== undefined) await sleep(step.sleep_ms);
    if (step.write_token !== undefined) {
      writeFileSync(tokenFile, step.write_token + "\n");
      utimesSync(tokenFile, 1, 1);
    }
    if (step.call === undefined) continue;
    let outcome: Json;
    try {
      outcome = {answer: await calls[step.call]!(step.args)};
    } catch (error) {
      if (error instanceof SeenDBError) outcome = {error: {code: error.code, field: error.field, ...("status" in (step.error ?? {}) ? {status: error.status} : {})}};
      else outcome = {error: String(error)};
    }
    const expected = step.answer !== undefined ? {answer: step.answer} : step.error !== undefined ? {error: step.error} : outcome;
    if (!isDeepStrictEqual(outcome, expected)) {
      return [`${row.name}: ${step.call} ${JSON.stringify(step.args).slice(0, 300)}: ${JSON.stringify(outcome)}, not ${JSON.stringify(expected)}`];
    }
  }
  return [];
}

test("scenarios on a server", {skip}, async () => {
  const c = new Client(url, {timeout: 30_000}), rows = scenarios(false), wrong: string[] = [];
  for (const row of rows) wrong.push(...await play(c, row));
  c.close();
  assert.deepEqual(wrong, []);
  assert.ok(rows.length > 180);
});

test("scenarios on a double", async () => {
  const rows = scenarios(false, ["facts.json", "ids.json", "items.json", "pages.json", "sets.json"]), wrong: string[] = [];
  for (const row of rows) wrong.push(...await play(new Double(), row));
  assert.deepEqual(wrong, []);
  assert.ok(rows.length > 80);
});

test("a double fails as it is told", async () => {
  const c = new Double();
  c.memory.failures = ["timeout", "busy"];
  assert.deepEqual(await c.fillPage("u", ["a", "b"], 1), ["a"]);
  await assert.rejects(c.fillPage("u", ["a"], 1, {whenDegraded: "failClosed"}), (error) => error instanceof SeenDBError && error.code === "busy");
  c.memory.degraded = true;
  assert.deepEqual([(await c.filter("u", ["a"])).missing, (await c.filter("u", [1n])).missing], [["double"], ["double"]]);
  assert.deepEqual(c.memory.calls, ["filter", "filter", "filter", "filter"]);
});

test("a double names where groups are the same", async () => {
  const c = new Double(), plain = {user: "u", item: "a"}, same = {user: "u", item: "b", same_as: ["g"]};
  for (const [field, call] of [["/events/1/same_as", c.recordPlays([plain, same])], ["/events/0/same_as", c.recordExposures([same])],
    ["/items/1/same_as", c.filter("u", ["a", {id: "b", same_as: ["g"]}])]] as const) {
    await assert.rejects(call, (error) => error instanceof SeenDBError && error.code === "invalid_argument" && error.field === field && error.status === 400);
  }
});

test("a double takes batches of each form", async () => {
  const c = new Double(), bulk = c.bulk({batch: 2});
  for (const event of [{user: 1n, item: 2n ** 64n - 1n}, {user: "u", item: "caf\u00e9"}, {user: 1n, item: 3n}, {user: "u", item: "b", device: "tv"}]) await bulk.add(event);
  await bulk.flush();
  assert.deepEqual([bulk.accepted, c.memory.calls], [4, ["bulk", "bulk", "bulk"]]);
  assert.deepEqual((await c.filter(1n, [2n ** 64n - 1n, 3n, 5n])).unseen, [5n]);
  assert.deepEqual((await c.filter("u", ["caf\u00e9", "b", "c"])).unseen, ["c"]);
});

test("candidates with groups, and what counts", async () => {
  const c = new Double();
  await c.mark("u", "g", new Date(1_000), {at: 7});
  assert.deepEqual((await c.marks("u")).marks, [{group: "g", until: 1_000, at: 7}]);
  const found: Id[] = (await c.filter("u", ["a", {id: 7n, of: ["g"], at: new Date(1_000)}, {id: "b", of: ["g"]}])).unseen;
  assert.deepEqual(found, ["a", "b"]);
  await assert.rejects(c.filter("u", ["a", {id: "", of: ["g"]}]), (error) => error instanceof SeenDBError && error.field === "/items/1/id");
  await c.putCollection("default", {exposed_is_seen: true});
  await c.recordExposures([{user: "u", item: "a"}]);
  assert.deepEqual([(await c.filter("u", ["a"])).unseen, (await c.filter("u", ["a"], {not: [{fact: "played"}]})).unseen], [[], ["a"]]);
});

test("whole numbers beyond 2^53 are bigints, others stay", () => {
  const text = '{"a":[9007199254740993,-9007199254740993,9007199254740991,0.12345678901234567,1e300,12345678901234567890.5],"b\\"9007199254740993":"9007199254740993"}';
  const told = parseExact(text) as Json;
  assert.deepEqual(told, {a: [9007199254740993n, -9007199254740993n, 9007199254740991, 0.12345678901234567, 1e300, 12345678901234567890.5], 'b"9007199254740993': "9007199254740993"});
  assert.equal(exactJson({a: [2n ** 63n - 1n, -1n, 1], b: "5"}), '{"a":[9223372036854775807,-1,1],"b":"5"}');
});

test("scenarios on a liar", async () => {
  const liar = spawn("python3", [join(FOLDER, "liar.py")], {stdio: ["pipe", "pipe", "inherit"]});
  const [control] = await new Promise<string[]>((resolve) => createInterface(liar.stdout).once("line", (line) => resolve([line])));
  const rows = scenarios(true), wrong: string[] = [];
  for (const row of rows) {
    const begun = (await (await fetch(control + "/" + encodeURIComponent(row.name), {method: "POST"})).json()) as {urls: string[]; ca: string; dns?: string};
    const {timeout_ms: timeout, hedge_ms: hedge, ca, token_file: token, ...options} = row.client;
    const tokenFile = join(mkdtempSync(join(tmpdir(), "seendb-")), "token");
    writeFileSync(tokenFile, token + "\n");
    const c = new Client(begun.urls.slice(0, row.only), {...options, timeout, hedge, dns: begun.dns, ...(ca ? {ca: begun.ca} : {}), ...(token === undefined ? {} : {tokenFile})});
    wrong.push(...await play(c, row, tokenFile));
    c.close();
    wrong.push(...((await (await fetch(control + "/differences")).json()) as string[]).map((one) => row.name + ": " + one));
  }
  liar.stdin.end();
  assert.deepEqual(wrong, []);
  assert.ok(rows.length > 80);
});
