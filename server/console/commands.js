// A filter request as a line of a shell and of Python. The token is in neither: it stands in the
// environment.

// Characters that can't be seen, or that turn the direction of what is around them.
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

const hex = (number, digits) => number.toString(16).padStart(digits, "0");

const json = (value) => JSON.stringify(value).replace(UNSEEN, (one) =>
  [...Array(one.length).keys()].map((at) => "\\u" + hex(one.charCodeAt(at), 4)).join(""));

function python(value) {
  if (Array.isArray(value)) return "[" + value.map(python).join(", ") + "]";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value === null) return "None";
  return JSON.stringify(value).replace(UNSEEN, (one) => {
    const code = one.codePointAt(0);
    return code > 0xffff ? "\\U" + hex(code, 8) : "\\u" + hex(code, 4);
  });
}

export function curlOf(origin, request, withToken) {
  const head = withToken ? "-H \"Authorization: Bearer $SEENDB_TOKEN\" " : "";
  return "curl -s " + head + origin + "/filter --json '" + json(request).replaceAll("'", "'\\''") + "'";
}

export function pythonOf(origin, request, withToken) {
  const {user, items, ...more} = request;
  const options = Object.entries(more).map(([name, value]) => ", " + name + "=" + python(value));
  return (withToken ? "import os, seendb\n" : "import seendb\n") +
    "print(seendb.Client(" + python(origin) + (withToken ? ', token=os.environ["SEENDB_TOKEN"]' : "") +
    ").filter(" + python(user) + ", " + python(items) + options.join("") + "))";
}
