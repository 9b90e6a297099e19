#include "items_part.h"

#include <filesystem>

#include "ops/log.h"

namespace seendb {
namespace {

/// How often deletions are forgotten that are old enough: a walk over all items.
constexpr std::chrono::hours kTrimEvery{6};

}  // namespace

ItemsPart::ItemsPart(const ops::Config& config, api::Context* context)
    : context_(*context), trims_(!config.manual_clock_ms) {
  if (config.items.bytes == 0) return;
  ItemStoreOptions options{.bytes = config.items.bytes, .floor_days = config.items.floor_days};
  if (context->clock != nullptr) {
    options.now_ms = [clock = context->clock] { return clock->NowMs(); };
  }
  if (config.kafka && ops::HasItemTopics(*config.kafka)) {
    context_.items.Follow(config.items.lag_ms);
  }
  context_.items.Configure((std::filesystem::path(config.db) / "items").string(),
                           std::move(options));
}

Part ItemsPart::Row() {
  return {
      .name = "items",
      .finish = [this](Engine*) { return context_.items.Open(); },
      .start =
          [this](Engine*) {
            if (trims_)
              trimming_.Start("items-trim", kTrimEvery, [this] { context_.items.Trim(); });
          },
      .stop =
          [this](int64_t grace_ms) {
            if (!trimming_.Stop(grace_ms)) return false;
            if (const Status closed = context_.items.Close(); !closed.ok()) {
              ops::Log(ops::LogLevel::kError, "items_not_closed", {{"error", closed.ToString()}});
            }
            return true;
          },
      .metrics = [this](auto* to) { to->items = context_.items.State(); }};
}

ingest::ItemSink ItemsPart::Sink() {
  api::ItemDoor& items = context_.items;
  return {
      .types =
          [&items] {
            const Result<api::ItemDoor::Opened> opened = items.Use();
            return opened.ok() ? opened->types : nullptr;
          },
      .sources = [&items] { return items.Sources(); },
      .apply = [&items](auto updates, auto sources) { return items.ApplyFrom(updates, sources); },
      .current = [&items](int64_t current_ms) { items.SetCurrent(current_ms); }};
}

}  // namespace seendb
