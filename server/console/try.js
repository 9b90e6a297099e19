// Try: which candidates a user has not seen, and why.

import * as api from "./api.js";
import {curlOf, pythonOf} from "./commands.js";
import {copyable, failure, field, h, id, note, quiet} from "./dom.js";
import {explain, unseenToo} from "./reasons.js";
import {pagedTable, table} from "./table.js";
import {chance, form, many, nothing, number} from "./words.js";

const MOST = 10_000;  // candidates of one request
const LONGEST_LINK = 32_000;  // characters: longer ones get lost on their way

/** The id of a candidate, which is an id or {"id","of","at"}. */
const idOf = (candidate) => (typeof candidate === "object" && candidate !== null ? candidate.id : candidate);

/** One a line, or JSON's array. */
function candidatesOf(text) {
  const trimmed = text.trim();
  let found;
  if (trimmed.startsWith("[")) {
    try {
      found = api.parse(trimmed);
    } catch (error) {
      throw new api.Refused(0, "invalid_argument", "the candidates begin like a JSON array and are none: " +
        error.message);
    }
  } else {
    found = trimmed.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "");
  }
  if (found.length <= MOST) return found;
  throw new api.Refused(0, "too_large", number(found.length) + " candidates; the console takes " + number(MOST));
}

/** The candidates in a link: by line where that can be read back. */
const linkOf = (request, items) => {
  const parts = new URLSearchParams({user: request.user, collection: request.collection, items});
  if (request.limit) parts.set("limit", request.limit);
  if (request.verify) parts.set("verify", "true");
  const link = "#/try?" + parts;
  return link.length <= LONGEST_LINK ? link : null;
};

export async function tryPage(page, query) {
  const known = await api.collections();
  if (!page.isConnected) return;  // it was left meanwhile
  const wanted = query.get("collection") || "default";
  const names = known.map((one) => one.name);
  if (!names.includes(wanted) && query.has("collection")) names.unshift(wanted);
  const user = h("input", {value: query.get("user") || "", required: true, autocomplete: "off",
    spellcheck: "false"});
  const collection = h("select", {}, names.map((name) =>
    h("option", {value: name, selected: name === wanted}, name)));
  const limit = h("input", {type: "number", min: "1", value: query.get("limit") || "", placeholder: "all"});
  const verify = h("input", {type: "checkbox", checked: query.get("verify") === "true"});
  const items = h("textarea", {spellcheck: "false", required: true, rows: "8",
    placeholder: 'One id a line, or a JSON array: ["v1", {"id": "v2", "of": ["channel:9"], "at": 1763812800000}]'});
  items.value = query.get("items") || "";
  const said = h("p", {class: "said", role: "status"});
  const found = h("div", {});
  let turn = 0;

  const run = async (event) => {
    if (event) event.preventDefault();
    const mine = ++turn, over = () => mine !== turn || !page.isConnected;
    said.textContent = "Asking ...";
    try {
      const candidates = candidatesOf(items.value);
      const request = {user: user.value, items: candidates, collection: collection.value, explain: true};
      if (limit.value) request.limit = Number(limit.value);
      if (verify.checked) request.verify = true;
      const link = linkOf(request, items.value);
      if (link) history.replaceState(null, "", link);
      const began = performance.now();
      const answer = await api.call("POST", "/filter", request);
      const took = performance.now() - began;
      if (over()) return;
      const held = await heldOf(request.user, request.collection);
      if (over()) return;
      said.replaceChildren(...headline(answer, request, took));
      found.replaceChildren(...result(request, answer, held, link,
        known.find((one) => one.name === request.collection)));
    } catch (error) {
      if (over()) return;
      said.textContent = "";
      found.replaceChildren(failure(error));
    }
  };
  items.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
  });

  page.append(h("h1", {}, "What has a user not seen?"),
    h("form", {class: "panel", onsubmit: run},
      h("div", {class: "row"}, field("User", user, "grow"), field("Collection", collection),
        field("Stop at so many unseen", limit, "short"), field("Look plays up in the history", verify, "check")),
      field("Candidates", items),
      h("div", {class: "row"}, h("button", {class: "main", type: "submit"}, "Run"),
        h("span", {class: "quiet"}, "Ctrl+Enter runs too. Nothing is recorded."))),
    said, found);
  if (query.get("user") && query.get("items")) await run();
}

/** The user's filters by bucket; none where they may not be seen. */
async function heldOf(user, collection) {
  try {
    const held = await api.call("GET", api.user(user) + "?collection=" + encodeURIComponent(collection));
    return {known: true, nothing: nothing(held), buckets: new Map(held.buckets.map((one) => [one.bucket, one]))};
  } catch {
    return {known: false, buckets: new Map()};
  }
}

function headline(answer, request, took) {
  const parts = [number(answer.examined) + " of " + many(request.items.length, "candidate") + " examined"];
  if (answer.duplicates) parts.push(number(answer.duplicates) + " came again");
  if (answer.undated) parts.push(many(answer.undated, "candidate") + " without the time that a mark asks for");
  if (request.verify) parts.push(number(answer.refuted) + " false positives found");
  return [h("strong", {}, number(answer.unseen.length) + " unseen, " + number(answer.seen) + " seen"), " by ",
    id(request.user), " in ", id(request.collection),
    h("span", {class: "quiet"}, ": " + parts.join(", ") + "; answered in " + took.toFixed(1) + " ms")];
}

/** [candidate, verdict, reason, filter] of each, in the order of the request. */
function verdicts(request, answer, held) {
  const unseen = new Set(answer.unseen.map(String)), met = new Set(), reasons = answer.reasons || {};
  return request.items.map((item) => {
    const text = String(idOf(item)), reason = Object.hasOwn(reasons, text) ? reasons[text] : undefined;
    const [, bucket] = explain(reason);
    const verdict = met.has(text) ? "came before" : unseen.has(text) ? "unseen"
      : reason !== undefined ? "seen" : "not examined";
    const again = met.has(text);
    met.add(text);
    return [text, verdict, again ? undefined : reason, again ? undefined : held.buckets.get(bucket)];
  });
}

function rowOf([text, verdict, reason, filter]) {
  const wrong = filter ? chance(filter)
    : reason === "ring" || reason === "impression" || reason === "exposed" ? "next to none"
      : reason && reason.startsWith("mark:") ? "none" : "";
  return [id(text), h("span", {class: "verdict " + verdict.split(" ")[0]}, verdict), explain(reason)[0],
    filter ? form(filter) + ", " + many(filter.items, "item") : "", wrong];
}

function result(request, answer, held, link, policy) {
  const who = new URLSearchParams({user: request.user, ...(held.nothing ? {} : {collection: request.collection})});
  const out = [h("div", {}, h("a", {href: "#/user?" + who}, "What is known of this user"))];
  if (held.nothing && answer.seen === 0) {
    out.push(note("warn", "Nothing is held about ", id(request.user), " in ", id(request.collection),
      ", so every candidate is unseen. Is the id right? Upper and lower case count, and so do blanks. Another collection may have something."));
  }
  if (answer.degraded) {
    out.push(note("warn", "Degraded: the server could not read ", (answer.missing || []).join(", "),
      ". Items may be called unseen that were seen."));
  }
  out.push(pagedTable("Candidates", ["Candidate", "Verdict", "Why", "Filter", "Chance of error"],
    verdicts(request, answer, held), rowOf));
  if (!held.known) out.push(quiet("The filters themselves may not be looked at with this token."));
  if (policy && policy.window > 1 && !answer.degraded && !request.limit) {
    out.push(...windows(answer, policy));
  }
  out.push(h("h2", {}, "The same elsewhere"));
  out.push(h("p", {}, link ? [h("a", {href: link}, "A link to this request"),
    h("span", {class: "quiet"}, " It holds user and candidates behind the #, which no browser sends, and never the token.")]
    : quiet("The request is too long for a link.")));
  out.push(copyable("In a shell", curlOf(location.origin, request, api.hasToken())),
    copyable("In Python", pythonOf(location.origin, request, api.hasToken())));
  return out;
}

function windows(answer, policy) {
  const unit = policy.bucket === "month" ? ["month"] : ["bucket of " + policy.bucket.split(":")[1] + " days",
    "buckets of " + policy.bucket.split(":")[1] + " days"];
  const choices = [...Array(policy.window).keys()].map((at) => policy.window - at);
  return [h("h2", {}, "With a shorter window"),
    quiet("The collection's window is " + many(policy.window, ...unit) +
      ". What is in memory still, and what was served, counts with every window."),
    table("Unseen by window", ["Window", ["Unseen", "number"], "Unseen as well"], choices.map((window) => {
      const more = unseenToo(answer, policy, window, Date.now());
      const shown = more.slice(0, 10).flatMap((item) => [id(item), " "]);
      return [many(window, ...unit), number(answer.unseen.length + more.length),
        more.length === 0 ? "" : [shown, more.length > 10 ? "and " + number(more.length - 10) + " more" : null]];
    }))];
}
