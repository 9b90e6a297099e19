// Tables, in pages where they may be long.

import {h} from "./dom.js";
import {number} from "./words.js";

const kind = (head) => (Array.isArray(head) ? head[1] : null);

const name = (head) => (Array.isArray(head) ? head[0] : head);

// The roles are said since a narrow window shows rows as blocks, which would end them.
const cells = (heads, rows, empty) => rows.map((row) => h("tr", {role: "row"}, row.map((cell, at) =>
  h("td", {role: "cell", class: kind(heads[at]), "data-head": name(heads[at]), hidden: empty[at]}, cell))));

/** A table of rows (lists of cells). A head is a text, or [text, class of its column]. A column in
 * which no row says anything is not shown. */
export function table(caption, heads, rows) {
  const titles = heads.map((head) =>
    h("th", {scope: "col", role: "columnheader", class: kind(head)}, name(head)));
  const body = h("tbody", {role: "rowgroup"});
  const box = h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    h("table", {role: "table"}, h("thead", {role: "rowgroup"}, h("tr", {role: "row"}, titles)), body));
  box.fill = (some) => {
    const empty = heads.map((_, at) => some.length > 0 && some.every((row) => row[at] === ""));
    titles.forEach((title, at) => { title.hidden = empty[at]; });
    body.replaceChildren(...cells(heads, some, empty));
  };
  box.fill(rows);
  return box;
}

/** What shows `size` of many: `draw(those)` is called for the page that is looked at. */
export function pager(name, size, draw) {
  let all = [], page = 0;
  const said = h("span", {class: "quiet"});
  const turn = (by) => () => {
    page += by;
    show();
  };
  const back = h("button", {type: "button", class: "small", onclick: turn(-1)}, "Previous");
  const on = h("button", {type: "button", class: "small", onclick: turn(1)}, "Next");
  const bar = h("div", {class: "pager", role: "group", "aria-label": "Pages of " + name}, back, said, on);
  const show = () => {
    page = Math.max(0, Math.min(page, Math.ceil(all.length / size) - 1));
    const first = page * size, some = all.slice(first, first + size);
    bar.hidden = all.length <= size;
    said.textContent = number(first + 1) + " to " + number(first + some.length) + " of " + number(all.length);
    back.disabled = page === 0;
    on.disabled = first + size >= all.length;
    draw(some);
  };
  bar.set = (list) => {
    all = list;
    show();
  };
  return bar;
}

/** A table in pages: `rowOf` makes the cells of an entry when its page is shown. */
export function pagedTable(caption, heads, entries, rowOf, size = 50) {
  const box = table(caption, heads, []);
  const bar = pager(caption, size, (some) => box.fill(some.map(rowOf)));
  bar.set(entries);
  return h("div", {class: "paged"}, box, bar);
}

/** The same, whose entries come later and change: `set(entries)`. */
export function liveTable(caption, heads, rowOf, size = 50) {
  const all = pagedTable(caption, heads, [], rowOf, size);
  all.set = (entries) => all.lastChild.set(entries);
  return all;
}
