// seendb/table.h: aligned columns for people.
//
//   Table table({{"bucket"}, {"bytes", Align::kRight}});
//   table.Add({"2026-11", "1.5 MiB"});
//   std::cout << table.ToString();
//
// Widths count code points, so that names in any script line up (wide glyphs excepted). Control
// characters in a cell are printed as \xNN, so that an id can't move the cursor.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace seendb::tool {

/// Which side of its column a cell keeps to.
enum class Align { kLeft, kRight };

/// A column's heading and alignment.
struct Column {
  std::string name;
  Align align = Align::kLeft;
};

/// Rows under headings: see the head of this file.
class Table {
 public:
  /// A table without rows.
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Adds a row; missing cells are empty, extra ones are dropped.
  void Add(std::vector<std::string> cells);
  /// True without rows.
  bool empty() const { return rows_.empty(); }
  /// Headings in upper case, then the rows, columns two spaces apart, no trailing spaces.
  std::string ToString() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "name  value" lines, names aligned, each indented by two spaces.
class Facts {
 public:
  /// Adds a line.
  void Add(std::string name, std::string_view value);
  /// The lines.
  std::string ToString() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

/// `text` with characters that steer a terminal, turn the direction of writing, or are not seen, as
/// \xNN.
std::string Printable(std::string_view text);

}  // namespace seendb::tool
