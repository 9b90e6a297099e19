#include "wire/marks_json.h"

#include <array>
#include <span>

#include "wire/groups_json.h"
#include "wire/json_text.h"

namespace seendb::wire {
namespace {

constexpr std::string_view kAlways = "always";

enum MarkField : size_t { kMarkGroup, kMarkUntil, kMarkSaid, kMarkList };
constexpr std::array<std::string_view, 4> kMarkFields = {"group", "until", "at", "marks"};
constexpr std::span<const std::string_view> kFieldsOfOne = std::span(kMarkFields).first(kMarkList);

enum CandidateField : size_t { kCandidateId, kCandidateOf, kCandidateAt, kCandidateSame };
constexpr std::array<std::string_view, 4> kCandidateFields = {"id", "of", "at", "same_as"};

Status ReadUntil(ondemand::value value, std::optional<int64_t>* until_ms) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return Malformed(error);
  if (type != ondemand::json_type::string) return ReadTime(value, until_ms);
  std::string_view text;
  if (Status status = ReadText(value, &text); !status.ok()) return status;
  until_ms->reset();
  if (text == kAlways) return Status::Ok();
  return Status::InvalidArgument("must be a time in ms since 1970, or \"always\"");
}

Status ReadMarkField(size_t field, ondemand::value value, Mark* mark) {
  return field == kMarkGroup   ? ReadGroup(value, &mark->group)
         : field == kMarkUntil ? ReadUntil(value, &mark->until_ms)
                               : ReadTime(value, &mark->at_ms.ms);
}

Status RequireMark(const FieldSet& fields) {
  Status status = fields.Require(kMarkGroup);
  return status.ok() ? fields.Require(kMarkUntil) : status;
}

Status ReadObjectOf(ondemand::value value, ondemand::object* object) {
  const auto error = value.get_object().get(*object);
  if (!error) return Status::Ok();
  return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                           : Malformed(error);
}

Status ReadOneMark(ondemand::object object, Mark* mark) {
  FieldSet fields(kFieldsOfOne);
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value value) {
    return ReadMarkField(field, value, mark);
  });
  return status.ok() ? RequireMark(fields) : status;
}

void AppendGroupUntil(std::string_view group, const std::optional<int64_t>& until_ms,
                      std::string* out) {
  out->append("\"group\":");
  AppendJsonString(group, out);
  out->append(",\"until\":");
  if (until_ms) {
    out->append(std::to_string(*until_ms));
  } else {
    AppendJsonString(kAlways, out);
  }
}

}  // namespace

Status ParseMarks(std::string_view body, JsonDocument* document, MarksCall* call) {
  call->marks.clear();
  Mark single;
  FieldSet fields(kMarkFields);
  Status status = ReadObject(body, document, &fields, [&](size_t field, ondemand::value value) {
    if (field != kMarkList) return ReadMarkField(field, value, &single);
    return ReadElements(value, kMaxMarksAtOnce, "marks", [&](size_t, ondemand::value item) {
      ondemand::object object;
      Status read = ReadObjectOf(item, &object);
      return read.ok() ? ReadOneMark(object, &call->marks.emplace_back()) : read;
    });
  });
  if (!status.ok()) return status;
  call->single = !fields.Has(kMarkList);
  if (call->single) {
    call->marks.assign(1, single);
    return RequireMark(fields);
  }
  for (const size_t field : {kMarkGroup, kMarkUntil, kMarkSaid}) {
    if (fields.Has(field)) {
      return Status::InvalidArgument("is in each of the marks, not beside them",
                                     PointerTo(fields.name(field)));
    }
  }
  return Status::Ok();
}

Status ParseMark(std::string_view line, JsonDocument* document, Mark* mark) {
  *mark = {};
  ondemand::object root;
  if (Status status = document->Begin(line, &root); !status.ok()) return status;
  if (Status status = ReadOneMark(root, mark); !status.ok()) return status;
  return document->End();
}

void AppendMark(const Mark& mark, std::string* out) {
  out->push_back('{');
  AppendGroupUntil(mark.group, mark.until_ms, out);
  if (mark.at_ms.ms) out->append(",\"at\":").append(std::to_string(*mark.at_ms.ms));
  out->push_back('}');
}

void AppendMarkMembers(const MarkEntry& mark, std::string* out) {
  AppendGroupUntil(mark.group, mark.until_ms, out);
  out->append(",\"at\":").append(std::to_string(mark.said_ms));
}

void AppendMarks(const MarksPage& page, std::string* out) {
  out->append("{\"marks\":[");
  for (size_t i = 0; i < page.marks.size(); ++i) {
    out->append(i == 0 ? "{" : ",{");
    AppendMarkMembers(page.marks[i], out);
    out->push_back('}');
  }
  out->push_back(']');
  if (!page.after.empty()) {
    out->append(",\"cursor\":");
    AppendJsonString(page.after, out);
  }
  if (page.degraded) out->append(",\"degraded\":true,\"missing\":[\"own\"]");
  out->push_back('}');
}

Status GroupsReader::Read(ondemand::value value, size_t position, IdRef* id,
                          std::string_view* token, bool* no_id) {
  ondemand::object object;
  if (Status status = ReadObjectOf(value, &object); !status.ok()) return status;
  One one{position};
  FieldSet fields(kCandidateFields);
  Status refusal;
  const auto read_groups = [this](ondemand::value member, size_t* first, size_t* count) {
    *first = names_.size();
    Status read = ReadGroups(member, &names_);
    *count = names_.size() - *first;
    return read;
  };
  Status status = ReadFields(object, &fields, [&](size_t field, ondemand::value member) {
    if (field == kCandidateAt) return ReadTime(member, &one.at_ms);
    if (field == kCandidateOf) return read_groups(member, &one.first, &one.count);
    if (field == kCandidateSame) return read_groups(member, &one.first_same, &one.same);
    Status read = ReadId(member, id, token, no_id);
    if (!*no_id) return read;
    refusal = Within(std::move(read), PointerTo(kCandidateFields[kCandidateId]));
    return Status::Ok();
  });
  if (status.ok()) status = fields.Require(kCandidateId);
  if (!status.ok()) {
    *no_id = false;  // it is refused whatever becomes of what stands for no id
    return status;
  }
  if (*no_id) return refusal;
  if (one.count + one.same > 0 || one.at_ms) read_.push_back(one);
  return status;
}

void GroupsReader::Finish(size_t candidates, std::vector<CandidateGroups>* groups) const {
  groups->clear();
  if (read_.empty()) return;
  groups->resize(candidates);
  for (const One& one : read_) {
    const std::span<const std::string_view> names(names_);
    (*groups)[one.position] = {.of = names.subspan(one.first, one.count),
                               .at_ms = one.at_ms,
                               .same_as = names.subspan(one.first_same, one.same)};
  }
}

}  // namespace seendb::wire
