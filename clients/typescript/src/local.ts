import {Caller} from "./caller.js";
import {Filtered} from "./client.js";
import {Dump} from "./dump.js";
import {SeenDBError, refuse} from "./errors.js";
import {Candidate, IdOf, idOf} from "./events.js";
import {Id, check} from "./ids.js";
import {ItemHashKey, ItemKey} from "./item_key.js";

export interface LocalOptions {
  collection?: string;
  /** ms: an answer by an older dump has a new one asked for, behind it; 30,000 without; null: by refresh() alone. */
  refresh?: number | null;
  /** ms for which what was noted counts, whatever later dumps say: as long as the server may take to learn it; 600,000 without. */
  keep?: number;
  /** ms of a refresh. */
  timeout?: number;
  /** The answer of GET /admin/item-hash-key; without it is asked for, once a client. */
  key?: ItemHashKey;
}

const REFRESH_MS = 30_000, KEEP_MS = 600_000;
const AGAIN_MS = 1_000; // a refresh that failed is tried again, behind an answer, so much later
const NOTED_MOST = 100_000; // beyond it the oldest is forgotten

const now = () => performance.now(); // ms that no change of the clock moves

/**
 * Answers the plain question of Client.filter in this process, by a dump of the user's filter and by what was noted since.
 * Client.localFilter makes it.
 */
export class LocalFilter {
  /** Why the last refresh failed; null: it did not. */
  error: Error | null = null;
  private dump: Dump | null = null;
  private taken = 0;
  private tried = 0;
  private asking: Promise<void> | null = null;
  private readonly noted = new Map<number, number>(); // until when, the oldest first

  /** Without a dump yet. */
  constructor(private readonly caller: Pick<Caller, "ask">, private readonly user: Id, private readonly key: ItemKey, private readonly options: LocalOptions = {}) {}

  /** Asks for the dump: for the parts that differ. On failure the former one stays. Who calls meanwhile waits for the same answer. */
  refresh(): Promise<void> {
    this.asking ??= this.ask().finally(() => {
      this.asking = null;
    });
    return this.asking;
  }

  private async ask(): Promise<void> {
    try {
      const {dump: former, options: {collection, timeout}} = this;
      const answer = await this.caller.ask({
        name: "localFilter", method: "GET", path: "/users/" + encodeURIComponent(String(this.user)) + "/filter", user: String(this.user), timeout,
        query: collection === undefined ? {} : {collection}, headers: former === null ? {} : {"If-None-Match": former.etag},
      });
      const fresh = answer.status === 304 && former !== null ? former : new Dump(answer.body, former ?? undefined);
      if (fresh.keyId !== this.key.id || fresh.hashVersion !== this.key.version) {
        throw new SeenDBError("incompatible", "the dump's items are hashed by another key than the client has");
      }
      [this.dump, this.taken, this.error] = [fresh, now(), null];
    } catch (error) {
      this.error = error as Error;
      throw error;
    } finally {
      this.tried = now();
    }
  }

  private current(): Dump {
    if (this.dump === null) throw new SeenDBError("unavailable", "no dump has come yet");
    return this.dump;
  }

  /** How long ago, in ms, the server said that the dump is its state. */
  get age(): number {
    return now() - this.taken;
  }

  /** The dump lacks something: items may be called unseen that were seen. */
  get degraded(): boolean {
    return this.current().degraded;
  }

  /** These count as seen from now on: they were just served. */
  noteServed(items: readonly Id[]): void {
    this.note(items);
  }

  /** These count as seen from now on: they were just played. */
  notePlayed(items: readonly Id[]): void {
    this.note(items);
  }

  private note(items: readonly Id[]): void {
    const until = now() + (this.options.keep ?? KEEP_MS);
    const hashes = items.map((item, i) => this.key.of(check(item, "/items/" + i)));
    for (const hash of hashes) {
      this.noted.delete(hash); // the newest stands last
      this.noted.set(hash, until);
    }
    for (const [hash, end] of this.noted) {
      if (end > now() && this.noted.size <= NOTED_MOST) break;
      this.noted.delete(hash);
    }
  }

  /** Which of the items the user has not seen. It asks nothing of the server. `limit`: it stops once so many unseen ones are found. */
  filter<C extends Id | Candidate>(items: readonly C[], options: {limit?: number} = {}): Filtered<IdOf<C>> {
    for (const name of Object.keys(options)) {
      if (name !== "limit") throw refuse("/" + name, "the filter in this process can't answer it: ask the client");
    }
    const dump = this.current();
    if (this.isDue()) this.refresh().catch(() => undefined); // `error` tells
    const unseen: IdOf<C>[] = [], met = new Set<string>(), time = now();
    let seen = 0, examined = 0, undated = 0;
    for (const one of items) {
      if (options.limit !== undefined && unseen.length >= options.limit) break;
      const id = idOf(one);
      check(id, "/items/" + examined++);
      const text = String(id);
      if (met.has(text)) continue;
      met.add(text);
      const told = this.marked(dump, one, examined - 1);
      if (told.undated) ++undated;
      const hash = this.key.of(id);
      if (told.marked || dump.seen(hash) || (this.noted.get(hash) ?? time) > time) ++seen;
      else unseen.push(id);
    }
    return {
      unseen, seen, examined, unseenShare: examined > 0 ? unseen.length / examined : 1, degraded: dump.degraded, missing: [...dump.missing], excluded: 0,
      duplicates: examined - met.size, undated,
    };
  }

  private isDue(): boolean {
    const refresh = this.options.refresh === undefined ? REFRESH_MS : this.options.refresh;
    return refresh !== null && this.asking === null && this.age > refresh && now() - this.tried > Math.min(refresh, AGAIN_MS);
  }

  private marked(dump: Dump, one: Id | Candidate, at: number): {marked: boolean; undated: boolean} {
    if (typeof one !== "object") return {marked: false, undated: false};
    if (one.same_as !== undefined && one.same_as.length > 0) throw refuse("/items/" + at + "/same_as", "the filter in this process knows no such groups: ask the client");
    if (one.of === undefined) return {marked: false, undated: false};
    return dump.marked(one.of, one.at === undefined ? undefined : Number(one.at));
  }
}
