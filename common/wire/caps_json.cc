#include "wire/caps_json.h"

#include <array>

#include "wire/exposures_json.h"
#include "wire/groups_json.h"

namespace seendb::wire {
namespace {

enum CapField : size_t { kCapOf, kCapFact, kCapNumber, kCapWithin };
constexpr std::array<std::string_view, 4> kCapFields = {"of", "fact", "n", "within"};

Status ReadCap(ondemand::object object, Cap* cap) {
  FieldSet fields(kCapFields);
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    return field == kCapOf       ? ReadGroup(value, &cap->of)
           : field == kCapFact   ? ReadFact(value, &cap->fact)
           : field == kCapNumber ? ReadCount(value, &cap->n)
                                 : ReadSpan(value, &cap->within_ms);
  });
  for (const size_t field : {kCapOf, kCapNumber, kCapWithin}) {
    if (status.ok()) status = fields.Require(field);
  }
  return status;
}

}  // namespace

Status ReadCaps(ondemand::value value, std::vector<Cap>* caps) {
  caps->clear();
  return ReadObjects(value, kMaxCaps, "caps", [&](ondemand::object object) {
    return ReadCap(object, &caps->emplace_back());
  });
}

}  // namespace seendb::wire
