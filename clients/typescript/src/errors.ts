/** A call that was refused by the server, or not answered. */
export class SeenDBError extends Error {
  override name = "SeenDBError";
  /**
   * @param code the server's word ("invalid_argument", "not_found", "overloaded", ...), or, where no server answered,
   *   "unavailable", "timeout", "protocol" or "closed"
   * @param message what is wrong, in a sentence
   * @param field a JSON pointer to the input at fault ("/items/0"); empty: none
   * @param status of the HTTP answer; 0: none came
   */
  constructor(readonly code: string, message: string, readonly field = "", readonly status = 0) {
    super(message);
  }

  override toString(): string {
    return this.code + ": " + this.message + (this.field ? " (" + this.field + ")" : "");
  }
}

/** All that a call told was refused (HTTP 422). */
export class Refused extends SeenDBError {
  override name = "Refused";
  constructor(error: SeenDBError, readonly recorded: Recorded) {
    super(error.code, error.message, error.field, error.status);
  }
}

/** An event that was not taken. */
export interface Refusal {
  index: number;
  code: string;
  message: string;
  field: string;
}

/** What became of a call's events. */
export interface Recorded {
  accepted: number;
  refused: number;
  /** At most 100 of them. */
  refusals: Refusal[];
  /** In a cluster: in the log, and not applied yet. */
  pending: boolean;
  /** Of putItems: fields that the items had with a higher version. */
  stale?: number;
}

export function refuse(field: string, message: string): SeenDBError {
  return new SeenDBError("invalid_argument", message, field);
}
