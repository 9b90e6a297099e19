#include "files/json_keys.h"

#include <set>
#include <utility>
#include <vector>

#include "base/json_pointer.h"
#include "base/outside_json.h"
#include "base/suggest.h"

namespace seendb::files {

Status ParseStrictly(std::string_view json, Json* document) {
  if (json.find('\0') != std::string_view::npos) {  // the parser would take it for the end
    return Status::InvalidArgument("malformed JSON: a zero byte");
  }
  if (JsonDepth(json) > kOutsideDepthMost) {
    return Status::InvalidArgument("more than " + std::to_string(kOutsideDepthMost) +
                                   " levels deep");
  }
  std::vector<std::set<std::string>> open;
  std::string repeated;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key &&
        !open.back().insert(parsed.get<std::string>()).second) {
      repeated = parsed.get<std::string>();
    }
    return true;
  };
  try {
    *document = Json::parse(json.begin(), json.end(), watch);
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();  // "[json.exception.parse_error.101] ..."
    const size_t name_end = what.find("] ");
    return Status::InvalidArgument(
        std::string(what.substr(name_end == what.npos ? 0 : name_end + 2)));
  }
  if (repeated.empty()) return Status::Ok();
  return Status::InvalidArgument("repeated key \"" + repeated + "\"", PointerTo(repeated));
}

Setter Text(std::string* to) {
  const auto set = [=](const Json& value) {
    if (!value.is_string()) return Status::InvalidArgument("must be a string");
    *to = value.get<std::string>();
    return Status::Ok();
  };
  return Setter(set, Written::kText).Showing([to] { return Json(*to); });
}

Setter Name(std::string* to) {
  const auto set = [=](const Json& value) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      return Status::InvalidArgument("must be a string that is not empty");
    }
    *to = value.get<std::string>();
    return Status::Ok();
  };
  return Setter(set, Written::kText).Showing([to] { return Json(*to); });
}

Setter Flag(bool* to) {
  const auto set = [=](const Json& value) {
    if (!value.is_boolean()) return Status::InvalidArgument("must be true or false");
    *to = value.get<bool>();
    return Status::Ok();
  };
  return Setter(set).Showing([to] { return Json(*to); });
}

Setter OneOf(bool* to, const char* no, const char* yes) {
  const auto set = [=](const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text != no && text != yes) {
      return Status::InvalidArgument(std::string("must be ") + no + " or " + yes);
    }
    *to = text == yes;
    return Status::Ok();
  };
  return Setter(set, Written::kText).Showing([=] { return Json(*to ? yes : no); });
}

Setter TextList(std::vector<std::string>* to, size_t most,
                std::function<Status(const std::string&)> check) {
  const auto set = [to, most, check = std::move(check)](const Json& value) {
    if (!value.is_array() || value.size() > most) {
      return Status::InvalidArgument("must be a list of at most " + std::to_string(most) +
                                     " strings");
    }
    std::vector<std::string> texts;
    for (const Json& one : value) {
      const std::string at = "/" + std::to_string(texts.size());
      if (!one.is_string()) return Status::InvalidArgument("must be a string", at);
      texts.push_back(one.get<std::string>());
      const Status checked = check(texts.back());
      if (!checked.ok()) return Status::InvalidArgument(std::string(checked.message()), at);
    }
    *to = std::move(texts);
    return Status::Ok();
  };
  return Setter(set, Written::kTexts).Showing([to] { return Json(*to); });
}

Status Apply(const Json& object, const Keys& keys, const std::string& at) {
  if (!object.is_object()) return Status::InvalidArgument("must be an object", at);
  for (const auto& [key, value] : object.items()) {
    const std::string field = at + PointerTo(key);
    const auto found = keys.find(key);
    if (found == keys.end()) {
      std::vector<std::string_view> known;
      for (const auto& [name, setter] : keys) known.push_back(name);
      return Status::InvalidArgument(UnknownName("unknown key", key, known), field);
    }
    const Status status = found->second(value);
    if (status.ok()) continue;
    return Status::InvalidArgument(std::string(status.message()),
                                   field + std::string(status.field()));
  }
  return Status::Ok();
}

Setter Section(Keys keys) {
  const auto inner = std::make_shared<const Keys>(std::move(keys));
  const auto set = [inner](const Json& value) { return Apply(value, *inner, ""); };
  return Setter(set).Having(inner, /*optional=*/false);
}

}  // namespace seendb::files
