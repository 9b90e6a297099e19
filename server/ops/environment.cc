#include "ops/environment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/json_pointer.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "base/whole_file.h"
#include "ops/secret_files.h"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration)

namespace seendb::ops {
namespace {

constexpr std::string_view kPrefix = "SEENDB_";
constexpr std::string_view kFile = "_FILE";
constexpr size_t kValueBytesMost = 1 << 20;
/// Read by the tool, or by this server before the settings are.
constexpr std::array<std::string_view, 9> kOthers = {
    kFileVariable,       "SEENDB_URL",         "SEENDB_ADMIN_URL",
    "SEENDB_CA",         "SEENDB_CERTIFICATE", "SEENDB_TOKEN",
    "SEENDB_TOKEN_FILE", "SEENDB_REDIS",       "SEENDB_REDIS_PASSWORD"};
/// Hooks of tests, and what Kubernetes tells every container of a service named "seendb".
constexpr std::array<std::string_view, 3> kOtherBeginnings = {"SEENDB_TEST_", "SEENDB_SERVICE_",
                                                              "SEENDB_PORT"};

/// A key that a variable may set.
struct SettingKey {
  std::string pointer;
  Written written = Written::kJson;
};
using KeysByVariable = std::map<std::string, SettingKey>;

/// A variable that sets a key.
struct Assignment {
  std::string variable;
  const SettingKey* key = nullptr;
  bool from_file = false;
};

void CollectVariables(const Keys& keys, const std::string& name, const std::string& pointer,
                      KeysByVariable* all) {
  for (const auto& [key, setter] : keys) {
    std::string variable = name + key;
    std::transform(variable.begin(), variable.end(), variable.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::string at = pointer + PointerTo(key);
    (*all)[variable] = {at, setter.written()};
    if (setter.inner() != nullptr) CollectVariables(*setter.inner(), variable + "_", at, all);
  }
}

/// JSON, or nothing where the text is none.
std::optional<Json> AsJson(std::string_view text) {
  Json value;
  if (!ParseStrictly(text, &value).ok()) return {};
  return value;
}

Json ListOf(std::string_view text, bool numbers) {
  Json list = Json::array();
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = text.substr(0, comma);
    const std::optional<Json> number = numbers ? AsJson(one) : std::nullopt;
    list.push_back(number ? *number : Json(std::string(one)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

/// What a variable's text stands for; kInvalidArgument: it is no JSON, and would have to be.
Result<Json> ValueOf(std::string_view text, Written written) {
  if (!IsUtf8(text)) return Status::InvalidArgument("is not UTF-8");
  if (written == Written::kText) {
    // Somebody took _FILE for the file that the key names. What that holds is for no message.
    if (text.find('\n') != text.npos) return Status::InvalidArgument("has more than one line");
    return Json(std::string(text));
  }
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool structured = first != text.npos && (text[first] == '[' || text[first] == '{');
  std::optional<Json> value = AsJson(text);
  if (structured && !value) {
    return Status::InvalidArgument("is no JSON, or has a key twice, or lies too deep");
  }
  if (written == Written::kTexts && !structured) return ListOf(text, /*numbers=*/false);
  if (written == Written::kNumbers && !structured && (value || text.find(',') != text.npos)) {
    return ListOf(text, /*numbers=*/true);
  }
  return value ? std::move(*value) : Json(std::string(text));
}

/// A file's text without the line end behind it.
Result<std::string> ReadValueFile(const std::string& path) {
  if (Status writers = CheckWriters(path); !writers.ok()) {
    return Status::InvalidArgument(std::string(writers.message()));
  }
  Result<std::string> read = ReadWholeFile(path, kValueBytesMost);
  if (!read.ok()) return Status::InvalidArgument(std::string(read.status().message()));
  std::string text = std::move(read).value();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

bool IsAnothers(std::string_view name) {
  return std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end() ||
         std::any_of(kOtherBeginnings.begin(), kOtherBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

std::string WhyUnknown(const std::string& name, const KeysByVariable& all) {
  std::vector<std::string_view> known;
  for (const auto& [variable, key] : all) known.push_back(variable);
  const std::string nearest(Nearest(name, known));
  return name + " is no setting" + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

/// Puts a value at its place; not where that lies in what is no object: it is refused as it is.
void Put(const std::string& pointer, Json value, Json* document) {
  const Json::json_pointer place(pointer);
  for (Json::json_pointer above = place; !above.empty();) {
    above.pop_back();
    if (document->contains(above) && !document->at(above).is_object()) return;
  }
  Json& at = (*document)[place];
  if (value.is_object() && at.is_object()) {
    at.update(value, /*merge_objects=*/true);
  } else {
    at = std::move(value);
  }
}

}  // namespace

Variables OwnVariables() {
  Variables variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text(*one);
    const size_t equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == text.npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Status AddVariables(const Keys& keys, const Variables& variables, GivenSettings* given) {
  KeysByVariable all;
  CollectVariables(keys, std::string(kPrefix), "", &all);
  std::map<std::string, Assignment> assignments;  // an object before the keys in it
  for (const auto& [name, text] : variables) {
    auto found = all.find(name);
    const bool from_file = found == all.end() && name.ends_with(kFile);
    if (from_file) found = all.find(name.substr(0, name.size() - kFile.size()));
    if (found == all.end()) {
      if (!IsAnothers(name)) given->unknown.push_back(WhyUnknown(name, all));
      continue;
    }
    const SettingKey& key = found->second;
    if (!assignments.emplace(key.pointer, Assignment{name, &key, from_file}).second) {
      return Status::InvalidArgument(name + ": " + found->first + " is set as well");
    }
  }
  for (const auto& [pointer, one] : assignments) {
    const std::string& text = variables.at(one.variable);
    const Result<std::string> read =
        one.from_file ? ReadValueFile(text) : Result<std::string>(text);
    Result<Json> value = read.ok() ? ValueOf(*read, one.key->written) : read.status();
    if (!value.ok()) {
      return Status::InvalidArgument(one.variable + ": " + std::string(value.status().message()));
    }
    Put(pointer, std::move(value).value(), &given->document);
    given->names[pointer] = one.variable;
  }
  return Status::Ok();
}

void AddFlags(GivenSettings* given) {
  for (const auto& [pointer, flag] : given->flags) {
    if (given->document.is_object() && given->document.contains(Json::json_pointer(pointer))) {
      given->document[Json::json_pointer(pointer)] = nullptr;  // a flag's object adds to nothing
    }
    Put(pointer, flag.value, &given->document);
    given->names[pointer] = flag.flag;
  }
}

std::string NameOf(const GivenSettings& given, std::string_view field) {
  std::string pointer(field);
  while (!pointer.empty()) {
    const auto found = given.names.find(pointer);
    if (found != given.names.end()) return found->second;
    const size_t slash = pointer.rfind('/');
    pointer.resize(slash == pointer.npos ? 0 : slash);
  }
  return {};
}

}  // namespace seendb::ops
