// User: what is held about one person, in words.

import * as api from "./api.js";
import {failure, field, h, id, note, quiet} from "./dom.js";
import {actions} from "./user_actions.js";
import {watched} from "./user_history.js";
import {pagedTable} from "./table.js";
import {bytes, chance, form, many, nothing, number, time} from "./words.js";

const MARKS_SHOWN = 1_000;

/** None where they may not be seen: they are of all collections. */
async function marksOf(user) {
  try {
    return await api.call("GET", api.user(user, "/marks?limit=" + MARKS_SHOWN));
  } catch (error) {
    if (error.status !== 403) throw error;
    return {marks: []};
  }
}

export async function userPage(page, query) {
  const name = h("input", {value: query.get("user") || "", required: true, autocomplete: "off",
    spellcheck: "false"});
  let names = [];
  try {
    names = (await api.collections()).map((one) => one.name);
  } catch (error) {
    if (error.status !== 403) throw error;
  }
  if (!page.isConnected) return;  // it was left meanwhile
  const wanted = query.get("collection") || "";
  const collection = h("select", {}, h("option", {value: ""}, "all"), names.map((one) =>
    h("option", {value: one, selected: one === wanted}, one)));
  const told = h("div", {"aria-live": "polite"}), said = h("div", {"aria-live": "polite"});
  const found = h("div", {});
  let turn = 0;
  const lookAt = async (user, only) => {
    const mine = ++turn, over = () => mine !== turn || !page.isConnected;
    const parts = new URLSearchParams({user});
    if (only) parts.set("collection", only);
    history.replaceState(null, "", "#/user?" + parts);
    // An erasure is told wherever the person is by then; another user's page stays as it is.
    const tell = (one) => (page.isConnected ? told.replaceChildren(one) : document.getElementById("main").prepend(one));
    const again = () => { if (!over()) lookAt(user, only); };
    try {
      const held = await api.call("GET", api.user(user, only ? "?" + new URLSearchParams({collection: only}) : ""));
      if (over()) return;
      const marks = held.marked_groups ? await marksOf(user) : {marks: []};
      if (over()) return;
      said.replaceChildren();
      found.replaceChildren(...partsOf(user, only, held, marks.marks, actions(user, tell, again)));
    } catch (error) {
      if (over()) return;
      said.replaceChildren();
      found.replaceChildren(failure(error));
    }
  };
  const look = (event) => {
    event.preventDefault();
    told.replaceChildren();
    said.replaceChildren(quiet("Asking ..."));
    lookAt(name.value, collection.value);
  };
  page.append(h("h1", {}, "What is known of a user?"),
    h("form", {class: "panel row", onsubmit: look}, field("User", name, "grow"), field("Collection", collection),
      h("button", {class: "main", type: "submit"}, "Look")),
    told, said, found);
  if (name.value) await lookAt(name.value, collection.value);
}

/** `held` in sentences; `only`: the collection that was chosen, if one was. */
function sentences(held, only) {
  const inMemory = held.ring.filter((one) => !one.drained);
  const sum = (list) => list.reduce((all, one) => all + one.items, 0);
  const served = held.impressions.reduce((all, list) => all + list.entries.length, 0);
  const items = sum(held.buckets) + sum(inMemory), kept = sum(held.history);
  const out = [];
  if (nothing(held)) {
    out.push("Nothing is held about this user.",
      "Is the id right? Upper and lower case count, and so do blanks." +
        (only ? " Other collections may have something: choose all." : ""));
  } else {
    const months = new Set([...held.buckets, ...inMemory].map((one) => one.collection + "/" + one.bucket));
    out.push("Watched: " + many(items, "item") + " in " + many(months.size, "bucket") +
      (sum(inMemory) ? ", " + number(sum(inMemory)) + " of them in memory still" : "") + ".",
    "Served lately: " + many(served, "item") + ".",
    ...(held.exposures || []).filter((list) => list.entries.length > 0).map((list) =>
      "On screen in " + list.collection + ": " + many(list.entries.length, "item") + "."),
    "On disk: " + many(held.buckets.length, "filter") + " of " + bytes(held.buckets.reduce((all, one) => all + one.bytes, 0)) +
      " on shard " + held.shard + ".");
    if (kept) out.push("The watch history has " + many(kept, "entry", "entries") + " on disk.");
  }
  if (held.marked_groups) out.push("Marked as seen: " + many(held.marked_groups, "group") + ", in all collections.");
  if (held.paused) out.push("The watch history is paused: plays do not enter it.");
  for (const [name, day] of Object.entries(held.last_active_day || {})) {
    out.push("Last active in " + name + " on " + day + ".");
  }
  for (const [name, at] of Object.entries(held.forgotten_at_ms || {})) {
    out.push("The filters of " + name + " were cleared at " + time(at) + " UTC.");
  }
  if (held.erased_at_ms) out.push("Erased: plays of before " + time(held.erased_at_ms) + " UTC are refused.");
  return out;
}

function partsOf(user, collection, held, marks, below) {
  held.history = held.history || [];
  const out = [h("h2", {class: "who"}, id(user)),
    h("ul", {class: "facts"}, sentences(held, collection).map((one) => h("li", {}, one)))];
  const unreadable = [...held.buckets, ...held.impressions, ...held.history].filter((one) =>
    !one.readable || one.damaged);
  if (unreadable.length > 0) {
    out.push(note("bad", "Not all could be read: ", [...new Set(unreadable.map((one) =>
      one.collection + (one.bucket ? "/" + one.bucket : "")))].join(", "), "."));
  }
  const isKnown = held.buckets.length + held.ring.length > 0;
  out.push(h("div", {}, h("a", {href: "#/try?" + new URLSearchParams({user, collection: collection || "default"})},
    "Try candidates for this user")), watched(user, collection, isKnown), ...servedPart(held), ...shownPart(held), ...marksPart(held, marks), ...filtersPart(held), ...below);
  return out;
}

function servedPart(held) {
  const served = held.impressions.flatMap((list) => list.entries.map((one) => [list.collection, one]))
    .sort(([, a], [, b]) => b.at_ms - a.at_ms);
  if (served.length === 0) return [];
  return [h("h2", {}, "Served lately"),
    pagedTable("Served lately", ["When (UTC)", "Collection", "Item"], served, ([collection, one]) =>
      [time(one.at_ms), collection, one.item ? id(one.item)
        : h("span", {class: "quiet"}, "fingerprint " + one.fingerprint)], 20),
    served.every(([, one]) => one.item) ? ""
      : quiet("Ids of served items are kept where the collection's policy says impression_ids.")];
}

function shownPart(held) {
  const shown = (held.exposures || []).flatMap((list) => list.entries.map((one) => [list.collection, one]))
    .sort(([, a], [, b]) => b.at_ms - a.at_ms);
  if (shown.length === 0) return [];
  return [h("h2", {}, "On screen lately"),
    pagedTable("On screen lately", ["When (UTC)", "Collection", "Where", "Item"], shown, ([collection, one]) =>
      [time(one.at_ms), collection, one.surface ? id(one.surface) : "", one.item ? id(one.item)
        : h("span", {class: "quiet"}, "fingerprint " + one.fingerprint)], 20)];
}

function marksPart(held, marks) {
  if (marks.length === 0) return [];
  return [h("h2", {}, "Marked as seen"),
    pagedTable("Marked as seen", ["Group", "Seen up to (UTC)", "Said (UTC)"], marks, (one) =>
      [id(one.group), one.until === "always" ? "always" : time(one.until), time(one.at)], 20),
    held.marked_groups > marks.length ? quiet("The first " + number(marks.length) + " of " + number(held.marked_groups) + ".") : ""];
}

function filtersPart(held) {
  const out = [];
  if (held.buckets.length > 0) {
    out.push(h("h2", {}, "Filters by bucket"),
      pagedTable("Filters by bucket", ["Collection", "Bucket", "Kept as", ["Items", "number"], ["Bytes", "number"],
        "False positives", "Layers, with their fill"], held.buckets, (one) =>
        [one.collection, one.bucket, form(one), number(one.items), bytes(one.bytes), chance(one),
          layersOf(one)]));
  }
  if (held.ring.length > 0) {
    out.push(h("h2", {}, "In memory"),
      pagedTable("In memory", ["Collection", "Bucket", ["Slot", "number"], ["Items", "number"], "State"], held.ring, (one) =>
        [one.collection, one.bucket, String(one.slot), number(one.items),
          one.drained ? "in the filter as well" : "waits for its merge into the filter"]));
  }
  return out;
}

function layersOf(bucket) {
  const layers = bucket.layers || [];
  if (layers.length === 0 && !bucket.dropped_layers) return "";
  const lost = bucket.dropped_layers ? [h("span", {class: "warn"}, " " + many(bucket.dropped_layers, "older layer") +
    " given up at the ceiling of bytes")] : [];
  return [layers.map((one) => h("span", {class: "layer"}, layerText(one))), lost];
}

const layerText = (layer) => bytes(layer.blocks * 64) + ", " + number(layer.items) + " of " +
  number(layer.capacity) + " items, " + Math.round(100 * layer.fill) + "% of its bits set";
