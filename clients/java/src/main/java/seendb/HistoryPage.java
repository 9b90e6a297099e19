package seendb;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/** Some entries, newest first. `cursor`: of the next page; null: this is the last. `kept`: false where no collection keeps history. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record HistoryPage(List<Entry> entries, String cursor, Boolean kept, boolean degraded) {
  /** An item of a user's watch history; `at` in ms since 1970. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Entry(
      String collection, String item, long at, @JsonProperty("progress_s") int progressS, @JsonProperty("duration_s") int durationS,
      String device, Map<String, Object> fields) {}
}
