import {Id, check} from "./ids.js";

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
  /** Groups that the item belongs to, by which the play is counted. */
  of?: readonly string[];
  /** Groups that are one with the item for the user ("src:9"): they are seen with it. At most 16 together with `of`. */
  same_as?: readonly string[];
}

/** An item that really was on a user's screen; its time is as a play's. */
export interface Exposure {
  user: Id;
  item: Id;
  at?: number | Date;
  /** Where, such as "home". */
  surface?: string;
  /** As of a play. */
  of?: readonly string[];
  same_as?: readonly string[];
}

/** As the server takes it; `index`: the how many-th it is, for errors. */
export function eventOf<E extends Play | Exposure>(event: E, index: number, now: number): E & {at: number} {
  check(event.user, "/events/" + index + "/user");
  check(event.item, "/events/" + index + "/item");
  return {...event, at: event.at === undefined ? now : Number(event.at)};
}

/** An item and its groups, at most 16 together. It comes back as its id. */
export interface Candidate<T extends Id = Id> {
  id: T;
  /** Those that it belongs to ("channel:9"), for marks, counts and caps. */
  of?: readonly string[];
  /** Those that are one with it for the user ("src:9"): it is seen if something of them is. */
  same_as?: readonly string[];
  /** When it was published: ms since 1970, or a Date. Without it only a mark for ever makes it seen. */
  at?: number | Date;
}

/** The id of a candidate. */
export type IdOf<C extends Id | Candidate> = C extends Id ? C : C extends Candidate<infer T> ? T : never;

const isGrouped = (one: Id | Candidate): one is Candidate => typeof one === "object" && one !== null;

export const idOf = <C extends Id | Candidate>(one: C): IdOf<C> => (isGrouped(one) ? one.id : one) as IdOf<C>;

/** The candidate as the server takes it, with ids as text; throws for what is no id. */
export function candidateOf(one: Id | Candidate, index: number): unknown {
  const field = "/items/" + index;
  if (!isGrouped(one)) return String(check(one, field));
  return {...one, id: String(check(one.id, field + "/id")), at: one.at === undefined ? undefined : Number(one.at)};
}

/** The candidate as impressions have it: without its time. */
export function servedOf(one: Id | Candidate, index: number): unknown {
  return candidateOf(isGrouped(one) ? {id: one.id, of: one.of, same_as: one.same_as} : one, index);
}

/** Says what makes an item seen: one event has to meet all of it. */
export interface NotEntry {
  fact: "played" | "served" | "exposed";
  /** In so many newest buckets. */
  window?: number;
  /** Not longer ago: "7d", "10m". */
  within?: string;
  /** Among so many newest entries. */
  last?: number;
  surface?: string;
}

/** At most `n` events ("served" without a fact) of each group of a kind ("author") within a span ("1m" to "30d"). */
export interface Cap {
  of: string;
  n: number;
  within: string;
  fact?: NotEntry["fact"];
}

/** Where fewer than `need` are unseen, up to `max` seen candidates come back that were last seen at least `gap` ago ("14d"). */
export interface WhenShort {
  need: number;
  gap: string;
  max: number;
}
