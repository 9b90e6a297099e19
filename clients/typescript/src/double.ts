import {Answer, Call, Caller} from "./caller.js";
import {Client, Mark} from "./client.js";
import {SeenDBError} from "./errors.js";
import {NotEntry} from "./events.js";
import {exactJson, parseExact} from "./json.js";

/** An id, a candidate or an update of an item. */
interface Grouped {
  id: string | bigint;
  of?: string[];
  same_as?: string[];
  at?: number;
  version: number | bigint;
  set?: Record<string, unknown>;
  unset?: string[];
  replace?: boolean;
  delete?: boolean;
}
interface Told {
  user: string;
  items: (string | bigint | Grouped)[];
  ids?: string[];
  fields?: string[];
  not?: NotEntry[];
  exclude_sets?: string[];
  exclude?: (string | bigint)[];
  events?: {user: string; item: string; surface?: string; same_as?: string[]; items?: string[]}[];
  collection?: string;
  limit?: number;
  record?: boolean;
  explain?: boolean;
  facts?: string[];
}

const UNKNOWN = ["collections", "caps", "where", "at_most", "unknown", "fields", "when_short"];
const FACTS: Record<string, string> = {plays: "play", impressions: "impression", exposures: "exposed", played: "play", served: "impression", exposed: "exposed"};
const reach = (mark: Mark) => (mark.until === "always" ? Infinity : mark.until);

/**
 * Answers in place of a server, and forgets nothing: plays, impressions, exposures, marks, filters, erasures, collections, items, sets.
 * Of `not` it goes by facts and surfaces. What it does not know, counts, caps, `same_as`, several collections and rules on items among it, it refuses.
 */
export class Memory extends Caller {
  /** Names, as onCall is told them. */
  readonly calls: string[] = [];
  /** Codes of the next calls' errors. */
  failures: string[] = [];
  degraded = false;
  private readonly collections = new Map<string, {exposed_is_seen?: boolean}>([["default", {}]]);
  /** By collection and user: items, facts ("exposed", "exposed home"). */
  private readonly seen = new Map<string, Map<string, Set<string>>>();
  private readonly marks = new Map<string, Map<string, Mark>>();
  private readonly sets = new Map<string, string[]>();
  /** By item: fields, with a version each; undefined: it was taken away. Field "": what it had before that version is gone. */
  private readonly items = new Map<string, Map<string, [number | bigint, unknown]>>();

  override async ask(call: Call): Promise<Answer> {
    this.calls.push(call.name ?? call.method + " " + call.path);
    const failure = this.failures.shift();
    if (failure !== undefined) throw new SeenDBError(failure, "the test wants it so");
    const [what, name, part, group] = call.path.replace(/\?.*/, "").split("/").slice(1).map(decodeURIComponent);
    if (what === "collections") return this.change(call, name!);
    if (part === "marks") return this.mark(call, name!, group);
    if (what === "sets") return this.set(call, name);
    if (what === "reserve" || what === "admin" || part !== undefined) throw new SeenDBError("not_found", "the double has no " + call.path, "", 404);
    if (what === "users") return this.user(call.method, name!);
    if (what === "items") return name === "schema" ? say({}) : this.item(this.told(call), name === "get");
    const told = this.told(call), collection = told.collection ?? "default";
    if (!this.collections.has(collection)) throw new SeenDBError("not_found", "no collection " + collection, "/collection", 404);
    if (what === "filter") return this.filter(told, collection, call.query?.ids === "u64");
    const events = told.events ?? told.items.map((one) => ({user: told.user, item: String(typeof one === "object" ? one.id : one), surface: undefined}));
    for (const {user, item, surface} of events) this.note(collection, user, item, FACTS[what!]!, surface);
    return say({accepted: events.length, refused: 0, refusals: []});
  }

  private note(collection: string, user: string, item: string, fact: string, surface?: string): void {
    const kept = this.of(collection, user), facts = kept.get(String(item)) ?? new Set();
    kept.set(String(item), facts.add(fact).add(fact + " " + surface));
  }

  private mark(call: Call, user: string, group?: string): Answer {
    const own = this.marks.get(user) ?? new Map<string, Mark>();
    if (call.method === "DELETE") return say({deleted: own.delete(group!)});
    this.marks.set(user, own);
    if (call.method === "POST") {
      const mark = JSON.parse(String(call.body)) as Mark, before = own.get(mark.group);
      if (before === undefined || reach(before) < reach(mark)) own.set(mark.group, mark);
      return say({accepted: 1, refused: 0, refusals: []});
    }
    const all = [...own.values()].sort((a, b) => (a.group < b.group ? -1 : 1));
    const begin = Number(call.query!.cursor ?? 0), end = begin + Number(call.query!.limit);
    return say({marks: all.slice(begin, end), ...(end < all.length ? {cursor: String(end)} : {})});
  }

  private set({method, query, ...call}: Call, name?: string): Answer {
    const info = (one: string) => ({name: one, count: this.members(one).length, bytes: 0, at: 0});
    if (name === undefined) return say({sets: [...this.sets.keys()].sort().map(info)});
    if (method === "PUT") this.sets.set(name, [...new Set(this.told({method, query, ...call}).events!.flatMap((line) => line.items ?? []))].sort());
    const told = info(name), begin = Number(query?.cursor ?? 0), end = begin + Number(query?.limit ?? 1_000), items = this.members(name);
    if (method === "DELETE") this.sets.delete(name);
    return say({...told, items: items.slice(begin, end), ...(end < items.length ? {cursor: String(end)} : {})});
  }

  private members(name: string, field = ""): string[] {
    const members = this.sets.get(name);
    if (members === undefined) throw new SeenDBError("not_found", "no set " + name, field, 404);
    return members;
  }

  private item(told: Told, get: boolean): Answer {
    let stale = 0;
    for (const one of get ? [] : (told.items as Grouped[])) {
      const kept = this.items.get(String(one.id)) ?? new Map<string, [number | bigint, unknown]>([["", [0, undefined]]]);
      this.items.set(String(one.id), kept);
      for (const [field, value] of [...Object.entries(one.set ?? {}), ...(one.unset ?? []).map((field): [string, unknown] => [field, undefined])]) {
        if ((kept.get(field) ?? kept.get("")!)[0] > one.version) ++stale;
        else kept.set(field, [one.version, value]);
      }
      if (!one.replace && !one.delete) continue;
      for (const [field, [version]] of kept) if (version < one.version) kept.set(field, [one.version, undefined]);
    }
    if (!get) return say({accepted: told.items.length, stale, refused: 0, refusals: []});
    const items = told.ids!.flatMap((id) => {
      const kept = [...(this.items.get(id) ?? [])], left = kept.filter(([, [, value]]) => value !== undefined);
      if (left.length === 0) return [];
      const version = kept.map(([, [one]]) => one).reduce((most, one) => (one > most ? one : most));
      return [{id, version, fields: Object.fromEntries(left.filter(([field]) => told.fields?.includes(field) ?? true).map(([field, [, value]]) => [field, value]))}];
    });
    return say({items});
  }

  /** The facts that make an item seen. */
  private asked(told: Told, collection: string): string[] {
    if (told.not?.length) return told.not.map((one) => FACTS[one.fact]! + (one.surface === undefined ? "" : " " + one.surface));
    return [...(told.facts ?? ["plays", "impressions"]).map((one) => FACTS[one]!), ...(this.collections.get(collection)?.exposed_is_seen ? ["exposed"] : [])];
  }

  private told(call: Call): Told {
    const query = call.query ?? {}, body = Buffer.from(call.body ?? "{}");
    if (call.contentType === "application/x-ndjson") return plainOnly({user: "", items: [], ...query, events: body.toString().trim().split("\n").map((line) => JSON.parse(line))});
    if (call.path === "/plays" && query.ids !== undefined) return rowsOf(query, body);
    if (query.ids !== "u64") return plainOnly(parseExact(body.toString()) as Told);
    const items = Array.from({length: body.length / 8}, (_, i) => body.readBigUInt64LE(8 * i));
    const exclude = items.splice(items.length - Number(query.exclude ?? 0));
    return {user: query.user!, items, exclude, collection: query.collection, exclude_sets: query.exclude_sets?.split(","), limit: query.limit === undefined ? undefined : Number(query.limit), record: query.record === "true"};
  }

  private of(collection: string, user: string): Map<string, Set<string>> {
    const key = collection + "\n" + String(user);
    const kept = this.seen.get(key) ?? new Map<string, Set<string>>();
    this.seen.set(key, kept);
    return kept;
  }

  private filter(told: Told, collection: string, packed: boolean): Answer {
    const strange = UNKNOWN.find((name) => name in told);
    if (strange !== undefined) throw new SeenDBError("invalid_argument", "the double knows no such filter", "/" + strange);
    const sets = (told.exclude_sets ?? []).map((name, i): [string, Set<string>] => [name, new Set(this.members(name, "/exclude_sets/" + i))]);
    const kept = this.of(collection, told.user), met = new Set<string>(), excluded = new Set((told.exclude ?? []).map(String));
    const unseen: string[] = [], bits = Buffer.alloc(Math.ceil(told.items.length / 8));
    const counts = {seen: 0, examined: 0, excluded: 0, duplicates: 0, undated: 0}, reasons: Record<string, string> = {};
    const asked = this.asked(told, collection), marked = this.marks.get(String(told.user));
    for (const [i, one] of told.items.entries()) {
      if (unseen.length === told.limit) break;
      const grouped = (typeof one === "object" ? one : {id: one}) as Grouped, item = String(grouped.id);
      const marks = (grouped.of ?? []).flatMap((group) => marked?.get(group) ?? []);
      const mark = marks.find((each) => reach(each) === Infinity || grouped.at !== undefined && reach(each) >= grouped.at);
      const why = asked.find((fact) => kept.get(item)?.has(fact))?.split(" ")[0] ?? (mark && "mark:" + mark.group);
      if (marks.length > 0 && grouped.at === undefined && !marks.some((each) => reach(each) === Infinity)) ++counts.undated;
      const set = sets.find(([, members]) => members.has(item));
      ++counts.examined;
      if (met.has(item)) ++counts.duplicates;
      else if (excluded.has(item) || set) {
        ++counts.excluded;
        if (set && !excluded.has(item)) reasons[item] = "set:" + set[0];
      } else if (why !== undefined) {
        ++counts.seen;
        reasons[item] = why;
      } else {
        unseen.push(item);
        bits[i >> 3]! |= 1 << (i & 7);
      }
      met.add(item);
    }
    if (told.record) unseen.forEach((one) => this.note(collection, told.user, one, "impression"));
    const missing = this.degraded ? ["double"] : [];
    if (!packed) return say({unseen, ...counts, degraded: this.degraded, missing, ...(told.explain ? {reasons} : {})});
    const headers = Object.fromEntries(Object.entries(counts).map(([name, count]) => ["seendb-" + name, String(count)]));
    return {status: 200, body: bits, headers: {
      ...headers, "seendb-degraded": this.degraded ? "1" : "0", "seendb-recorded": String(told.record), ...(this.degraded ? {"seendb-missing": missing.join(", ")} : {}),
    }};
  }

  private user(method: string, user: string): Answer {
    const known = [...this.seen.keys()].filter((key) => key.slice(key.indexOf("\n") + 1) === user);
    if (method !== "DELETE") return say({user});
    known.forEach((key) => this.seen.delete(key));
    return say({erased: true, known: this.marks.delete(user) || known.length > 0});
  }

  private change({method, body}: Call, name: string): Answer {
    if (method === "PUT") this.collections.set(name, {...this.collections.get(name), ...JSON.parse(String(body))});
    else if (!this.collections.delete(name)) throw new SeenDBError("not_found", "no collection " + name, "/name", 404);
    return say({name});
  }
}

/** Plays of a Bulk, in binary. */
function rowsOf(query: Record<string, string>, body: Buffer): Told {
  let at = 0;
  const taken = (size: number) => body.subarray(at, (at += size));
  const id = () => (query.ids === "u64" ? String(taken(8).readBigUInt64LE()) : taken(taken(4).readUInt32LE()).toString());
  const events = Array.from({length: Number(query.count)}, () => {
    const event = {user: id(), item: id()};
    at += 8;
    return event;
  });
  return {user: "", items: [], collection: query.collection, events};
}

function plainOnly(told: Told): Told {
  for (const name of ["events", "items"] as const) {
    (told[name] ?? []).forEach((one, i) => {
      if (typeof one === "object" && one.same_as !== undefined) throw new SeenDBError("invalid_argument", "the double knows no such groups", "/" + name + "/" + i + "/same_as", 400);
    });
  }
  return told;
}

const say = (body: unknown): Answer => ({status: 200, headers: {}, body: Buffer.from(exactJson(body))});

/** A Client for the tests of whoever calls SeenDB: no server, all in memory. No time is too old for it. */
export class Double extends Client {
  constructor(readonly memory = new Memory("http://double", {})) {
    super([], {}, memory);
  }
}
