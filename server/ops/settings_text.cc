#include "ops/settings_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json_pointer.h"
#include "ops/secret_files.h"

namespace seendb::ops {
namespace {

constexpr size_t kColumnMost = 48;  // where comments stand, unless the line is longer

/// A value on one line; bytes of flags that are no UTF-8 are replaced.
std::string OnOneLine(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Text that stays on its line.
std::string Plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, '?');
  return text;
}

/// Writes objects, a line per key.
class SettingsWriter {
 public:
  explicit SettingsWriter(const GivenSettings& given)
      : given_(given), shown_(WithoutSecrets(given.document)) {}

  std::string Write(const Keys& keys) {
    for (const std::string& why : given_.unknown) lines_.push_back({"// " + Plain(why), ""});
    lines_.push_back({"{", ""});
    Members(keys, "  ", "");
    lines_.push_back({"}", ""});
    size_t column = 0;
    for (const Line& line : lines_) {
      if (!line.comment.empty()) column = std::max(column, line.text.size());
    }
    column = std::min(column, kColumnMost);
    std::string text;
    for (const Line& line : lines_) {
      text += line.text;
      if (!line.comment.empty()) {
        text +=
            std::string(column - std::min(column, line.text.size()), ' ') + "  // " + line.comment;
      }
      text += "\n";
    }
    return text;
  }

 private:
  struct Line {
    std::string text, comment;
  };

  void Members(const Keys& keys, const std::string& indent, const std::string& pointer) {
    std::optional<size_t> last;  // the line that gets a comma once another member follows
    for (const auto& [key, setter] : keys) {
      const std::string at = pointer + PointerTo(key);
      const bool is_given = shown_.contains(Json::json_pointer(at));
      const bool in_parts = setter.inner() != nullptr && (is_given || !setter.optional());
      const Json value = is_given ? shown_.at(Json::json_pointer(at)) : setter.value();
      const std::string name = OnOneLine(Json(key)) + ": ";
      if (!in_parts && (value.is_null() || value == "")) {
        lines_.push_back({indent + "// " + name + "not set", ""});
        continue;
      }
      if (last) lines_[*last].text += ",";
      if (in_parts) {
        lines_.push_back({indent + name + "{", ""});
        Members(*setter.inner(), indent + "  ", at);
        lines_.push_back({indent + "}", ""});
      } else {
        lines_.push_back({indent + name + OnOneLine(value), is_given ? Giver(at) : "default"});
      }
      last = lines_.size() - 1;
    }
  }

  std::string Giver(const std::string& pointer) const {
    std::string by = NameOf(given_, pointer);
    if (by.empty()) by = given_.file;
    return Plain(std::move(by));
  }

  const GivenSettings& given_;
  const Json shown_;
  std::vector<Line> lines_;
};

void Compare(const Json& before, const Json& after, const std::string& name,
             std::vector<std::string>* changed) {
  if (before == after) return;
  if (before.is_null() && after.is_object()) return Compare(Json::object(), after, name, changed);
  if (before.is_object() && after.is_null()) return Compare(before, Json::object(), name, changed);
  if (!before.is_object() || !after.is_object()) return changed->push_back(name);
  const std::string beginning = name.empty() ? "" : name + ".";
  for (const auto& [key, value] : before.items()) {
    Compare(value, after.contains(key) ? after.at(key) : Json(), beginning + key, changed);
  }
  for (const auto& [key, value] : after.items()) {
    if (!before.contains(key)) Compare(Json(), value, beginning + key, changed);
  }
}

}  // namespace

std::string SettingsText(Config config) {
  const GivenSettings given = config.given;
  return SettingsWriter(given).Write(ConfigKeys(&config));
}

std::vector<std::string> ChangedSettings(const Json& before, const Json& after) {
  std::vector<std::string> changed;
  Compare(before, after, "", &changed);
  return changed;
}

}  // namespace seendb::ops
