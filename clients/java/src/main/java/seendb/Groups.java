package seendb;

import java.util.List;

/**
 * The groups of an item, at most 16 together.
 *
 * @param of what it belongs to ("channel:9"), for the user's marks, for counts and for caps
 * @param at when it was published, in ms since 1970; null: only a mark for ever counts
 * @param sameAs what is one with it for the user ("src:9"): it is seen if something of that is
 */
public record Groups(List<String> of, Long at, List<String> sameAs) {
  public Groups(List<String> of, Long at) {
    this(of, at, List.of());
  }

  public Groups(String... of) {
    this(List.of(of), null);
  }

  public Groups sameAs(String... groups) {
    return new Groups(of, at, List.of(groups));
  }
}
