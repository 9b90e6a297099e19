package seendb;

import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** A filter: who, which candidates, and how. Each method gives a question that differs in one thing. */
public record Question(
    Id user, List<Id> items, String collection, int limit, List<Id> exclude, boolean record, boolean verify, boolean explain, boolean orFail,
    Duration within, Duration timeout, List<String> facts, List<NotEntry> not, Function<Id, Groups> groups) {

  public Question(Id user, List<Id> items) {
    this(user, items, null, 0, List.of(), false, false, false, false, null, null, null, List.of(), null);
  }

  public Question collection(String name) {
    return new Question(user, items, name, limit, exclude, record, verify, explain, orFail, within, timeout, facts, not, groups);
  }

  /** Stop once so many unseen ones are found. */
  public Question limit(int most) {
    return new Question(user, items, collection, most, exclude, record, verify, explain, orFail, within, timeout, facts, not, groups);
  }

  /** Never unseen. */
  public Question exclude(List<Id> ids) {
    return new Question(user, items, collection, limit, ids, record, verify, explain, orFail, within, timeout, facts, not, groups);
  }

  /** Records the unseen as served, in the same step. */
  public Question recording() {
    return new Question(user, items, collection, limit, exclude, true, verify, explain, orFail, within, timeout, facts, not, groups);
  }

  /** Looks plays up in the history: none is falsely called seen. */
  public Question verified() {
    return new Question(user, items, collection, limit, exclude, record, true, explain, orFail, within, timeout, facts, not, groups);
  }

  /** Says why an item is seen. */
  public Question explained() {
    return new Question(user, items, collection, limit, exclude, record, verify, true, orFail, within, timeout, facts, not, groups);
  }

  /** Fails where the answer would be degraded. */
  public Question failing() {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, true, within, timeout, facts, not, groups);
  }

  /** What counts: "plays", "impressions"; else both. */
  public Question facts(String... names) {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, orFail, within, timeout, List.of(names), not, groups);
  }

  /** Names what makes an item seen, in place of facts: any of the entries. */
  public Question not(NotEntry... entries) {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, orFail, within, timeout, facts, List.of(entries), groups);
  }

  /** The groups of each candidate, for the user's marks; null of those that have none. */
  public Question groups(Function<Id, Groups> of) {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, orFail, within, timeout, facts, not, of);
  }

  /** Other candidates. */
  public Question items(List<Id> ids) {
    return new Question(user, ids, collection, limit, exclude, record, verify, explain, orFail, within, timeout, facts, not, groups);
  }

  /** The server answers within it, degraded at worst. */
  public Question within(Duration most) {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, orFail, most, timeout, facts, not, groups);
  }

  /** Of the whole call. */
  public Question timeout(Duration most) {
    return new Question(user, items, collection, limit, exclude, record, verify, explain, orFail, within, most, facts, not, groups);
  }
}
