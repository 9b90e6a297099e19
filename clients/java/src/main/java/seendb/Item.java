package seendb;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/** An item as the server knows it: the highest version that it was updated with, values by the names of the schema. */
public record Item(Id id, long version, Map<String, Object> fields) {
  /** A field that items may have: `type` is bool, i64, f32, text, list_i64 or list_text. */
  public record Field(String name, String type, boolean column) {}

  /**
   * Changes an item. Updates are free of order and harmless when repeated: each field keeps the value with the highest version.
   *
   * @param replace fields with lower versions go
   * @param delete the item goes
   * @param expiresAt ms since 1970; null: it is not said
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Update(
      Id id, long version, Map<String, Object> set, List<String> unset, boolean replace, boolean delete, @JsonProperty("expires_at") Long expiresAt) {

    public Update(Id id, long version, Map<String, Object> set) {
      this(id, version, set, null, false, false, null);
    }
  }
}
