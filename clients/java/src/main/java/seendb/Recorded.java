package seendb;

import java.util.List;

/**
 * What became of a call's events, or updates of items; at most 100 refusals.
 *
 * @param pending in a cluster: in the log and not applied yet
 * @param stale of putItems: fields that the items had with a higher version
 */
public record Recorded(long accepted, long refused, List<Refusal> refusals, boolean pending, long stale) {
  /** An event that was not taken. */
  public record Refusal(int index, String code, String message, String field) {}
}
