package seendb;

import java.util.List;
import java.util.Map;

/**
 * What a user has not seen of the candidates.
 *
 * @param unseen in their order, each once, as they were given
 * @param examined those behind them, where a limit ended the work, were not
 * @param degraded something could not be read: items may be called unseen that were seen
 * @param missing what
 * @param recorded with record: whether the unseen were recorded as served
 * @param reasons with explain: why an item is seen
 * @param undated of candidates with groups: those without a time, of a group that is marked up to a time
 * @param coarse with not: facts of which more counted than was asked for ("played" by the bucket)
 * @param beyond with not: facts of which less is kept than was asked for
 * @param repeats with whenShort: seen candidates that come back, the one seen longest ago first
 * @param fields with fields: those of the unseen that the server knows, by the item's text
 * @param fieldsLeftOut unseen items whose fields did not fit into the answer (16 MiB)
 */
public record Filtered(
    List<Id> unseen, int seen, int examined, boolean degraded, List<String> missing, int excluded, int duplicates, boolean recorded,
    Map<String, String> reasons, int undated, List<String> coarse, List<String> beyond, List<Id> repeats,
    Map<String, Map<String, Object>> fields, int fieldsLeftOut) {

  /** How dry the page runs: the unseen divided by the examined; 1 where none was examined. */
  public double unseenShare() {
    return examined == 0 ? 1 : (double) unseen.size() / examined;
  }
}
