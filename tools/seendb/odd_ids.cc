#include "odd_ids.h"

#include <algorithm>
#include <cctype>

#include "table.h"
#include "units.h"

namespace seendb::tool {
namespace {

struct OddKind {
  const char* name;  // in JSON
  const char* text;  // behind a number
};

constexpr std::array<OddKind, static_cast<size_t>(OddId::kNot)> kOddKinds = {{
    {"invisible",
     "ids with a character at an end that is not seen (a no-break space and the like)"},
    {"escape",
     "ids with \\t, \\n or \\\\ in them: escapes of mysql --batch and of PostgreSQL's COPY are not "
     "undone"},
    {"list",
     "ids with blanks or separators in them; if each is a list, --item-separator splits it"},
    {"float", "ids that end in .0: numbers that were written as fractions?"},
    {"scientific", "ids in scientific notation: digits are lost where a spreadsheet wrote them"},
    {"nothing", "ids that name nothing (NULL, NaN and the like)"},
    {"quote", "ids with a quote at one end: its pair is missing"},
}};

bool IsDecimal(char c) { return c >= '0' && c <= '9'; }

size_t DigitsOf(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDecimal) - text.begin());
}

/// "12.5E+3", "1e+9": digits with an exponent, and with a point or a sign of the exponent. "1e9"
/// has neither: it may be an id in hexadecimal.
bool IsScientific(std::string_view id) {
  if (id.starts_with('-')) id.remove_prefix(1);
  const size_t whole = DigitsOf(id);
  if (whole == 0) return false;
  id.remove_prefix(whole);
  bool telling = false;
  if (id.starts_with('.')) {
    id.remove_prefix(1);
    id.remove_prefix(DigitsOf(id));
    telling = true;
  }
  if (!id.starts_with('e') && !id.starts_with('E')) return false;
  id.remove_prefix(1);
  if (id.starts_with('+') || id.starts_with('-')) {
    id.remove_prefix(1);
    telling = true;
  }
  return telling && !id.empty() && DigitsOf(id) == id.size();
}

/// Blanks and marks beyond ASCII that a table shows as nothing.
bool EndsInvisible(std::string_view id) {
  constexpr std::string_view kMarks[] = {
      "\xC2\xA0",      // no-break space
      "\xE2\x80\x8B",  // zero width space, and the marks beside it
      "\xE2\x80\x8C", "\xE2\x80\x8D", "\xE2\x80\x8E", "\xE2\x80\x8F",
      "\xE2\x80\xAF",  // narrow no-break space
      "\xE3\x80\x80",  // ideographic space
      "\xEF\xBB\xBF",  // byte order mark
  };
  return std::any_of(std::begin(kMarks), std::end(kMarks), [&](std::string_view mark) {
    return id.starts_with(mark) || id.ends_with(mark);
  });
}

/// `a\tb`: two characters that stand for one.
bool HoldsEscape(std::string_view id) {
  const size_t at = id.find('\\');
  return at != std::string_view::npos && at + 1 < id.size() &&
         std::string_view("tn\\").find(id[at + 1]) != std::string_view::npos;
}

bool NamesNothing(std::string_view id) {
  constexpr std::string_view kNames[] = {"null", "nan", "none", "nil", "undefined",
                                         "n/a",  "na",  "<na>", "\\n"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) {
    return std::equal(id.begin(), id.end(), name.begin(), name.end(), [](char one, char other) {
      return std::tolower(static_cast<unsigned char>(one)) == other;
    });
  });
}

}  // namespace

OddId OddnessOf(std::string_view id) {
  if (id.empty()) return OddId::kNot;
  if ((id.front() == '"') != (id.back() == '"') || id == "\"") return OddId::kQuote;
  if (EndsInvisible(id)) return OddId::kInvisible;
  if (HoldsEscape(id)) return OddId::kEscape;
  if (id.find_first_of(" \t|;,[") != std::string_view::npos) return OddId::kList;
  if (NamesNothing(id)) return OddId::kNothing;
  const size_t digits = DigitsOf(id);
  if (digits > 0 && id.substr(digits) == ".0") return OddId::kFloat;
  return IsScientific(id) ? OddId::kScientific : OddId::kNot;
}

void OddIds::Look(std::string_view id, uint64_t row) {
  const OddId kind = OddnessOf(id);
  if (kind == OddId::kNot) return;
  Found& found = found_[static_cast<size_t>(kind)];
  if (found.count++ == 0) found.row = row, found.example = id;
}

std::string OddIds::ToText() const {
  std::string text;
  for (size_t i = 0; i < found_.size(); ++i) {
    if (found_[i].count == 0) continue;
    text += "warning: " + FormatCount(found_[i].count) + " " + kOddKinds[i].text + " (row " +
            FormatCount(found_[i].row) + ": \"" + Printable(found_[i].example.substr(0, 64)) +
            "\")\n";
  }
  return text;
}

Json OddIds::ToJson() const {
  Json all = Json::array();
  for (size_t i = 0; i < found_.size(); ++i) {
    if (found_[i].count == 0) continue;
    all.push_back({{"kind", kOddKinds[i].name},
                   {"count", found_[i].count},
                   {"row", found_[i].row},
                   {"example", found_[i].example}});
  }
  return all;
}

}  // namespace seendb::tool
