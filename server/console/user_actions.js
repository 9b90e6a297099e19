// What may be done about a user: take everything out, erase.

import * as api from "./api.js";
import {failure, field, h, id, note, quiet} from "./dom.js";
import {time} from "./words.js";

/** Hands the text to the person as a file. */
function save(text, name) {
  const url = URL.createObjectURL(new Blob([text], {type: "application/x-ndjson"}));
  h("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

/** `tell` shows a note where this part is gone; `again` looks at the user anew. */
export function actions(user, tell, again) {
  const said = h("div", {"aria-live": "polite"});
  const doExport = async () => {
    said.replaceChildren(quiet("Reading ..."));
    try {
      const text = await api.text(api.user(user, "/export"));
      const last = text.trimEnd().split("\n").at(-1);
      if (JSON.parse(last).type !== "end") throw new api.Refused(0, "incomplete", "the export broke off: " + last);
      save(text, "user.ndjson");
      said.replaceChildren(note("", "Exported: user.ndjson is among the downloads."));
    } catch (error) {
      said.replaceChildren(failure(error));
    }
  };
  const typed = h("input", {autocomplete: "off", spellcheck: "false"});
  const erase = h("button", {type: "submit", class: "danger", disabled: true}, "Erase for good");
  typed.addEventListener("input", () => { erase.disabled = typed.value !== user; });
  const doErase = async (event) => {
    event.preventDefault();
    if (typed.value !== user) return;
    erase.disabled = true;
    try {
      const answer = await api.call("DELETE", api.user(user));
      tell(note("", id(user), ": ", !answer.known ? "Nothing was held about this user."
        : "Erased. Plays of before " + time(answer.until_ms) + " UTC are refused from now on. " +
          "Checkpoints and other copies are not reached."));
      again();
    } catch (error) {
      const refused = failure(error);
      refused.prepend("Erasing ", id(user), ": ");
      if (said.isConnected) said.replaceChildren(refused);
      else tell(refused);
      erase.disabled = typed.value !== user;
    }
  };
  return [h("h2", {}, "Take out, or forget"),
    h("div", {class: "row"}, h("button", {type: "button", onclick: doExport}, "Export everything"),
      h("span", {class: "quiet"}, "All collections, as NDJSON.")),
    h("form", {class: "row", id: "erase", onsubmit: doErase},
      field("To erase all about this user, type the id", typed, "grow"), erase), said];
}
