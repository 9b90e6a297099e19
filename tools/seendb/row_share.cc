#include "row_share.h"

#include <charconv>
#include <cstdio>

#include "exit_code.h"
#include "table.h"
#include "units.h"

namespace seendb::tool {

Json RowsJson(const std::vector<RowError>& rows) {
  Json list = Json::array();
  for (const auto& [row, error] : rows) list.push_back({{"row", row}, {"error", error}});
  return list;
}

std::string RowsText(std::string_view title, const std::vector<RowError>& rows, uint64_t all) {
  if (rows.empty()) return {};
  std::string out(title);
  for (const auto& [row, error] : rows) {
    out += "  row " + FormatCount(row) + ": " + Printable(error) + "\n";
  }
  if (all > rows.size()) out += "  and " + FormatCount(all - rows.size()) + " more\n";
  return out;
}

Result<double> ParsePercent(std::string_view text) {
  const std::string_view number = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc() || end != number.data() + number.size() ||
      !(percent >= 0 && percent <= 100)) {
    return Status::InvalidArgument("--max-refused " + std::string(text) + ": write 0% to 100%");
  }
  return percent;
}

Status JudgeRows(uint64_t wrong, uint64_t rows, double allowed_percent, Session* session) {
  const double percent =
      rows == 0 ? 0 : 100 * static_cast<double>(wrong) / static_cast<double>(rows);
  if (wrong == 0 || percent <= allowed_percent) return {};
  session->exit_code = kExitRows;
  session->exit_name = "rows_refused";
  char shares[64];
  std::snprintf(shares, sizeof(shares), "%.3g%%; --max-refused allows %g%%", percent,
                allowed_percent);
  return Status::InvalidArgument(FormatCount(wrong) + " of " + FormatCount(rows) +
                                 " rows were refused or bad (" + shares + ")");
}

}  // namespace seendb::tool
