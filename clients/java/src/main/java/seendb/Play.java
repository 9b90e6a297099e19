package seendb;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * One item that a user watched. Without a time it gets the present, before the first try, so that a second one counts once. What is
 * null says nothing. It is counted by the groups `of`; those of `sameAs` ("src:9") are one with the item for the user, and seen with it.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Play(
    Id user,
    Id item,
    /** ms since 1970. */
    Long at,
    /** Seconds into the item; -1: finished. */
    @JsonProperty("progress_s") Integer progressS,
    @JsonProperty("duration_s") Integer durationS,
    String device,
    Map<String, Object> fields,
    List<String> of,
    @JsonProperty("same_as") List<String> sameAs) implements Event {

  public Play(Id user, Id item) {
    this(user, item, null, null, null, null, null, null, null);
  }

  public Play(Id user, Id item, Instant at) {
    this(user, item, at.toEpochMilli(), null, null, null, null, null, null);
  }

  @Override
  public Play checked(int index, long now) {
    user.check("/events/" + index + "/user");
    item.check("/events/" + index + "/item");
    return at != null ? this : new Play(user, item, now, progressS, durationS, device, fields, of, sameAs);
  }
}
