package seendb;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A rule on items: all comparisons of the field must hold, as of new Rule("published_at").ge(5).le(9). What has no such field meets ne,
 * and exists(false), alone.
 */
public record Rule(String field, @JsonAnyGetter Map<String, Object> comparisons) {
  public Rule(String field) {
    this(field, Map.of());
  }

  private Rule and(String name, Object value) {
    Map<String, Object> all = new LinkedHashMap<>(comparisons);
    all.put(name, value);
    return new Rule(field, all);
  }

  public Rule eq(Object value) {
    return and("eq", value);
  }

  public Rule ne(Object value) {
    return and("ne", value);
  }

  public Rule in(List<?> values) {
    return and("in", values);
  }

  public Rule ge(Object value) {
    return and("ge", value);
  }

  public Rule le(Object value) {
    return and("le", value);
  }

  /** Of a list. */
  public Rule anyOf(List<?> values) {
    return and("any_of", values);
  }

  public Rule exists(boolean there) {
    return and("exists", there);
  }
}
