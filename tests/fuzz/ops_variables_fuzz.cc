// Arbitrary variables, NAME=VALUE on a line, as the server's settings: refused with a reason, or
// read to the settings that the document made of them has, and that --print-config shows.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/input.h"
#include "ops/config.h"
#include "ops/settings_text.h"

namespace {

using seendb::fuzz::Check;
using seendb::ops::Config;

/// Without those that would name files.
seendb::ops::Variables VariablesOf(std::string_view text) {
  seendb::ops::Variables variables;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.find('=');
    if (equals == line.npos || line.substr(0, equals).ends_with("_FILE")) continue;
    variables.emplace("SEENDB_" + std::string(line.substr(0, equals)), line.substr(equals + 1));
  }
  return variables;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Config config;
  const seendb::Status status = seendb::ops::ReadAllSettings("", VariablesOf(text), {}, &config);
  if (!status.ok()) {
    Check(!status.message().empty() && status.code() == seendb::StatusCode::kInvalidArgument);
    return 0;
  }
  for (const std::string& document :
       {config.given.document.dump(), seendb::ops::SettingsText(config)}) {
    if (document.find("(not shown)") != document.npos) continue;  // a secret is missing
    Config again;
    Check(ReadConfig(document, &again).ok());
    Check(again.db == config.db && again.hosts == config.hosts);
    Check(again.limits.queue == config.limits.queue && again.threads == config.threads);
    Check(again.kafka.has_value() == config.kafka.has_value());
  }
  return 0;
}
