#include "key_forms.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "seendb/id.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {

std::string FormOf(std::string_view user) {
  constexpr std::string_view kSeparators = ":/|#{}";
  std::string form;
  for (const char c : user) {
    if (kSeparators.find(c) != std::string_view::npos) {
      form += c;
    } else if (form.empty() || form.back() != '*') {
      form += '*';
    }
  }
  return form;
}

std::string WhyNobodys(const std::string& key, const redis::KeyTemplate& users,
                       const std::string& form) {
  const auto user = users.UserOf(key);
  if (!user) return "is not of the form " + users.ToText();
  if (const Status valid = IdRef(*user).Validate(); !valid.ok()) {
    return std::string(valid.message());
  }
  if (form.empty() || FormOf(*user) == form) return {};
  return "would be of the user " + std::string(*user) + ", whose form is " + FormOf(*user) +
         " and not " + form + "; --form any takes it";
}

void KeyForms::Add(std::string_view key, std::string_view user) {
  std::string form = FormOf(user);
  if (forms_.size() == kFormsMost && !forms_.contains(form)) return;
  Form& known = forms_[std::move(form)];
  if (known.keys++ == 0) known.example = key;
}

Json KeyForms::ToJson() const {
  std::vector<std::pair<std::string, Form>> forms(forms_.begin(), forms_.end());
  std::stable_sort(forms.begin(), forms.end(), [](const auto& one, const auto& other) {
    return one.second.keys > other.second.keys;
  });
  Json all = Json::array();
  for (const auto& [form, of] : forms) {
    all.push_back({{"form", form}, {"keys", of.keys}, {"example", of.example}});
  }
  return all;
}

std::string KeyForms::First() const {
  const Json all = ToJson();
  return all.empty() ? "" : all[0]["form"].get<std::string>();
}

std::string KeyForms::ToText() const {
  std::string text;
  size_t told = 0;
  for (const Json& one : ToJson()) {
    if (told++ == kFormsTold) return text + ", and others";
    text += (text.empty() ? "" : ", ") + FormatCount(one["keys"].get<uint64_t>()) + " as " +
            Printable(one["example"].get<std::string>()) + " (" +
            Printable(one["form"].get<std::string>()) + ")";
  }
  return text;
}

}  // namespace seendb::tool
