// The pages, by what stands behind '#' in the address.

import {setToken} from "./api.js";
import {collectionsPage} from "./collections.js";
import {clusterPage} from "./cluster.js";
import {failure, h} from "./dom.js";
import {ingestPage} from "./ingest.js";
import {migrationPage} from "./migration.js";
import {overview} from "./overview.js";
import {tryPage} from "./try.js";
import {userPage} from "./user.js";

const pages = {try: tryPage, user: userPage, overview, collections: collectionsPage, ingest: ingestPage,
  cluster: clusterPage, migration: migrationPage};
const main = document.getElementById("main");
const token = document.getElementById("token");
const state = document.getElementById("token-state");
let leave = null, turn = 0;

/** "#/try?user=u1" -> ["try", URLSearchParams]. */
function where() {
  const [, name, query] = /^#?\/?([^?]*)\??(.*)$/s.exec(location.hash);
  return [Object.hasOwn(pages, name) ? name : "try", new URLSearchParams(query)];
}

async function show() {
  const [name, query] = where(), mine = ++turn;
  if (leave) leave();
  leave = null;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === "#/" + name) {
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  document.title = name[0].toUpperCase() + name.slice(1) + " - SeenDB console";
  const page = h("div", {});
  main.replaceChildren(page);
  let done = null;
  try {
    done = await pages[name](page, query) || null;
  } catch (error) {
    page.append(h("h1", {}, "SeenDB console"), failure(error),
      h("button", {type: "button", onclick: show}, "Try again"));
  }
  if (mine === turn) leave = done;
  else if (done) done();  // another page was asked for meanwhile
}

document.getElementById("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(token.value);
  state.textContent = token.value.trim() ? "in use until this tab is closed" : "none";
  token.value = "";
  show();
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();  // what stands behind '#' is a page's
  main.focus();
});
addEventListener("tokenwanted", () => {
  state.textContent = "needed";
  token.focus();
});
addEventListener("hashchange", show);
show();
