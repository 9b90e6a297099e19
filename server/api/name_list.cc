#include "api/name_list.h"

#include <algorithm>
#include <string>

namespace seendb::api {

Status ReadNames(const Call& call, std::string_view parameter, size_t most,
                 std::vector<std::string_view>* names) {
  const std::string_view text = call.Query(parameter).value_or("");
  const std::string field = "/" + std::string(parameter);
  for (size_t at = 0; !text.empty() && at <= text.size();) {
    const std::string_view name = text.substr(at, text.find(',', at) - at);
    if (names->size() == most) {
      return Status::InvalidArgument("more than " + std::to_string(most) + " names", field);
    }
    if (name.empty()) {
      return Status::InvalidArgument("must not be empty",
                                     field + "/" + std::to_string(names->size()));
    }
    names->push_back(name);
    at += name.size() + 1;
  }
  return {};
}

}  // namespace seendb::api
