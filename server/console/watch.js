// A page that asks the server again and again, every two seconds while it is seen.

import {failure, quiet} from "./dom.js";

export const EVERY_MS = 2_000;
/** What only administrators may see has a line in the audit: it is asked for at each so many looks. */
export const REPORTS_EVERY = 5;
const SHARE = 10;  // a slow server is left alone for so many times what it took to answer,
const LONGEST_MS = 30_000;  // and no longer than this

/** Calls `look(n)`, n: how often before, since the last failure; a failure is shown in `trouble`. Returns after the
 * first look, with a function that ends it. */
export async function watch(trouble, look) {
  let timer = 0, left = false, busy = false, looks = 0;
  const turn = async () => {
    clearTimeout(timer);
    if (document.hidden || left || busy) return;
    const began = performance.now();
    let took = 0;
    busy = true;
    try {
      await look(looks++);
      took = performance.now() - began;
      if (!left) trouble.replaceChildren();
    } catch (error) {
      if (left) return;
      const refused = error.status === 401 || error.status === 403;
      if (trouble.textContent === "") {
        trouble.replaceChildren(failure(error), quiet(refused ? "" : "It is asked again every two seconds."));
      }
      looks = 0;
      if (refused) return;
    } finally {
      busy = false;
    }
    if (!left) timer = setTimeout(turn, Math.min(LONGEST_MS, Math.max(EVERY_MS, SHARE * took)));
  };
  document.addEventListener("visibilitychange", turn);
  await turn();
  return () => {
    left = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", turn);
  };
}

/** Asks for what administrators alone may see; null where the token is not theirs. */
export async function asAdmin(ask) {
  try {
    return await ask();
  } catch (error) {
    if (error.status !== 403) throw error;
    return null;
  }
}
