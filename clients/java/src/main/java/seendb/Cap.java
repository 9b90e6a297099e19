package seendb;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import java.time.Duration;

/**
 * At most `n` events of each group of a kind ("author") within a span of a minute to 30 days.
 *
 * @param fact "served", "exposed" or "played"; null: served
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Cap(String of, int n, @JsonSerialize(converter = Span.class) Duration within, String fact) {
  public Cap(String of, int n, Duration within) {
    this(of, n, within, null);
  }
}
