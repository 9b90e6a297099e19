// Collections: their policies explained and changed, and what that costs.

import * as api from "./api.js";
import {failure, field, h, id, note, quiet} from "./dom.js";
import {cost} from "./sizing.js";
import {pagedTable, table} from "./table.js";
import {bytes, number, percent} from "./words.js";

// [name, how it is typed, what it says]. `fixed`: can't change once the collection holds something.
const FIELDS = [
  ["bucket", "text", "How time is cut: month, or days:N.", "fixed"],
  ["window", "number", "Buckets that a filter request reads.", "fixed"],
  ["retention", "number", "Buckets that are kept. Fewer: the oldest are dropped, for good."],
  ["fpr", "number", "The share of unseen items that may falsely be called seen, over the whole window.", "fixed"],
  ["representation", ["bloom", "exact"], "Bloom filters, or exact lists of 6 bytes per item.", "fixed"],
  ["impressions", "number", "The newest served items that are kept per user."],
  ["max_filter_bytes", "number", "The most bytes of one user's filter of one bucket. Beyond it older items may be forgotten."],
  ["durability", ["sync", "interval", "none"], "What an acknowledged play survives besides a killed process: a power cut, most of one, or less."],
  ["max_future", "text", "Plays later than now and this are refused."],
  ["utc_offset", "text", "Shifts the edges of days and buckets.", "fixed"],
  ["served_is_seen", "switch", "A served item counts as watched."],
  ["first_of_day", "switch", "Answers say whether a play is its user's first of the day."],
  ["impression_ids", "switch", "Served items keep their ids, and not a fingerprint alone."],
  ["history.enabled", "switch", "A watch history is kept."],
  ["history.days", "number", "Days that the history goes back."],
  ["history.max_entries", "number", "Entries of the history per user."],
];

const OFF = {enabled: false, days: 90, max_entries: 10_000};
const get = (policy, name) => {
  const [outer, inner] = name.split(".");
  if (inner) return (policy.history || OFF)[inner] ?? OFF[inner];
  return policy[outer] ?? false;
};

export async function collectionsPage(page, query) {
  const known = await api.collections();
  const name = query.get("collection");
  page.append(h("h1", {}, "Collections and their rules"));
  const chosen = known.find((one) => one.name === name);
  if (name && !chosen) page.append(note("bad", "There is no collection ", id(name), "."));
  if (chosen) return onePage(page, chosen);
  page.append(pagedTable("Collections", ["Collection", "Buckets", ["Window", "number"], ["Kept", "number"],
    ["False positives", "number"], "Kept as", "History"], known, (one) => [
    h("a", {href: "#/collections?" + new URLSearchParams({collection: one.name})}, one.name), one.bucket,
    number(one.window), number(one.retention), "at most " + percent(one.fpr), one.representation,
    one.history && one.history.enabled ? one.history.days + " days" : "none"]));
  return null;
}

function onePage(page, policy) {
  const controls = new Map();
  const grid = h("div", {class: "grid"}, FIELDS.map(([name, kind, says, fixed]) => {
    const control = controlOf(kind, get(policy, name));
    controls.set(name, control);
    const labelled = field(name, control, kind === "switch" ? "check" : "");
    labelled.append(h("span", {class: "quiet"}, says, fixed ? " Fixed once the collection holds something." : ""));
    return labelled;
  }));
  const typed = () => {
    const out = {...policy, history: {...OFF, ...policy.history}};
    for (const [name, kind] of FIELDS) {
      const [outer, inner] = name.split("."), control = controls.get(name);
      const value = kind === "switch" ? control.checked : kind === "number" ? Number(control.value) : control.value;
      if (inner) out.history[inner] = value;
      else out[outer] = value;
    }
    return out;
  };
  const said = h("div", {"aria-live": "polite"});
  const review = (event) => {
    event.preventDefault();
    const wanted = typed();
    const changed = FIELDS.map(([name]) => name).filter((name) => get(wanted, name) !== get(policy, name));
    said.replaceChildren(changed.length === 0 ? note("", "Nothing is changed.")
      : confirmation(policy, wanted, changed, said));
  };
  page.append(h("p", {}, h("a", {href: "#/collections"}, "All collections")), h("h2", {class: "who"}, policy.name),
    h("form", {class: "panel", onsubmit: review}, grid,
      h("div", {class: "row"}, h("button", {type: "submit", class: "main"}, "Review the change"))),
    said, ...costPart(policy, typed, controls));
  return null;
}

function controlOf(kind, value) {
  if (kind === "switch") return h("input", {type: "checkbox", checked: value === true});
  if (Array.isArray(kind)) return h("select", {}, kind.map((one) => h("option", {value: one, selected: one === value}, one)));
  return h("input", {type: kind, step: "any", value: String(value), required: true, autocomplete: "off"});
}

function confirmation(policy, wanted, changed, said) {
  const patch = {};
  for (const name of changed) {
    const [outer, inner] = name.split(".");
    if (inner) (patch.history ??= {})[inner] = get(wanted, name);
    else patch[outer] = get(wanted, name);
  }
  const save = async () => {
    try {
      await api.call("PUT", "/collections/" + encodeURIComponent(policy.name), patch);
      Object.assign(policy, patch, patch.history ? {history: {...OFF, ...policy.history, ...patch.history}} : {});
      said.replaceChildren(note("fine", "Changed."));
    } catch (error) {
      said.replaceChildren(failure(error));
    }
  };
  const fewer = wanted.retention < policy.retention
    ? h("p", {}, h("strong", {}, "Buckets beyond the newest " + wanted.retention + " are dropped, for good.")) : null;
  return h("div", {class: "note warn"}, h("ul", {class: "facts"}, changed.map((name) =>
    h("li", {}, name, ": ", String(get(policy, name)), " becomes ", String(get(wanted, name))))), fewer,
  h("button", {type: "button", class: "main", onclick: save}, "Change it"), " ",
  h("button", {type: "button", onclick: () => said.replaceChildren()}, "Leave it"));
}

/** The formulas, for the policy as it is and as it is typed. */
function costPart(policy, typed, controls) {
  const items = h("input", {type: "number", min: "1", max: "130000", value: "500"});
  const users = h("input", {type: "number", min: "1", value: "1000000"});
  const rows = table("Cost of the filters", ["Cost of", ["As it is", "number"], ["As typed above", "number"]], []);
  const draw = () => {
    const count = Math.min(130_000, Math.max(1, Number(items.value) || 1)), all = Math.max(1, Number(users.value) || 1);
    const wanted = typed();
    const sane = wanted.fpr > 0 && wanted.fpr <= 0.5 && wanted.window >= 1 && wanted.retention >= wanted.window;
    const now = cost(policy, count, all), then = sane ? cost(wanted, count, all) : null;
    const row = (name, textOf) => [name, textOf(now), then ? textOf(then) : "-"];
    rows.fill([
      row("A sealed bucket of one user", (one) => bytes(one.bucket)),
      row("All buckets of one user", (one) => bytes(one.user)),
      row("All users, with what they were served", (one) => bytes(one.all)),
      row("False positives over the window", (one) => one.fpr === 0 ? "next to none" : percent(one.fpr)),
    ]);
  };
  for (const control of [items, users, ...controls.values()]) control.addEventListener("input", draw);
  draw();
  return [h("h2", {}, "What the filters cost"),
    h("div", {class: "row"}, field("Different items of a user in a bucket", items), field("Users", users)), rows,
    quiet("By the formulas of engine/doc/sizing.md: closed buckets sealed, the present one full, steady users; without " +
      "keys, history and copies. Old buckets keep the size they have until they are dropped.")];
}
