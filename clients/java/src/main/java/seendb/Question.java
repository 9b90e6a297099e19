package seendb;

import java.time.Duration;
import java.util.List;

/** A filter: who, which candidates, and how. Each method gives a question that differs in one thing. */
public record Question(
    Id user, List<Id> items, String collection, int limit, List<Id> exclude, boolean record, boolean verify, boolean explain, boolean orFail,
    Duration within, Duration timeout) {

  public Question(Id user, List<Id> items) {
    this(user, items, null, 0, List.of(), false, false, false, false, null, null);
  }

  public Question collection(String name) {
    return new Question(user, items, name, limit, exclude, record, verify, explain, orFail, within, timeout);
  }

  /** Stop once so many unseen ones are found. */
  public Question limit(int most) {
    return new Question(user, items, collection, most, exclude, record, verify, explain, orFail, within, timeout);
  }

  /** Never unseen. */
  public Question exclude(List<Id> ids) {
    return new Question(user, items, collection, limit, ids, record, verify, explain, orFail, within, timeout);
  }

  /** Records the unseen as served, in the same step. */
  public Question recording() {
    return new Question(user, items, collection, limit, exclude, true, verify, explain, orFail, within, timeout);
  }

  /** Looks plays up in the history: none is falsely called seen. */
  public Question verified() {
    return new Question(user, items, collection, limit, exclude, record, true, explain, orFail, within, timeout);
  }

  /** Says why an item is seen. */
  public Question explained() {
    return new Question(user, items, collection, limit, exclude, record, verify, true, orFail, within, timeout);
  }

  /** Fails where the answer would be degraded. */
  public Question failing() {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, true, within, timeout);
  }

  /** The server answers within it, degraded at worst. */
  public Question within(Duration most) {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, orFail, most, timeout);
  }

  /** Of the whole call. */
  public Question timeout(Duration most) {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, orFail, within, most);
  }
}
