import {Answer, Caller, Options} from "./caller.js";
import {Recorded, Refusal, Refused, SeenDBError} from "./errors.js";
import {Id, check, checkAll, packed, toJson} from "./ids.js";
import {LastUsers} from "./routing.js";

/** A play; without `at` it gets the present, before the first try, so that a second one counts once. */
export interface Play {
  user: Id;
  item: Id;
  /** ms since 1970, or a Date. */
  at?: number | Date;
  /** Seconds into the item; -1: finished. */
  progress_s?: number;
  duration_s?: number;
  device?: string;
  fields?: Record<string, unknown>;
}

export interface CallOptions {
  collection?: string;
  /** ms for the whole call. */
  timeout?: number;
}

export interface FilterOptions extends CallOptions {
  /** Stop once so many unseen ones are found. */
  limit?: number;
  /** Never unseen. */
  exclude?: readonly Id[];
  /** Record the unseen as served, in the same step. */
  record?: boolean;
  verify?: boolean;
  explain?: boolean;
  facts?: ("plays" | "impressions")[];
  /** "fail": an error where an answer would be degraded. */
  onError?: "degrade" | "fail";
  /** The server answers within it, degraded at worst; four fifths of the timeout without. */
  deadlineMs?: number;
}

/** What a user has not seen of the candidates. */
export interface Filtered<T extends Id = Id> {
  /** In their order, each once, as they were given. */
  unseen: T[];
  seen: number;
  examined: number;
  /** Something could not be read: items may be called unseen that were seen. */
  degraded: boolean;
  missing: string[];
  excluded: number;
  duplicates: number;
  /** With `record`. */
  recorded?: boolean;
  /** With `explain`. */
  reasons?: Record<string, string>;
}

export interface Entry {
  collection: string;
  item: string;
  at: number;
  progress_s: number;
  duration_s: number;
  device?: string;
  fields?: Record<string, unknown>;
}

export interface HistoryPage {
  entries: Entry[];
  /** Of the next page; absent: this is the last. */
  cursor?: string;
  /** False: none of the collections keeps history. */
  kept?: boolean;
  degraded: boolean;
}

export type WhenDegraded = "failOpen" | "failClosed" | "lastKnown";
export interface PageOptions extends CallOptions {
  exclude?: readonly Id[];
  /**
   * Where the answer is degraded, or there is none in time: "failOpen": what it says is unseen, or the first candidates;
   * "failClosed": an error; "lastKnown": the same as failOpen without what this client has recorded within the last hour.
   */
  whenDegraded?: WhenDegraded;
}

const CHUNK = 1_000, HOUR_MS = 3_600_000, FETCHED_MOST = 10_000, FIRST_SHARE = 0.5, SHARE_MOST = 0.95;
const AWAY = new Set(["timeout", "unavailable", "overloaded", "busy", "rate_limited"]);

/** A SeenDB server ("http://host:port", "https://host:port", "unix:/path"), or several. */
export class Client {
  private readonly caller: Caller;
  private readonly recent = new LastUsers<[number, string][]>();
  private readonly shares = new LastUsers<number>();

  constructor(urls: string | string[] = "http://127.0.0.1:7373", options: Options = {}) {
    this.caller = new Caller(urls, options);
  }

  /** Closes the connections; calls fail with "closed" from then on. */
  close(): void {
    this.caller.close();
  }

  /** Any route: the answer's JSON. A POST is made once. */
  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<unknown> {
    return json(await this.caller.ask({
      method, path, timeout: options.timeout, once: method === "POST",
      ...(body === undefined ? {} : {body: toJson(body), contentType: "application/json"}),
    }));
  }

  /** Throws Refused where every play was refused; of some: `refusals`. */
  async recordPlays(plays: readonly Play[], options: CallOptions = {}): Promise<Recorded> {
    const now = Date.now();
    const events = plays.map((play, i) => {
      check(play.user, "/events/" + i + "/user");
      check(play.item, "/events/" + i + "/item");
      return {...play, at: play.at === undefined ? now : Number(play.at)};
    });
    const users = events.map((one) => String(one.user));
    const only = users.every((one) => one === users[0]) ? users[0] : undefined;
    return this.record("recordPlays", "/plays", {events, collection: options.collection}, only, users, options);
  }

  async recordImpressions(user: Id, items: readonly Id[], options: CallOptions & {at?: number | Date} = {}): Promise<Recorded> {
    const body = {user: check(user, "/user"), items: checkAll(items, "/items"), at: Number(options.at ?? Date.now()), collection: options.collection};
    return this.record("recordImpressions", "/impressions", body, String(user), [String(user)], options);
  }

  private async record(name: string, path: string, body: unknown, user: string | undefined, users: string[], options: CallOptions): Promise<Recorded> {
    const answer = await this.caller.ask({name, method: "POST", path, body: toJson(body), contentType: "application/json", user, timeout: options.timeout});
    this.note(answer, users);
    const told = json(answer) as {accepted: number; refused: number; refusals: {index: number; error: {code: string; message: string; field: string}}[]};
    const refusals: Refusal[] = told.refusals.map((one) => ({index: one.index, ...one.error}));
    const recorded = {accepted: told.accepted, refused: told.refused, refusals, pending: answer.status === 202};
    const first = refusals[0];
    if (answer.status !== 422 || first === undefined) return recorded;
    throw new Refused(new SeenDBError(first.code, first.message, "/events/" + first.index + first.field, 422), recorded);
  }

  private note(answer: Answer, users: string[]): void {
    const position = answer.headers["seendb-position"];
    if (typeof position === "string") this.caller.positions.note(users, position);
  }

  /** Which items the user has not seen. Bigints alone go in binary. */
  async filter<T extends Id>(user: Id, items: readonly T[], options: FilterOptions = {}): Promise<Filtered<T>> {
    check(user, "/user");
    const exclude = options.exclude ?? [];
    const json_only = options.explain || options.facts !== undefined || items.length === 0;
    checkAll(items, "/items");
    checkAll(exclude, "/exclude");
    const bytes = json_only ? null : packed(items, exclude);
    const wanted = {
      collection: options.collection, limit: options.limit, on_error: options.onError,
      deadline_ms: options.deadlineMs ?? Math.max(1, Math.floor(0.8 * (options.timeout ?? this.caller.timeout))),
      record: options.record || undefined, verify: options.verify || undefined,
    };
    const common = {name: "filter", method: "POST", path: "/filter", user: String(user), timeout: options.timeout};
    if (bytes === null) {
      const body = {user, items, ...wanted, exclude: exclude.length > 0 ? exclude : undefined, explain: options.explain || undefined, facts: options.facts};
      const told = json(await this.caller.ask({...common, body: toJson(body), contentType: "application/json"})) as Filtered<T> & {unseen: (string | number)[]};
      const given = new Map(items.map((item): [string, T] => [String(item), item]).reverse());
      return {
        ...told, unseen: told.unseen.map((item) => given.get(String(item)) ?? (item as T)), missing: told.missing ?? [],
        excluded: told.excluded ?? 0, duplicates: told.duplicates ?? 0, ...(options.record ? {recorded: told.recorded ?? true} : {}),
      };
    }
    const query: Record<string, string> = {user: String(user), ids: "u64", count: String(bytes.length / 8)};
    for (const [name, value] of Object.entries(wanted)) {
      if (value !== undefined) query[name] = String(value);
    }
    if (exclude.length > 0) query.exclude = String(exclude.length);
    const answer = await this.caller.ask({...common, query, body: bytes, contentType: "application/octet-stream"});
    if (answer.body.length !== Math.ceil(items.length / 8)) throw new SeenDBError("protocol", "the bitmap has another length than the items need");
    const count = (name: string) => Number(answer.headers[name] ?? 0);
    const missing = answer.headers["seendb-missing"];
    return {
      unseen: items.filter((_, i) => ((answer.body[i >> 3]! >> (i & 7)) & 1) !== 0),
      seen: count("seendb-seen"), examined: count("seendb-examined"), degraded: answer.headers["seendb-degraded"] !== "0",
      missing: typeof missing === "string" ? missing.split(", ") : [], excluded: count("seendb-excluded"), duplicates: count("seendb-duplicates"),
      ...(options.record ? {recorded: answer.headers["seendb-recorded"] === "true"} : {}),
    };
  }

  /**
   * Up to `need` unseen candidates, best first, recorded as served in the same step; `timeout` is for the whole page. Where an
   * answer was lost, what it had recorded is not on the page, and counts as served.
   */
  async fillPage<T extends Id>(user: Id, candidates: Iterable<T>, need = 20, options: PageOptions = {}): Promise<T[]> {
    const deadline = performance.now() + (options.timeout ?? this.caller.timeout);
    const page: T[] = [], taken = candidates[Symbol.iterator]();
    const degraded = options.whenDegraded ?? "failOpen";
    while (page.length < need) {
      const chunk: T[] = [];
      for (let next; chunk.length < CHUNK && !(next = taken.next()).done;) chunk.push(next.value);
      if (chunk.length === 0) break;
      try {
        const found = await this.filter(user, chunk, {
          collection: options.collection, limit: need - page.length, exclude: [...(options.exclude ?? []), ...page], record: true,
          onError: degraded === "failClosed" ? "fail" : undefined, timeout: Math.max(1, deadline - performance.now()),
        });
        const known = found.degraded && degraded === "lastKnown" ? this.recentOf(user) : new Set<string>();
        page.push(...found.unseen.filter((one) => !known.has(String(one))));
      } catch (error) {
        if (degraded === "failClosed" || !(error instanceof SeenDBError) || !AWAY.has(error.code)) throw error;
        const known = new Set([...(options.exclude ?? []), ...page].map(String));
        if (degraded === "lastKnown") this.recentOf(user).forEach((one) => known.add(one));
        for (const one of both(chunk, taken)) {
          if (page.length === need) break;
          if (known.has(String(one))) continue;
          known.add(String(one));
          page.push(one);
        }
        break;
      }
    }
    const now = Date.now();
    const kept = (this.recent.get(String(user)) ?? []).filter(([at]) => at > now - HOUR_MS);
    this.recent.set(String(user), [...kept, ...page.map((one): [number, string] => [now, String(one)])]);
    return page;
  }

  private recentOf(user: Id): Set<string> {
    const now = Date.now();
    return new Set((this.recent.get(String(user)) ?? []).filter(([at]) => at > now - HOUR_MS).map(([, one]) => one));
  }

  /**
   * Up to `k` unseen ids of a search that knows no users: search(count) gives the best `count` ids, in order. It is asked for
   * k / (1 - s), where s is the share of its candidates that this user has seen, and for more until enough are unseen.
   */
  async searchUnseen<T extends Id>(search: (count: number) => Promise<readonly T[]> | readonly T[], user: Id, k = 20, options: CallOptions = {}): Promise<T[]> {
    const name = String(user);
    const share = () => this.shares.get(name) ?? FIRST_SHARE;
    for (let count = Math.ceil(k / (1 - share())); ; count = Math.max(count * 2, Math.ceil(k / (1 - share())))) {
      count = Math.min(Math.max(count, k), FETCHED_MOST);
      const found = await search(count);
      const {unseen} = await this.filter(user, found, options);
      if (found.length > 0) {
        const seen = 1 - unseen.length / found.length, before = this.shares.get(name) ?? seen;
        this.shares.set(name, Math.min(SHARE_MOST, before + (seen - before) / 2));
      }
      if (unseen.length >= k || found.length < count || count >= FETCHED_MOST) return unseen.slice(0, k);
    }
  }

  async historyPage(user: Id, options: CallOptions & {limit?: number; cursor?: string} = {}): Promise<HistoryPage> {
    const query: Record<string, string> = {limit: String(options.limit ?? 100)};
    if (options.collection !== undefined) query.collection = options.collection;
    if (options.cursor) query.cursor = options.cursor;
    return json(await this.caller.ask({name: "historyPage", method: "GET", path: ofUser(user, "/history"), query, user: String(user), timeout: options.timeout})) as HistoryPage;
  }

  /** All entries, newest first, page by page. */
  async *history(user: Id, options: CallOptions & {limit?: number} = {}): AsyncGenerator<Entry, void, undefined> {
    let cursor: string | undefined;
    do {
      const page: HistoryPage = await this.historyPage(user, {...options, cursor});
      yield* page.entries;
      cursor = page.cursor;
    } while (cursor);
  }

  async deleteHistory(user: Id, items: readonly Id[], options: CallOptions = {}): Promise<void> {
    await this.write("POST", user, "/history/delete", {items: checkAll(items, "/items"), collection: options.collection}, options);
  }

  async clearHistory(user: Id, options: CallOptions & {filter?: boolean} = {}): Promise<void> {
    const collections = options.collection === undefined ? undefined : [options.collection];
    await this.write("POST", user, "/history/clear", {collections, filter: options.filter || undefined}, options);
  }

  /** Pauses the history (false), or goes on with it. */
  async setRecording(user: Id, recording: boolean, options: CallOptions = {}): Promise<void> {
    await this.write("PUT", user, "/recording", {paused: !recording}, options);
  }

  /** Forgets a user, for good; whether anything was held. */
  async erase(user: Id, options: CallOptions = {}): Promise<boolean> {
    return ((await this.write("DELETE", user, "", undefined, options)) as {known: boolean}).known;
  }

  async inspect(user: Id, options: CallOptions = {}): Promise<Record<string, unknown>> {
    return (await this.write("GET", user, "", undefined, options)) as Record<string, unknown>;
  }

  private async write(method: string, user: Id, rest: string, body: unknown, options: CallOptions): Promise<unknown> {
    const answer = await this.caller.ask({
      method, path: ofUser(user, rest), user: String(user), timeout: options.timeout,
      ...(body === undefined ? {} : {body: toJson(body), contentType: "application/json"}),
    });
    this.note(answer, [String(user)]);
    return json(answer);
  }

  async putCollection(name: string, policy: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Record<string, unknown>> {
    return (await this.call("PUT", "/collections/" + encodeURIComponent(name), policy, options)) as Record<string, unknown>;
  }

  async deleteCollection(name: string, options: CallOptions = {}): Promise<void> {
    await this.call("DELETE", "/collections/" + encodeURIComponent(name) + "?confirm=" + encodeURIComponent(name), undefined, options);
  }
}

function json(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body.toString());
  } catch {
    throw new SeenDBError("protocol", "the answer is no JSON: " + answer.body.toString().slice(0, 100), "", answer.status);
  }
}

function* both<T>(first: Iterable<T>, second: Iterator<T>): Generator<T, void, undefined> {
  yield* first;
  for (let next = second.next(); !next.done; next = second.next()) yield next.value;
}

const ofUser = (user: Id, rest: string) => "/users/" + encodeURIComponent(String(check(user, "/user"))) + rest;
