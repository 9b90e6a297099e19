package seendb;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;

/**
 * A named set of items.
 *
 * @param count of its ids
 * @param bytes of the server's memory
 * @param at when it was put, in ms since 1970
 * @param damaged part of it can't be read: put it again
 * @param items of getSet: some ids as text, in the order of their bytes; else null
 * @param cursor of the next page; null: this is the last
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record ItemSet(String name, int count, long bytes, long at, boolean damaged, List<String> items, String cursor) {}
