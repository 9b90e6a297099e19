package seendb;

import java.time.Instant;
import java.util.List;

/** Some marks, by group. `cursor`: of the next page; null: this is the last. `degraded`: marks may be missing. */
public record MarksPage(List<Mark> marks, String cursor, boolean degraded, List<String> missing) {
  /** A group that a user marked as seen up to a time, or Client.ALWAYS; `at`: when it was said. */
  public record Mark(String group, Instant until, Instant at) {}
}
