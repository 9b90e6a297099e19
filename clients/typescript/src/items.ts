import {Id, check} from "./ids.js";

/** A value of an item. Whole numbers that a number does not hold (2^53 and more) are bigints. */
export type ItemValue = boolean | number | bigint | string | readonly (number | bigint)[] | readonly string[];

/** A field that items may have. */
export interface ItemField {
  name: string;
  type: "bool" | "i64" | "f32" | "text" | "list_i64" | "list_text";
  column?: boolean;
}

/** Changes an item. Updates are free of order and harmless when repeated: each field keeps the value with the highest version. */
export interface ItemUpdate {
  id: Id;
  version: number | bigint;
  set?: Record<string, ItemValue>;
  unset?: readonly string[];
  /** Fields with lower versions go. */
  replace?: boolean;
  /** The item goes. */
  delete?: boolean;
  /** ms since 1970, or a Date. */
  expires_at?: number | Date;
}

/** An item as the server knows it. */
export interface Item<T extends Id = Id> {
  id: T;
  /** The highest that it was updated with. */
  version: number | bigint;
  fields: Record<string, ItemValue>;
}

/** The update as the server takes it; throws for what is no id. */
export function updateOf(update: ItemUpdate, index: number): unknown {
  const id = String(check(update.id, "/items/" + index + "/id"));
  return {...update, id, expires_at: update.expires_at === undefined ? undefined : Number(update.expires_at)};
}
