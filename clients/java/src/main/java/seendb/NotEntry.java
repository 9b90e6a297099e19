package seendb;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import java.time.Duration;

/**
 * Says what makes an item seen: one event has to meet all that it says. Null says nothing.
 *
 * @param fact "played", "served" or "exposed"
 * @param window in so many newest buckets
 * @param within not longer ago
 * @param last among so many newest entries
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record NotEntry(String fact, Integer window, @JsonSerialize(converter = Span.class) Duration within, Integer last, String surface) {
  public NotEntry(String fact) {
    this(fact, null, null, null, null);
  }
}
