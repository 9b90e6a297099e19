package seendb;

/** A Play or an Exposure: a user met an item. */
public sealed interface Event permits Play, Exposure {
  Id user();

  /** Checks the ids and adds the time where there is none; `index`: the how many-th it is, for errors. */
  Event checked(int index, long now);
}
