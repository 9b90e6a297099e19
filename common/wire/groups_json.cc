#include "wire/groups_json.h"

#include <string>

#include "base/facts.h"

namespace seendb::wire {

Status ReadGroup(ondemand::value value, std::string_view* group) {
  if (Status status = ReadText(value, group); !status.ok()) return status;
  return CheckGroup(*group);
}

Status ReadGroups(ondemand::value value, std::vector<std::string_view>* groups) {
  return ReadElements(value, kMaxCandidateGroups, "groups", [&](size_t, ondemand::value item) {
    return ReadGroup(item, &groups->emplace_back());
  });
}

Status ReadSurface(ondemand::value value, std::string_view* surface) {
  if (Status status = ReadText(value, surface); !status.ok()) return status;
  if (!surface->empty() && surface->size() <= kMaxSurfaceBytes) return Status::Ok();
  return Status::InvalidArgument("must have from 1 to " + std::to_string(kMaxSurfaceBytes) +
                                 " bytes");
}

Status EventGroupsReader::Read(ondemand::value value, size_t position, bool same) {
  any_ = true;
  const size_t first = names_.size();
  Status status = ReadGroups(value, &names_);
  if (status.ok() && names_.size() > first) {
    read_.push_back({position, first, names_.size() - first, same});
  }
  return status;
}

}  // namespace seendb::wire
