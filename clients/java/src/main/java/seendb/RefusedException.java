package seendb;

/** All that a call told was refused (HTTP 422). */
public class RefusedException extends SeenDBException {
  private static final long serialVersionUID = 1;

  /** Which and why. */
  public final transient Recorded recorded;

  RefusedException(Recorded.Refusal first, String field, Recorded recorded) {
    super(first.code(), first.message(), field, 422);
    this.recorded = recorded;
  }
}
