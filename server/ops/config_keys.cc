#include "ops/config_keys.h"

#include <utility>

#include "base/json_pointer.h"

namespace seendb::ops {

Setter Text(std::string* to) {
  return [=](const Json& value) {
    if (!value.is_string()) return Status::InvalidArgument("must be a string");
    *to = value.get<std::string>();
    return Status::Ok();
  };
}

Setter Name(std::string* to) {
  return [=](const Json& value) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      return Status::InvalidArgument("must be a string that is not empty");
    }
    *to = value.get<std::string>();
    return Status::Ok();
  };
}

Setter Flag(bool* to) {
  return [=](const Json& value) {
    if (!value.is_boolean()) return Status::InvalidArgument("must be true or false");
    *to = value.get<bool>();
    return Status::Ok();
  };
}

Status Apply(const Json& object, const Keys& keys, const std::string& at) {
  if (!object.is_object()) return Status::InvalidArgument("must be an object", at);
  for (const auto& [key, value] : object.items()) {
    const std::string field = at + PointerTo(key);
    const auto found = keys.find(key);
    if (found == keys.end()) return Status::InvalidArgument("unknown key \"" + key + "\"", field);
    const Status status = found->second(value);
    if (status.ok()) continue;
    return Status::InvalidArgument(std::string(status.message()),
                                   field + std::string(status.field()));
  }
  return Status::Ok();
}

Setter Section(Keys keys) {
  return [keys = std::move(keys)](const Json& value) { return Apply(value, keys, ""); };
}

}  // namespace seendb::ops
