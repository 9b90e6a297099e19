package seendb;

/** A call that was refused by the server, or not answered. */
public class SeenDBException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The server's word ("invalid_argument", "not_found", "overloaded", ...), or, where no server answered, "unavailable",
   * "timeout", "protocol", "closed" or "interrupted". */
  public final String code;
  /** A JSON pointer to the input at fault ("/items/0"); empty: none. */
  public final String field;
  /** Of the HTTP answer; 0: none came. */
  public final int status;
  /** No server has read the request. */
  final boolean unsent;

  public SeenDBException(String code, String message, String field, int status) {
    this(code, message, field, status, false);
  }

  private SeenDBException(String code, String message, String field, int status, boolean unsent) {
    super(message);
    this.code = code;
    this.field = field;
    this.status = status;
    this.unsent = unsent;
  }

  /** No server answered. */
  static SeenDBException none(String code, String message) {
    return new SeenDBException(code, message, "", 0);
  }

  /** No server could be reached. */
  static SeenDBException unsent(String message) {
    return new SeenDBException("unavailable", message, "", 0, true);
  }

  static SeenDBException refuse(String field, String message) {
    return new SeenDBException("invalid_argument", message, field, 0);
  }

  @Override
  public String toString() {
    return code + ": " + getMessage() + (field.isEmpty() ? "" : " (" + field + ")");
  }
}
