// Elements of text alone: nothing that a server says is ever read as HTML.

/** An element: attributes, listeners ("onclick"), children (texts, elements, lists, nothing). */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined));
  return element;
}

/** The same of an SVG. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat(Infinity));
  return element;
}

/** An id, whatever direction it is written in, and whatever it would like to be. */
export function id(text) {
  return h("bdi", {class: "id"}, String(text));
}

let fields = 0;

/** A labelled control. */
export function field(label, control, kind = "") {
  control.id = "f" + ++fields;
  return h("div", {class: "field " + kind}, h("label", {for: control.id}, label), control);
}

/** A message; a screen reader says it when it appears. */
export function note(kind, ...children) {
  return h("div", {class: "note " + kind, role: kind === "bad" ? "alert" : "status"}, ...children);
}

export function quiet(...children) {
  return h("p", {class: "quiet"}, ...children);
}

/** `set(key, make)`: the box's children are made anew where the key is another one. So a screen reader says them once, and
 * not at each look at the server. */
export function saidOnce(box) {
  let told = null;
  return (key, make) => {
    if (key !== told) box.replaceChildren(...make());
    told = key;
  };
}

/** What the server refused, in its words. */
export function failure(error) {
  return note("bad", h("strong", {}, error.status ? "HTTP " + error.status + ", " : "",
    error.code || "failed"), ": ", h("bdi", {}, error.message), error.field ? [" (", id(error.field), ")"] : null);
}

/** A text to copy, and the button that does. */
export function copyable(label, text) {
  const pre = h("pre", {tabindex: "0", role: "region", "aria-label": label}, text);
  const button = h("button", {type: "button", class: "small", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1_500);
    } catch {
      getSelection().selectAllChildren(pre);  // without TLS a browser copies for the person alone
    }
  }}, "Copy");
  button.setAttribute("aria-label", "Copy: " + label);
  return h("div", {class: "copy"}, h("div", {class: "copyhead"}, h("h3", {}, label), button), pre);
}
