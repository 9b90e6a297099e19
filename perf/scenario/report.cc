#include "scenario/report.h"

#include <cmath>

#include "scenario/common.h"

namespace seendb::perf {
namespace {

// Our own words: nothing but quotes and backslashes needs care.
std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

bool IsNumber(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value);
}

}  // namespace

std::string Number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.10g", value);
  return text;
}

Report::Report(const std::string& path) : file_(std::fopen(path.c_str(), "a")) {
  if (file_ == nullptr) Fail("can't write " + path);
}

Report::~Report() { std::fclose(file_); }

void Report::Add(const Figure& figure, double value) {
  std::string line = "{\"scenario\":" + Quoted(figure.scenario) + ",\"case\":{";
  for (size_t i = 0; i < figure.where.size(); ++i) {
    const auto& [name, text] = figure.where[i];
    line.append(i == 0 ? "" : ",").append(Quoted(name)).append(":");
    line.append(IsNumber(text) ? text : Quoted(text));
  }
  const char* better = figure.better == Better::kLess   ? "less"
                       : figure.better == Better::kMore ? "more"
                                                        : "none";
  line.append("},\"peer\":").append(Quoted(figure.peer));
  line.append(",\"metric\":").append(Quoted(figure.metric));
  line.append(",\"better\":\"").append(better).append("\",\"value\":");
  line.append(Number(value)).append("}\n");
  std::fputs(line.c_str(), file_);
  std::fflush(file_);
}

void Report::Note(const std::string& scenario, const std::string& text) {
  const std::string line =
      "{\"scenario\":" + Quoted(scenario) + ",\"note\":" + Quoted(text) + "}\n";
  std::fputs(line.c_str(), file_);
  std::fflush(file_);
}

}  // namespace seendb::perf
