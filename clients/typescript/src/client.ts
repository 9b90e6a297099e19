import {Bulk, BulkOptions, recordedOf} from "./bulk.js";
import {Answer, Caller, Options} from "./caller.js";
import {Recorded, Refused, SeenDBError} from "./errors.js";
import {Candidate, Cap, Exposure, IdOf, NotEntry, Play, WhenShort, candidateOf, eventOf, idOf, servedOf} from "./events.js";
import {Id, check, checkAll, packed, toJson} from "./ids.js";
import {CountsPage, Item, ItemField, ItemSet, ItemUpdate, ItemValue, Reserved, Rule, SetPage, updateOf} from "./items.js";
import {ItemHashKey, ItemKey} from "./item_key.js";
import {exactJson, json, parseExact, parsed} from "./json.js";
import {LocalFilter, LocalOptions} from "./local.js";
import {LastUsers} from "./routing.js";

export interface CallOptions {
  collection?: string;
  /** ms for the whole call. */
  timeout?: number;
}

/** Which candidates may be on a page. */
export interface Rules extends CallOptions {
  /** Never unseen. */
  exclude?: readonly Id[];
  /** Names of sets (putSet), 8 at most, whose members are never unseen. */
  excludeSets?: readonly string[];
  /** In place of facts: any of them makes an item seen. */
  not?: readonly NotEntry[];
  /** Names, 8 at most: what was seen in any of them counts, in place of `collection` alone, whose policy still says all else. */
  collections?: readonly string[];
  /** A candidate is dropped if one of its groups has its number of events, those of the page before it included. */
  caps?: readonly Cap[];
  /** Rules on items, all of which must hold. */
  where?: readonly Rule[];
  /** Of the unseen with one value of the field, the first `n`: of each 1,000 candidates of a page. */
  atMost?: {field: string; n: number};
  /** What becomes of items that the server does not know: "keep" without. */
  unknown?: "keep" | "drop";
}

export interface FilterOptions extends Rules {
  /** Stop once so many unseen ones are found. */
  limit?: number;
  /** Record the unseen as served, in the same step. */
  record?: boolean;
  verify?: boolean;
  explain?: boolean;
  facts?: ("plays" | "impressions")[];
  /** Names of fields of items that the answer tells of the unseen. */
  fields?: readonly string[];
  whenShort?: WhenShort;
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
  /** How dry the page runs: the unseen divided by the examined; 1 where none was examined. */
  unseenShare: number;
  /** Something could not be read: items may be called unseen that were seen. */
  degraded: boolean;
  missing: string[];
  excluded: number;
  duplicates: number;
  /** With `record`. */
  recorded?: boolean;
  /** With `explain`. */
  reasons?: Record<string, string>;
  /** Of candidates with groups: those without a time, of a group that is marked up to a time. */
  undated?: number;
  /** With `not`: facts of which more counted than was asked for ("played" by the bucket). */
  coarse?: string[];
  /** With `not`: facts of which less is kept than was asked for. */
  beyond?: string[];
  /** With `whenShort`: seen candidates that come back, the one seen longest ago first. */
  repeats?: T[];
  /** With `fields`: those of the unseen that the server knows, by the item's text. */
  fields?: Record<string, Record<string, ItemValue>>;
  /** Unseen items whose fields did not fit into the answer (16 MiB). */
  fields_left_out?: number;
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

/** A group that a user marked as seen; times in ms since 1970. */
export interface Mark {
  group: string;
  until: number | "always";
  /** When it was said. */
  at: number;
}

/** A page of marks, by group. */
export interface MarksPage {
  marks: Mark[];
  /** Of the next page; absent: this is the last. */
  cursor?: string;
  /** Marks may be missing. */
  degraded: boolean;
  missing: string[];
}

export type WhenDegraded = "failOpen" | "failClosed" | "lastKnown";
export interface PageOptions extends Rules {
  /**
   * Where the answer is degraded, or there is none in time: "failOpen": what it says is unseen, or the first candidates;
   * "failClosed": an error; "lastKnown": the same as failOpen without what this client has recorded within the last hour.
   * Candidates that are served without an answer were judged by no rule: failClosed is for sets that must hold.
   */
  whenDegraded?: WhenDegraded;
}

const CHUNK = 1_000, SET_LINE = 10_000, HOUR_MS = 3_600_000, FETCHED_MOST = 10_000, FIRST_SHARE = 0.5, SHARE_MOST = 0.95;
const AWAY = new Set(["timeout", "unavailable", "overloaded", "busy", "rate_limited"]);

/** A SeenDB server ("http://host:port", "https://host:port", "unix:/path"), or several. */
export class Client {
  protected readonly caller: Caller;
  private itemKey: ItemKey | null = null;
  private readonly recent = new LastUsers<[number, string][]>();
  private readonly shares = new LastUsers<number>();

  constructor(urls: string | string[] = "http://127.0.0.1:7373", options: Options = {}, caller = new Caller(urls, options)) {
    this.caller = caller;
  }

  /** Closes the connections; calls fail with "closed" from then on. */
  close(): void {
    this.caller.close();
  }

  /** The user's filter in this process. It needs a token of the role "filters", and TLS, a unix socket or loopback. */
  async localFilter(user: Id, options: LocalOptions = {}): Promise<LocalFilter> {
    check(user, "/user");
    const key = options.key === undefined ? await this.ownItemKey(options.timeout) : new ItemKey(options.key);
    const local = new LocalFilter(this.caller, user, key, options);
    await local.refresh();
    return local;
  }

  private async ownItemKey(timeout?: number): Promise<ItemKey> {
    this.itemKey ??= new ItemKey((await this.call("GET", "/admin/item-hash-key", undefined, {timeout})) as ItemHashKey);
    return this.itemKey;
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
    return this.recordEvents("recordPlays", "/plays", plays, options);
  }

  /**
   * Records what was on screen, as recordPlays does plays. It makes an item seen if a filter asks for it (`not`), or the collection's
   * policy says `exposed_is_seen`.
   */
  async recordExposures(exposures: readonly Exposure[], options: CallOptions = {}): Promise<Recorded> {
    return this.recordEvents("recordExposures", "/exposures", exposures, options);
  }

  private async recordEvents(name: string, path: string, list: readonly (Play | Exposure)[], options: CallOptions): Promise<Recorded> {
    const now = Date.now();
    const events = list.map((one, i) => eventOf(one, i, now));
    const users = events.map((one) => String(one.user));
    const only = users.every((one) => one === users[0]) ? users[0] : undefined;
    return this.record(name, path, toJson({events, collection: options.collection}), only, users, options);
  }

  /** `items`: ids, or candidates, which are counted by their groups. */
  async recordImpressions(user: Id, items: readonly (Id | Candidate)[], options: CallOptions & {at?: number | Date} = {}): Promise<Recorded> {
    const body = {user: check(user, "/user"), items: items.map(servedOf), at: Number(options.at ?? Date.now()), collection: options.collection};
    return this.record("recordImpressions", "/impressions", toJson(body), String(user), [String(user)], options);
  }

  /** `events`: false where refusals name the whole place. */
  private async record(name: string, path: string, body: string, user: string | undefined, users: string[], options: CallOptions, events = true): Promise<Recorded> {
    const answer = await this.caller.ask({name, method: "POST", path, body, contentType: "application/json", user, timeout: options.timeout});
    this.note(answer, users);
    const recorded = recordedOf(answer);
    const first = recorded.refusals[0];
    if (answer.status !== 422 || first === undefined) return recorded;
    const field = (events ? "/events/" + first.index : "") + first.field;
    throw new Refused(new SeenDBError(first.code, first.message, field, 422), recorded);
  }

  /** Many events, in batches. */
  bulk(options: BulkOptions = {}): Bulk {
    return new Bulk(this.caller, options);
  }

  private note(answer: Answer, users: string[]): void {
    const position = answer.headers["seendb-position"];
    if (typeof position === "string") this.caller.positions.note(users, position);
  }

  /** Which items the user has not seen. Bigints alone go in binary. */
  async filter<C extends Id | Candidate>(user: Id, candidates: readonly C[], options: FilterOptions = {}): Promise<Filtered<IdOf<C>>> {
    check(user, "/user");
    const exclude = options.exclude ?? [], items = candidates.map((one) => idOf(one));
    const written = candidates.map(candidateOf);
    checkAll(exclude, "/exclude");
    const some = <T>(list?: readonly T[]) => (list?.length ? list : undefined);
    const rules = {
      explain: options.explain || undefined, facts: options.facts, not: some(options.not), caps: some(options.caps), where: some(options.where),
      at_most: options.atMost, unknown: options.unknown, fields: some(options.fields), when_short: options.whenShort,
    };
    const named = {exclude_sets: some(options.excludeSets), collections: some(options.collections)};
    const plain = candidates.length > 0 && Object.values(rules).every((one) => one === undefined) && !Object.values(named).some((names) => names?.some((name) => name.includes(",")));
    const bytes = plain ? packed(candidates as readonly Id[], exclude) : null; // one with groups is no bigint
    const wanted = {
      collection: options.collection, limit: options.limit, on_error: options.onError,
      deadline_ms: options.deadlineMs ?? Math.max(1, Math.floor(0.8 * (options.timeout ?? this.caller.timeout))),
      record: options.record || undefined, verify: options.verify || undefined,
    };
    const common = {name: "filter", method: "POST", path: "/filter", user: String(user), timeout: options.timeout, hedge: !options.record};
    if (bytes === null) {
      const body = {user: String(user), items: written, ...wanted, exclude: some(exclude)?.map(String), ...named, ...rules};
      const answer = await this.caller.ask({...common, body: (rules.where ? exactJson : toJson)(body), contentType: "application/json"});
      const {unseen_share: _, ...told} = parsed(answer, rules.fields ? parseExact : JSON.parse, ["unseen"]) as Filtered & {unseen_share?: number; unseen: (string | number)[]};
      const given = givenBy(items), unseen = told.unseen.map(given);
      return {
        ...told, unseen, unseenShare: shareOf(unseen, told.examined), missing: told.missing ?? [], excluded: told.excluded ?? 0, duplicates: told.duplicates ?? 0,
        repeats: told.repeats?.map(given), ...(options.record ? {recorded: told.recorded ?? true} : {}),
      };
    }
    const query: Record<string, string> = {user: String(user), ids: "u64", count: String(bytes.length / 8)};
    for (const [name, value] of Object.entries(wanted)) {
      if (value !== undefined) query[name] = String(value);
    }
    if (exclude.length > 0) query.exclude = String(exclude.length);
    for (const [name, names] of Object.entries(named)) if (names !== undefined) query[name] = names.join(",");
    const answer = await this.caller.ask({...common, query, body: bytes, contentType: "application/octet-stream"});
    if (answer.body.length !== Math.ceil(items.length / 8) || answer.headers["seendb-seen"] === undefined) {
      throw new SeenDBError("protocol", "the answer is no bitmap of the items", "", answer.status);
    }
    const count = (name: string) => Number(answer.headers[name] ?? 0);
    const missing = answer.headers["seendb-missing"];
    const unseen = items.filter((_, i) => ((answer.body[i >> 3]! >> (i & 7)) & 1) !== 0);
    return {
      unseen, unseenShare: shareOf(unseen, count("seendb-examined")), seen: count("seendb-seen"), examined: count("seendb-examined"), degraded: answer.headers["seendb-degraded"] !== "0",
      missing: typeof missing === "string" ? missing.split(", ") : [], excluded: count("seendb-excluded"), duplicates: count("seendb-duplicates"),
      ...(options.record ? {recorded: answer.headers["seendb-recorded"] === "true"} : {}),
    };
  }

  /**
   * Up to `need` unseen candidates, best first, recorded as served in the same step; `timeout` is for the whole page. Where an
   * answer was lost, what it had recorded is not on the page, and counts as served.
   */
  async fillPage<C extends Id | Candidate>(user: Id, candidates: Iterable<C>, need = 20, options: PageOptions = {}): Promise<IdOf<C>[]> {
    const deadline = performance.now() + (options.timeout ?? this.caller.timeout);
    const page: IdOf<C>[] = [], taken = candidates[Symbol.iterator]();
    const degraded = options.whenDegraded ?? "failOpen";
    while (page.length < need) {
      const chunk: C[] = [];
      for (let next; chunk.length < CHUNK && !(next = taken.next()).done;) chunk.push(next.value);
      if (chunk.length === 0) break;
      try {
        const found = await this.filter(user, chunk, {
          ...options, limit: need - page.length, exclude: [...(options.exclude ?? []), ...page], record: true,
          onError: degraded === "failClosed" ? "fail" : undefined, timeout: Math.max(1, deadline - performance.now()),
        });
        if (found.degraded && degraded === "failClosed") throw new SeenDBError("unavailable", "the answer is degraded: " + found.missing.join(", "));
        const known = found.degraded && degraded === "lastKnown" ? this.recentOf(user) : new Set<string>();
        page.push(...found.unseen.filter((one) => !known.has(String(one))).slice(0, need - page.length));
      } catch (error) {
        if (degraded === "failClosed" || !(error instanceof SeenDBError) || !AWAY.has(error.code)) throw error;
        const known = new Set([...(options.exclude ?? []), ...page].map(String));
        if (degraded === "lastKnown") this.recentOf(user).forEach((one) => known.add(one));
        for (const candidate of both(chunk, taken)) {
          if (page.length === need) break;
          const one = idOf(candidate);
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
  async searchUnseen<C extends Id | Candidate>(search: (count: number) => Promise<readonly C[]> | readonly C[], user: Id, k = 20, options: Rules = {}): Promise<IdOf<C>[]> {
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
    return (await this.page("historyPage", user, "/history", "entries", options)) as HistoryPage;
  }

  private async page(name: string, user: Id, rest: string, needs: string, options: CallOptions & {limit?: number; cursor?: string}): Promise<unknown> {
    return this.read(name, ofUser(user, rest), needs, {...options, limit: options.limit ?? 100}, {}, String(user));
  }

  private async read(name: string, path: string, needs: string, {limit, cursor, collection, timeout}: CallOptions & {limit?: number; cursor?: string}, query: Record<string, string> = {}, user?: string): Promise<unknown> {
    for (const [key, value] of Object.entries({limit, cursor, collection})) if (value !== undefined && value !== "") query[key] = String(value);
    return json(await this.caller.ask({name, method: "GET", path, query, user, hedge: true, timeout}), needs);
  }

  /**
   * Marks all of a group as seen that was published up to `until`, or "always". The mark that reaches furthest counts, in all
   * collections, for candidates that name the group. It is said `at` a time, the present without, set before the first try: one
   * that is said no later than an unmark does not count.
   */
  async mark(user: Id, group: string, until: number | Date | "always", options: {timeout?: number; at?: number | Date} = {}): Promise<void> {
    const body = {group, until: until === "always" ? until : Number(until), at: Number(options.at ?? Date.now())};
    await this.record("mark", ofUser(user, "/marks"), toJson(body), String(user), [String(user)], options, false);
  }

  /** Deletes the mark of a group; whether one counted. A repeat of it says false. */
  async unmark(user: Id, group: string, options: {timeout?: number} = {}): Promise<boolean> {
    return ((await this.write("DELETE", user, "/marks/" + encodeURIComponent(group), undefined, options)) as {deleted: boolean}).deleted;
  }

  /** Reads what the user marked, by group; `limit`: 100 without, at most 1,000. */
  async marks(user: Id, options: {timeout?: number; limit?: number; cursor?: string} = {}): Promise<MarksPage> {
    return {degraded: false, missing: [], ...((await this.page("marks", user, "/marks", "marks", options)) as {marks: Mark[]})};
  }

  /**
   * Makes these ids (a million at most) the set of all users, in place of those that it had. It is on the server's disk once this
   * returns. `name`: 1-64 bytes. "too_large": all sets together have no room.
   */
  async putSet(name: string, items: readonly Id[], options: {timeout?: number} = {}): Promise<ItemSet> {
    checkAll(items, "/items");
    const lines: string[] = [];
    for (let at = 0; at === 0 || at < items.length; at += SET_LINE) lines.push(toJson({items: items.slice(at, at + SET_LINE)}));
    return json(await this.caller.ask({name: "putSet", method: "PUT", path: ofSet(name), body: lines.join("\n"), contentType: "application/x-ndjson", timeout: options.timeout}), "count") as ItemSet;
  }

  /** Reads a set and a page of its ids; `limit`: 1,000 without, at most 10,000. */
  async getSet(name: string, options: {timeout?: number; limit?: number; cursor?: string} = {}): Promise<SetPage> {
    return (await this.read("getSet", ofSet(name), "items", options)) as SetPage;
  }

  /** Deletes a set: a filter that names it fails with "not_found" from then on, and so does this. */
  async deleteSet(name: string, options: {timeout?: number} = {}): Promise<void> {
    await this.call("DELETE", ofSet(name), undefined, options);
  }

  /** All sets by name, without their ids. */
  async sets(options: {timeout?: number} = {}): Promise<ItemSet[]> {
    return ((await this.read("sets", "/sets", "sets", options)) as {sets: ItemSet[]}).sets;
  }

  /** Reads how often the user met what belongs to groups of a kind: "author" asks for it and all "author:...", as events named them. */
  async counts(user: Id, of: string, options: CallOptions = {}): Promise<CountsPage> {
    const told = (await this.read("counts", ofUser(user, "/counts"), "counts", options, {of}, String(user))) as {counts: CountsPage["counts"]};
    return {more: false, degraded: false, missing: [], ...told};
  }

  /**
   * Promises to serve items as far as caps leave room, checked and counted in one step. A reservation counts as served until
   * `expiresMs` (a minute without) have passed, or an impression of the item takes its place. It is made `at` a time, the present
   * without, set before the first try: a second one counts once.
   */
  async reserve<C extends Id | Candidate>(user: Id, candidates: readonly C[], caps: readonly Cap[], options: CallOptions & {expiresMs?: number; at?: number | Date} = {}): Promise<Reserved<IdOf<C>>> {
    const body = toJson({
      user: check(user, "/user"), items: candidates.map(candidateOf), caps, expires_ms: options.expiresMs, at: Number(options.at ?? Date.now()), collection: options.collection,
    });
    const answer = await this.caller.ask({name: "reserve", method: "POST", path: "/reserve", user: String(user), body, contentType: "application/json", timeout: options.timeout});
    this.note(answer, [String(user)]);
    const told = json(answer, "reserved", "refused") as {reserved: unknown[]; refused: unknown[]}, given = givenBy(candidates.map((one) => idOf(one)));
    return {reserved: told.reserved.map(given), refused: told.refused.map(given)};
  }

  /** Makes these the fields that items may have. One whose name is missing is removed with its values. */
  async putItemSchema(fields: readonly ItemField[], options: {timeout?: number} = {}): Promise<void> {
    await this.call("PUT", "/items/schema", {fields}, options);
  }

  /** A malformed update is an error, and nothing is taken. Throws Refused where every one was refused. */
  async putItems(updates: readonly ItemUpdate[], options: {timeout?: number} = {}): Promise<Recorded> {
    return this.record("putItems", "/items", exactJson({items: updates.map(updateOf)}), undefined, [], options, false);
  }

  /** Reads items (1,000 at most), in their order, with these fields or all. Unknown ones are left out. */
  async getItems<T extends Id>(ids: readonly T[], options: {timeout?: number; fields?: readonly string[]} = {}): Promise<Item<T>[]> {
    const body = toJson({ids: checkAll(ids, "/ids"), fields: options.fields});
    const answer = await this.caller.ask({name: "getItems", method: "POST", path: "/items/get", body, contentType: "application/json", hedge: true, timeout: options.timeout});
    const {items} = parsed(answer, parseExact, ["items"]) as {items: Item[]}, given = givenBy(ids);
    return items.map((one) => ({...one, id: given(one.id)}));
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

  /** Where the player is in the items, of those that are in the history, by the item's text. */
  async lookUpHistory(user: Id, items: readonly Id[], options: CallOptions = {}): Promise<Map<string, Entry>> {
    const body = {items: checkAll(items, "/items"), collection: options.collection};
    const told = (await this.write("POST", user, "/history/lookup", body, options)) as {entries: (Entry | null)[]};
    return new Map(told.entries.flatMap((entry): [string, Entry][] => (entry === null ? [] : [[String(entry.item), entry]])));
  }

  /** `sameAs`: groups that may be recommended again with the items, where the policy says so of deleted ones. */
  async deleteHistory(user: Id, items: readonly Id[], options: CallOptions & {sameAs?: readonly string[]} = {}): Promise<void> {
    await this.write("POST", user, "/history/delete", {items: checkAll(items, "/items"), collection: options.collection, same_as: options.sameAs}, options);
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

  /** Everything held about a user: the last is of type "end". */
  async export(user: Id, options: CallOptions = {}): Promise<Record<string, unknown>[]> {
    const answer = await this.caller.ask({name: "export", method: "GET", path: ofUser(user, "/export"), user: String(user), timeout: options.timeout ?? 60_000});
    return answer.body.toString().split("\n").filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  private async write(method: string, user: Id, rest: string, body: unknown, options: CallOptions): Promise<unknown> {
    const answer = await this.caller.ask({
      method, path: ofUser(user, rest), user: String(user), timeout: options.timeout, hedge: method === "GET",
      ...(body === undefined ? {} : {body: toJson(body), contentType: "application/json"}),
    });
    this.note(answer, [String(user)]);
    return json(answer);
  }

  /** Names and policies. */
  async collections(options: CallOptions = {}): Promise<Record<string, unknown>[]> {
    return ((await this.call("GET", "/collections", undefined, options)) as {collections: Record<string, unknown>[]}).collections;
  }

  async putCollection(name: string, policy: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Record<string, unknown>> {
    return (await this.call("PUT", "/collections/" + encodeURIComponent(name), policy, options)) as Record<string, unknown>;
  }

  async deleteCollection(name: string, options: CallOptions = {}): Promise<void> {
    await this.call("DELETE", "/collections/" + encodeURIComponent(name) + "?confirm=" + encodeURIComponent(name), undefined, options);
  }
}

/** Ids as they were given. */
function givenBy<T extends Id>(ids: readonly T[]): (told: unknown) => T {
  const given = new Map(ids.map((id): [string, T] => [String(id), id]).reverse());
  return (told) => given.get(String(told)) ?? strange(told);
}

function strange(item: unknown): never {
  throw new SeenDBError("protocol", "the answer names what was not asked about: " + String(item).slice(0, 100));
}

function* both<T>(first: Iterable<T>, second: Iterator<T>): Generator<T, void, undefined> {
  yield* first;
  for (let next = second.next(); !next.done; next = second.next()) yield next.value;
}

const shareOf = (unseen: readonly unknown[], examined: number) => (examined > 0 ? unseen.length / examined : 1);

const ofSet = (name: string) => "/sets/" + encodeURIComponent(name);

const ofUser = (user: Id, rest: string) => "/users/" + encodeURIComponent(String(check(user, "/user"))) + rest;
