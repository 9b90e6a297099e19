#include "ingest/item_decoder.h"

#include "ingest/decoder.h"

namespace seendb::ingest {

Status DecodeItems(std::string_view payload, ops::Framing framing, const wire::ItemTypes& types,
                   wire::Arena* arena, std::vector<ItemUpdate>* updates) {
  if (payload.data() == nullptr) return {};
  if (framing == ops::Framing::kConfluent) {
    if (Status status = SkipRegistryBytes(&payload); !status.ok()) return status;
  }
  const size_t before = updates->size();
  wire::JsonDocument document;
  Status status = wire::ParseItemMessage(arena->Copy(payload, wire::kPadding), kMaxMessageEvents,
                                         types, &document, updates);
  if (!status.ok()) {
    updates->resize(before);
    return status;
  }
  // The parser's views die with its document.
  for (size_t i = before; i < updates->size(); ++i) {
    IdRef& id = (*updates)[i].id;
    if (!id.is_number()) id = IdRef(arena->Copy(id.text()));
  }
  return {};
}

}  // namespace seendb::ingest
