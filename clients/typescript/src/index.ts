export {Client} from "./client.js";
export type {CallOptions, Entry, Filtered, FilterOptions, HistoryPage, PageOptions, Play, WhenDegraded} from "./client.js";
export type {Options} from "./caller.js";
export {Refused, SeenDBError} from "./errors.js";
export type {Recorded, Refusal} from "./errors.js";
export type {Id} from "./ids.js";
