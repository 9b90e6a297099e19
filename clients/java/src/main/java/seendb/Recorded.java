package seendb;

import java.util.List;

/** What became of a call's events; at most 100 refusals. `pending`: in a cluster, in the log and not applied yet. */
public record Recorded(long accepted, long refused, List<Refusal> refusals, boolean pending) {
  /** An event that was not taken. */
  public record Refusal(int index, String code, String message, String field) {}
}
