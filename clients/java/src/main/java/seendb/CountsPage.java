package seendb;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * The counts of a kind of groups, those with the newest events first.
 *
 * @param more the user has more than 1,000 groups of the kind
 * @param degraded counts may be missing
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record CountsPage(List<Group> counts, boolean more, boolean degraded, List<String> missing) {
  /**
   * How often a user was served, exposed to and played what belongs to a group: events by span, which is "1h", "1d", "7d" or "30d".
   *
   * @param atLeast there may have been more than are kept (255 of a group and fact)
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Group(
      String key, Map<String, Integer> served, Map<String, Integer> exposed, Map<String, Integer> played, @JsonProperty("at_least") boolean atLeast) {}
}
