// tests/cluster/cluster_doc.h: the page server/doc/cluster-format.md, whose examples are the golden
// bytes of a cluster's records.

#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace seendb::cluster::test {

/// The page. Tests run in the project's folder.
inline std::string ClusterDocument() {
  std::ifstream file("server/doc/cluster-format.md");
  EXPECT_TRUE(file.is_open());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The lines of every block of a language, one string a line.
inline std::vector<std::string> DocumentBlocks(const std::string& language) {
  std::vector<std::string> lines;
  std::stringstream text(ClusterDocument());
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      inside = line == "```" + language;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// "01 ff".
inline std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    if (!hex.empty()) hex += ' ';
    hex += kDigits[static_cast<uint8_t>(byte) >> 4];
    hex += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return hex;
}

}  // namespace seendb::cluster::test
