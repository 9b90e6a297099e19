package seendb;

import java.util.List;

/** What became of the items of a reservation, as they were given. `refused`: a cap leaves no room for them. */
public record Reserved(List<Id> reserved, List<Id> refused) {}
