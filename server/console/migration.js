// Migration: collections that move in from an old store. Administrators alone may see it, and end it.

import * as api from "./api.js";
import {lineCard, valueCard} from "./charts.js";
import {failure, field, h, id, note, quiet, saidOnce} from "./dom.js";
import {pagedTable} from "./table.js";
import {EVERY_MS, REPORTS_EVERY, asAdmin, watch} from "./watch.js";
import {bytes, many, number, percent, time} from "./words.js";

const EACH_MS = EVERY_MS * REPORTS_EVERY;
const KEPT = 60;  // points: ten minutes
const UNTIL = {
  old_store: "A filter request of a user who was not imported asks the old store, too.",
  degraded: "The answers to users who were not imported say that they are degraded.",
  ignore: "Users who were not imported get what SeenDB knows.",
};
const PHASES = {running: "runs", paused: "is paused: nobody is imported by the server itself, and nothing is compared",
  finished: "is finished: the old store is neither asked nor written any more"};

/** What stands before the end: [is it so?, then, else]. The server asks for the first four, too. */
function conditions(one) {
  return [
    [one.queue_bytes === 0, "No play waits for the old store", bytes(one.queue_bytes) + " of plays wait for the old store"],
    [one.affected_count === 0, "The old store lacks no play", "The old store lacks plays of " + many(one.affected_count, "user")],
    [one.import_queue === 0, "No user waits to be imported", many(one.import_queue, "user waits", "users wait") + " to be imported"],
    [one.everybody_imported || one.until_migrated === "ignore", "Everybody is known to be imported, or nobody need be",
      "No seendb redis import has read all keys to their end, so somebody may be missing"],
    [one.shadow_missing === 0, "No comparison found an item that is unseen here alone",
      "Comparisons found " + many(one.shadow_missing, "item") + " unseen here alone"],
  ];
}

function conditionList(one) {
  return h("ul", {class: "facts"}, conditions(one).map(([is, then, otherwise]) =>
    h("li", {}, h("strong", {class: is ? "good" : "warn"}, is ? "Yes: " : "Not yet: "), is ? then : otherwise, ".")));
}

const linked = (user) => h("a", {href: "#/user?" + new URLSearchParams({user})}, id(user));

function listed(caption, heads, list, rowOf) {
  return list.length === 0 ? [] : [h("h3", {class: "apart"}, caption), pagedTable(caption, heads, list, rowOf)];
}

const samples = (caption, list) => listed(caption, ["User", "Item", "Time by the old store (UTC)"], list, (one) =>
  [linked(one.user), id(one.item), one.at === undefined ? "" : time(one.at)]);

/** What the server names one by one: differences, users. */
const listsOf = (one) => [...samples("Seen by the old store, unseen here", one.missing_samples),
  ...samples("Seen here, not by the old store", one.extra_samples),
  ...listed("Users some of whose plays the old store lacks", ["User"], one.affected_users, (user) => [linked(user)])];

function wordsOf(one) {
  const more = one.phase === "finished" ? [] : [UNTIL[one.until_migrated] || "", " Old store: ", id(one.redis), ", keys ", id(one.key),
    one.dual_write ? ". Plays are written to both." : ". Plays are not written to it."];
  return [h("p", {}, "It " + (PHASES[one.phase] || one.phase) + ". ", more)];
}

/** A part of the page for a collection: `set(state)`. `change(path, body)` calls the server, and looks anew. */
function part(name, change) {
  const shown = cards(), words = h("div", {}), trouble = h("div", {}), ready = h("div", {}), lists = h("div", {});
  const sayWords = saidOnce(words), sayTrouble = saidOnce(trouble), sayReady = saidOnce(ready), sayLists = saidOnce(lists);
  const answer = h("div", {"aria-live": "polite"});
  const pause = h("button", {type: "button"}, "Pause");
  const typed = h("input", {autocomplete: "off", spellcheck: "false"});
  const finish = h("button", {type: "submit", class: "danger", disabled: true}, "Finish for good");
  let state = null, busy = false;
  const mayFinish = () => state !== null && !busy && typed.value === name && conditions(state).every(([is]) => is);
  const allow = () => { finish.disabled = !mayFinish(); };
  typed.addEventListener("input", allow);
  const doChange = (path) => async () => {
    busy = pause.disabled = true;
    allow();
    try {
      await change(path, {collection: name});
      answer.replaceChildren();
    } catch (error) {
      answer.replaceChildren(failure(error));
    }
    busy = pause.disabled = false;
    allow();
  };
  pause.addEventListener("click", () => doChange("/admin/migration/" + (state.phase === "paused" ? "resume" : "pause"))());
  const end = h("form", {class: "panel", onsubmit: (event) => {
    event.preventDefault();
    if (mayFinish()) doChange("/admin/migration/finish")();
  }}, h("h3", {}, "Finish"), quiet("For good: the old store is neither asked nor written any more, also after a restart. " +
    "Take migration out of the settings then. Before all of this is so, the tool alone ends it: seendb redis finish."), ready,
  h("div", {class: "row"}, field("To finish, type the collection's name", typed, "grow"), finish));
  const box = h("section", {}, h("h2", {class: "who"}, id(name)), words, trouble, h("div", {class: "cards"}, Object.values(shown)), lists,
    h("div", {class: "row"}, pause), end, answer);
  box.set = (one) => {
    state = one;
    fill(shown, one);
    pause.hidden = end.hidden = one.phase === "finished";
    pause.textContent = one.phase === "paused" ? "Resume" : "Pause";
    sayWords(JSON.stringify([one.phase, one.redis, one.key]), () => wordsOf(one));
    sayTrouble(JSON.stringify([one.problem, one.shadow_missing > 0, one.dropped]), () => problemsOf(one));
    sayReady(JSON.stringify(conditions(one)), () => [conditionList(one)]);
    sayLists(JSON.stringify([one.affected_users, one.missing_samples, one.extra_samples]), () => listsOf(one));
    allow();
  };
  return box;
}

const cards = () => ({
  imported: lineCard("Users imported", KEPT, EACH_MS), waiting: lineCard("Users who wait to be imported", KEPT, EACH_MS),
  queue: lineCard("Plays that wait for the old store", KEPT, EACH_MS),
  asked: valueCard("Questions to the old store without an answer"), written: valueCard("Plays written to the old store"),
  lacks: valueCard("Users some of whose plays it lacks"), compared: valueCard("Candidates compared"),
  missing: valueCard("Seen there, unseen here"), extra: valueCard("Seen here, not there"),
});

function fill(shown, one) {
  shown.imported.add(one.imported_users, number);
  shown.queue.add(one.queue_bytes, bytes);
  shown.waiting.add(one.import_queue, number);
  shown.asked.set(number(one.lookups_failed), "of " + many(one.lookups, "question"));
  shown.written.set(number(one.written), one.dual_write ? "" : "dual_write is off");
  shown.lacks.set(number(one.affected_count), number(one.not_written) + " plays");
  shown.compared.set(number(one.shadow_checked), many(one.shadow_skipped, "comparison") + " left out");
  shown.missing.set(number(one.shadow_missing), one.shadow_missing > 0 ? "must be 0" : "as it must be");
  shown.extra.set(number(one.shadow_extra), one.shadow_checked > 0 ? percent(one.shadow_extra / one.shadow_checked) : "");
}

function lostBy({queue_bytes: waiting, affected_users: users, import_queue: queue, not_everybody: some}) {
  return [waiting > 0 ? bytes(waiting) + " of plays for the old store" : "", users > 0 ? "plays of " + many(users, "user") + " there" : "",
    queue > 0 ? "the past of " + many(queue, "user") + " who waited" : "",
    some ? "maybe the past of others who were not imported" : ""].filter((text) => text !== "");
}

function problemsOf(one) {
  const out = [];
  if (one.problem) {
    out.push(note("bad", h("strong", {}, "The old store does not answer as it should: "), h("bdi", {}, one.problem),
      ". Filters of users who were not imported are degraded, and plays wait on the disk."));
  }
  if (one.shadow_missing > 0) {
    out.push(note("bad", "Items that the old store has seen are unseen here. Do not finish before it is known why; the list below has some."));
  }
  if (one.dropped) {
    const lost = lostBy(one.dropped);
    out.push(lost.length > 0 ? note("warn", "When it was finished this was lost: " + lost.join(", ") + ".")
      : note("fine", "Nothing was lost when it was finished."));
  }
  return out;
}

export async function migrationPage(page) {
  const trouble = h("div", {}), top = h("div", {}), say = saidOnce(top), box = h("div", {}), parts = new Map();
  page.append(h("h1", {}, "Moving in from an old store"), trouble, top, box);
  let admin = true;
  const show = ({collections}) => {
    const node = collections.some((one) => one.phase !== "finished" && one.notes === "");  // as the API has it in a cluster
    say(collections.length + "/" + node, () => (collections.length === 0 ? [note("", "Nothing moves in: the settings have no migration.")]
      : node ? [quiet("Each node of a cluster speaks for itself here, and is paused and finished by itself: ask every node.")] : []));
    for (const one of collections) {
      if (!parts.has(one.collection)) {
        parts.set(one.collection, part(one.collection, async (path, body) => show(await api.call("POST", path, body))));
        box.append(parts.get(one.collection));
      }
      parts.get(one.collection).set(one);
    }
  };
  return watch(trouble, async (looks) => {
    if (!admin || looks % REPORTS_EVERY !== 0) return;
    const state = await asAdmin(() => api.call("GET", "/admin/migration"));
    admin = state !== null;
    if (!page.isConnected) return;
    if (admin) show(state);
    else say("refused", () => [note("", "Migrations are shown to a token of the role admin.")]);
  });
}
