package seendb;

/** Every event of a call was refused (HTTP 422). */
public class RefusedException extends SeenDBException {
  private static final long serialVersionUID = 1;

  /** Which and why. */
  public final transient Recorded recorded;

  RefusedException(Recorded.Refusal first, Recorded recorded) {
    super(first.code(), first.message(), "/events/" + first.index() + first.field(), 422);
    this.recorded = recorded;
  }
}
