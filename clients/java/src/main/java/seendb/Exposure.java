package seendb;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * One item that really was on a user's screen; `at` in ms since 1970, null: the present, before the first try, so that a second one
 * counts once. `surface` says where, such as "home"; null: it is not said. Its groups are as those of a Play; null: none.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Exposure(Id user, Id item, Long at, String surface, List<String> of, @JsonProperty("same_as") List<String> sameAs) implements Event {
  public Exposure(Id user, Id item) {
    this(user, item, null, null, null, null);
  }

  public Exposure(Id user, Id item, String surface) {
    this(user, item, null, surface, null, null);
  }

  @Override
  public Exposure checked(int index, long now) {
    user.check("/events/" + index + "/user");
    item.check("/events/" + index + "/item");
    return at != null ? this : new Exposure(user, item, now, surface, of, sameAs);
  }
}
