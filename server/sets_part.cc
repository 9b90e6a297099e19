#include "sets_part.h"

#include <filesystem>
#include <utility>

#include "ops/log.h"

namespace seendb {

SetsPart::SetsPart(const ops::Config& config, api::Context* context) : context_(*context) {
  if (config.cluster) return;
  SetStoreOptions options;
  if (context->clock != nullptr) {
    options.now_ms = [clock = context->clock] { return clock->NowMs(); };
  }
  context_.sets.Configure((std::filesystem::path(config.db) / "sets").string(), std::move(options));
}

Part SetsPart::Row() {
  return {
      .name = "sets",
      .finish = [this](Engine*) { return context_.sets.Open(); },
      .stop =
          [this](int64_t) {
            if (const Status closed = context_.sets.Close(); !closed.ok()) {
              ops::Log(ops::LogLevel::kError, "sets_not_closed", {{"error", closed.ToString()}});
            }
            return true;
          },
      .metrics = [this](auto* to) { to->sets = context_.sets.State(); }};
}

}  // namespace seendb
