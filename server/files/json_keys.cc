#include "files/json_keys.h"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/json_pointer.h"
#include "base/outside_json.h"
#include "base/suggest.h"

namespace seendb::files {
namespace {

/// Finds a key that an object has twice. Not a callback of the parser that makes the values: at the
/// end of each object that one looks at all of those before it in the same list.
struct KeyWatch : nlohmann::json_sax<Json> {
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool start_object(size_t) override {
    open.emplace_back();
    return true;
  }
  bool end_object() override {
    open.pop_back();
    return true;
  }
  bool key(string_t& name) override {
    if (open.back().insert(name).second) return true;
    repeated = name;
    return false;
  }
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }

  std::vector<std::set<std::string>> open;
  std::optional<std::string> repeated;
};

}  // namespace

Status ParseStrictly(std::string_view json, Json* document) {
  if (json.find('\0') != std::string_view::npos) {  // the parser would take it for the end
    return Status::InvalidArgument("malformed JSON: a zero byte");
  }
  if (JsonDepth(json) > kOutsideDepthMost) {
    return Status::InvalidArgument("more than " + std::to_string(kOutsideDepthMost) +
                                   " levels deep");
  }
  try {
    *document = Json::parse(json.begin(), json.end());
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();  // "[json.exception.parse_error.101] ..."
    const size_t name_end = what.find("] ");
    return Status::InvalidArgument(
        std::string(what.substr(name_end == what.npos ? 0 : name_end + 2)));
  }
  KeyWatch watch;
  Json::sax_parse(json.begin(), json.end(), &watch);
  if (!watch.repeated) return Status::Ok();
  return Status::InvalidArgument("repeated key \"" + *watch.repeated + "\"",
                                 PointerTo(*watch.repeated));
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
