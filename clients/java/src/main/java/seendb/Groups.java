package seendb;

import java.util.List;

/**
 * The groups of an item, for the user's marks, for counts and for caps.
 *
 * @param of at most 16, such as "channel:9"
 * @param at when it was published, in ms since 1970; null: only a mark for ever counts
 */
public record Groups(List<String> of, Long at) {
  public Groups(String... of) {
    this(List.of(of), null);
  }
}
