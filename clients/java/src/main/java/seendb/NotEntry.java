package seendb;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Says what makes an item seen: one event has to meet all that it says. Null says nothing.
 *
 * @param fact "played", "served" or "exposed"
 * @param window in so many newest buckets
 * @param within not longer ago
 * @param last among so many newest entries
 */
public record NotEntry(String fact, Integer window, Duration within, Integer last, String surface) {
  public NotEntry(String fact) {
    this(fact, null, null, null, null);
  }

  Map<String, Object> told() {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("fact", fact);
    if (window != null) told.put("window", window);
    if (within != null) told.put("within", within.toMillis() + "ms");
    if (last != null) told.put("last", last);
    if (surface != null) told.put("surface", surface);
    return told;
  }
}
