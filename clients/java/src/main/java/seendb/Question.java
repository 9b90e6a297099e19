package seendb;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/** A filter: who, which candidates, and how. Each method gives a question that differs in one thing. */
public final class Question implements Cloneable {
  Id user;
  List<Id> items;
  String collection;
  int limit;
  List<Id> exclude = List.of();
  List<String> excludeSets = List.of();
  List<String> collections = List.of();
  boolean record;
  boolean verify;
  boolean orFail;
  Duration within;
  Duration timeout;
  Function<Id, Groups> groups;
  /** What JSON alone has, by the names of the request. */
  Map<String, Object> rules = Map.of();

  public Question(Id user, List<Id> items) {
    this.user = user;
    this.items = items;
  }

  private Question but(Consumer<Question> change) {
    try {
      Question other = (Question) clone();
      change.accept(other);
      return other;
    } catch (CloneNotSupportedException error) {
      throw new AssertionError(error);
    }
  }

  /** `value` null: without the rule. */
  Question rule(String name, Object value) {
    Map<String, Object> all = new LinkedHashMap<>(rules);
    if (value == null || value instanceof List<?> list && list.isEmpty()) all.remove(name);
    else all.put(name, value);
    return but(one -> one.rules = all);
  }

  public Question collection(String name) {
    return but(one -> one.collection = name);
  }

  /** Stop once so many unseen ones are found. */
  public Question limit(int most) {
    return but(one -> one.limit = most);
  }

  /** Never unseen. */
  public Question exclude(List<Id> ids) {
    return but(one -> one.exclude = ids);
  }

  /** Names sets (putSet), 8 at most, whose members are never unseen. */
  public Question excludeSets(String... names) {
    return but(one -> one.excludeSets = List.of(names));
  }

  /** Names up to 8: what was seen in any of them counts, in place of `collection` alone, whose policy still says all else. */
  public Question collections(String... names) {
    return but(one -> one.collections = List.of(names));
  }

  /** Records the unseen as served, in the same step. */
  public Question recording() {
    return but(one -> one.record = true);
  }

  /** Looks plays up in the history: none is falsely called seen. */
  public Question verified() {
    return but(one -> one.verify = true);
  }

  /** Says why an item is seen. */
  public Question explained() {
    return rule("explain", true);
  }

  /** Fails where the answer would be degraded. */
  public Question failing() {
    return but(one -> one.orFail = true);
  }

  /** What counts: "plays", "impressions"; else both. */
  public Question facts(String... names) {
    return rule("facts", List.of(names));
  }

  /** Names what makes an item seen, in place of facts: any of the entries. */
  public Question not(NotEntry... entries) {
    return rule("not", List.of(entries));
  }

  /** The groups of each item; null of those that have none. */
  public Question groups(Function<Id, Groups> of) {
    return but(one -> one.groups = of);
  }

  /** Drops a candidate if one of its groups has its number of events, those of the page before it included. */
  public Question caps(Cap... caps) {
    return rule("caps", List.of(caps));
  }

  /** Drops candidates that do not meet all rules. */
  public Question where(Rule... all) {
    return rule("where", List.of(all));
  }

  /** Keeps, of the unseen with one value of the field, the first `most`: of each 1,000 candidates of a page. */
  public Question atMost(String field, int most) {
    return rule("at_most", Map.of("field", field, "n", most));
  }

  /** Drops candidates that the server knows no item of. */
  public Question droppingUnknown() {
    return rule("unknown", "drop");
  }

  /** Names fields of items that the answer tells of the unseen. */
  public Question fields(String... names) {
    return rule("fields", List.of(names));
  }

  /** Where fewer than `need` are unseen, up to `most` seen candidates come back that were last seen at least `gap` ago. */
  public Question whenShort(int need, Duration gap, int most) {
    return rule("when_short", Map.of("need", need, "gap", new Span().convert(gap), "max", most));
  }

  /** Other candidates. */
  public Question items(List<Id> ids) {
    return but(one -> one.items = ids);
  }

  /** The server answers within it, degraded at worst. */
  public Question within(Duration most) {
    return but(one -> one.within = most);
  }

  /** Of the whole call. */
  public Question timeout(Duration most) {
    return but(one -> one.timeout = most);
  }
}
