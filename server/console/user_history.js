// A user's watch history: pages as they are asked for, and a search.

import * as api from "./api.js";
import {failure, field, h, id, note, quiet} from "./dom.js";
import {liveTable} from "./table.js";
import {number, time} from "./words.js";

const SHOWN = 20;  // of a page of the table
const PAGE = 100;
const LARGE = 1_000;  // entries of a page while all are read for a search
const MOST = 10_000;  // entries held here

const HEADS = ["Watched (UTC)", "Collection", "Title", "Item", "Player", "Device", "Also said"];

const clock = (s) => Math.floor(s / 60) + ":" + String(s % 60).padStart(2, "0");

function player(entry) {
  if (entry.progress_s === -1) return "finished";
  const of = entry.duration_s ? " of " + clock(entry.duration_s) : "";
  return entry.progress_s ? "at " + clock(entry.progress_s) + of : of ? clock(entry.duration_s) + " long" : "";
}

function rowOf(entry) {
  const {title, name, ...more} = entry.fields || {};
  const called = title ?? name;
  const also = called === undefined || title === undefined ? more : {...more, ...(name === undefined ? {} : {name})};
  return [time(entry.at), entry.collection, called === undefined ? "" : h("bdi", {}, String(called)), id(entry.item),
    player(entry), entry.device ? h("bdi", {}, entry.device) : "",
    Object.keys(also).length ? id(JSON.stringify(also)) : ""];
}

const textOf = (entry) =>
  [entry.item, entry.collection, entry.device, JSON.stringify(entry.fields || {})].join(" ").toLowerCase();

/** `isKnown`: the filters have plays of the user, which the history may lack. */
export function watched(user, collection, isKnown) {
  const entries = [];
  let cursor = null, sought = "", busy = false;
  const search = h("input", {type: "search", autocomplete: "off", spellcheck: "false"});
  const more = h("button", {type: "button", class: "small"}, "Read more");
  const said = h("p", {class: "quiet", role: "status"});
  const notes = h("div", {}), failed = h("div", {});
  const rows = liveTable("Watch history", HEADS, rowOf, SHOWN);
  const draw = () => {
    const shown = sought === "" ? entries : entries.filter((one) => textOf(one).includes(sought));
    rows.set(shown);
    said.textContent = (sought === "" ? "" : number(shown.length) + " of ") + number(entries.length) +
      (cursor ? " newest entries read" : " entries, which is all") +
      (sought !== "" && cursor ? "; Enter reads the older ones as well" : "");
    more.hidden = cursor === null || entries.length >= MOST;
  };
  const read = async (limit) => {
    const query = new URLSearchParams({limit});
    if (collection) query.set("collection", collection);
    if (cursor) query.set("cursor", cursor);
    const page = await api.call("GET", api.user(user, "/history?" + query));
    cursor = page.kept === false ? null : page.cursor || null;
    if (page.kept === false) return part.replaceChildren(title(), quiet("No watch history is kept here.", unlisted()));
    entries.push(...page.entries);
    if (entries.length === 0 && cursor === null && !page.degraded) {
      return part.replaceChildren(title(), quiet("The watch history has no entry.", unlisted()));
    }
    if (page.degraded) {
      notes.replaceChildren(note("warn", "Entries may be missing: the server could not read ",
        (page.missing || []).join(", ")));
    }
    draw();
  };
  const unlisted = () => (isKnown ? [" What was watched is in filters alone, which answer for an item and list none: ",
    h("a", {href: "#/try?" + new URLSearchParams({user, collection: collection || "default"})}, "try one"),
    ". A collection keeps a list if its policy says history.enabled."] : null);
  const guarded = async (work) => {
    if (busy) return;  // two at once would read with one cursor
    busy = more.disabled = true;
    failed.replaceChildren();
    try {
      await work();
    } catch (error) {
      failed.replaceChildren(failure(error));
    }
    busy = more.disabled = false;
  };
  const readAll = () => guarded(async () => {
    while (part.isConnected && cursor && entries.length < MOST) await read(LARGE);
  });
  search.addEventListener("input", () => {
    sought = search.value.trim().toLowerCase();
    draw();
  });
  more.addEventListener("click", () => guarded(() => read(PAGE)));
  const form = h("form", {class: "row", onsubmit: (event) => {
    event.preventDefault();
    readAll();
  }}, field("Search titles, ids, devices", search, "grow"));
  const title = () => h("h2", {}, "Watched, newest first");
  const part = h("section", {}, title(), form, said, notes, failed, rows, more);
  guarded(() => read(PAGE));
  return part;
}
