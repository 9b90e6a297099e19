#include "parts.h"

namespace seendb {

std::optional<int> Parts::Prepare() {
  for (const Part& part : parts_) {
    if (!part.prepare) continue;
    if (const std::optional<int> code = part.prepare()) return code;
  }
  return {};
}

Status Parts::Shape(Options* options) {
  for (const Part& part : parts_) {
    if (!part.shape) continue;
    if (Status status = part.shape(options); !status.ok()) return status;
  }
  return Status::Ok();
}

Status Parts::Open(Engine* engine) {
  for (const Part& part : parts_) {
    if (!part.open) continue;
    if (Status status = part.open(engine); !status.ok()) return status;
  }
  return Status::Ok();
}

Status Parts::Finish(Engine* engine) {
  for (const Part& part : parts_) {
    if (!part.finish) continue;
    if (Status status = part.finish(engine); !status.ok()) return status;
  }
  return Status::Ok();
}

void Parts::Start(Engine* engine) {
  for (const Part& part : parts_) {
    if (part.start) part.start(engine);
  }
}

void Parts::Depart() {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    if (part->depart) part->depart();
  }
}

void Parts::Leave() {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    if (part->leave) part->leave();
  }
}

std::optional<std::string_view> Parts::Stop(int64_t grace_ms) {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    if (part->stop && !part->stop(grace_ms)) return part->name;
  }
  return {};
}

std::vector<std::string> Parts::Problems() const {
  std::vector<std::string> problems;
  for (const Part& part : parts_) {
    if (part.problems) part.problems(&problems);
  }
  return problems;
}

void Parts::FillMetrics(ops::MetricsSnapshot* to) const {
  for (const Part& part : parts_) {
    if (part.metrics) part.metrics(to);
  }
}

}  // namespace seendb
