#include "wire/repeats_json.h"

#include <array>
#include <charconv>
#include <string_view>

#include "wire/exposures_json.h"

namespace seendb::wire {
namespace {

enum WhenShortField : size_t { kNeed, kReuse, kGap, kMax };
constexpr std::array<std::string_view, 4> kWhenShortFields = {"need", "reuse", "gap", "max"};

Status ReadReuse(ondemand::value value) {
  std::string_view text;
  if (Status status = ReadText(value, &text); !status.ok()) return status;
  return text == "oldest" ? Status::Ok() : Status::InvalidArgument("must be \"oldest\"");
}

}  // namespace

Status ReadWhenShort(ondemand::value value, WhenShort* when_short) {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) {
    return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                             : Malformed(error);
  }
  FieldSet fields(kWhenShortFields);
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value member) {
    return field == kNeed    ? ReadCount(member, &when_short->need)
           : field == kReuse ? ReadReuse(member)
           : field == kGap   ? ReadSpan(member, &when_short->gap_ms)
                             : ReadCount(member, &when_short->max);
  });
  for (const WhenShortField needed : {kNeed, kGap, kMax}) {
    if (status.ok()) status = fields.Require(needed);
  }
  return status;
}

void AppendUnseenShare(size_t unseen, size_t examined, std::string* out) {
  const double share =
      examined == 0 ? 1 : static_cast<double>(unseen) / static_cast<double>(examined);
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), share).ptr;
  out->append(",\"unseen_share\":").append(digits, static_cast<size_t>(end - digits));
}

}  // namespace seendb::wire
