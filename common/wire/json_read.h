// common/wire/json_read.h: strict reading of request bodies with simdjson's on-demand parser.
//
// Strict: every field is known and appears once, every value has its one type, numbers are
// unsigned 64-bit integers, strings are UTF-8 without lone surrogates, nothing follows the
// document. Each refusal is kInvalidArgument and names its input by a JSON pointer.
//
// Strings come back as views into the body or into the parser's own buffer: good until the same
// thread begins the next document. Bodies are followed by kPadding readable bytes.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "base/json_pointer.h"
#include "seendb/id.h"
#include "seendb/status.h"

namespace seendb::wire {

namespace ondemand = simdjson::ondemand;

/// Readable bytes behind what is parsed.
inline constexpr size_t kPadding = 64;
static_assert(kPadding >= simdjson::SIMDJSON_PADDING);

/// The greatest integer up to which a double holds each: Number.MAX_SAFE_INTEGER of JavaScript.
inline constexpr uint64_t kMaxSafeInteger = (uint64_t{1} << 53) - 1;

/// Hears of ids that are numbers beyond kMaxSafeInteger.
class NumberWatch {
 public:
  virtual ~NumberWatch() = default;
  /// The refusal of such an id, or Ok where they are taken.
  virtual Status Judge() const = 0;
  /// A document that was read has so many of them.
  virtual void Note(uint64_t count) = 0;
};

/// One document being read by this thread's parser. Do not read one while another is read.
class JsonDocument {
 public:
  /// `numbers` is borrowed: what becomes of ids that are numbers beyond 2^53. Null: nothing.
  explicit JsonDocument(NumberWatch* numbers = nullptr);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  /// Gives an unusually large parser's memory back.
  ~JsonDocument();

  /// Takes note of an id that is a number; refuses one that `numbers` does not take.
  Status NoteNumber(uint64_t number);
  /// Forgets what was noted: the document will be read once more.
  void Discard() { unsafe_ = 0; }
  /// The document that is being read on this thread; null: none.
  static JsonDocument* OfThread() noexcept;

  /// Begins `body`, which must be an object.
  Status Begin(std::string_view body, ondemand::object* root);
  /// Begins `body`, which must be an object or an array.
  Status Begin(std::string_view body, ondemand::value* root);
  /// Refuses anything behind the object. Call after its last field.
  Status End();

 private:
  Status Iterate(std::string_view body);
  ondemand::document document_;
  JsonDocument* const outer_;  // of this thread
  NumberWatch* const numbers_;
  uint64_t unsafe_ = 0;
};

/// A refusal of bytes that are no JSON.
Status Malformed(simdjson::error_code error);

/// The fields an object may have, and those it had. At most 32 names.
class FieldSet {
 public:
  /// `names` is borrowed.
  explicit FieldSet(std::span<const std::string_view> names) : names_(names) {}
  /// The name at `index`.
  std::string_view name(size_t index) const { return names_[index]; }
  /// The index of the field's name in `names`; refuses an unknown or repeated one.
  Status Take(ondemand::field& field, size_t* index);
  /// The field that Take found is null, which is as if it was absent.
  void MakeAbsent(size_t index) { absent_ |= 1u << index; }
  /// True when the field was there.
  bool Has(size_t index) const { return ((taken_ & ~absent_) >> index & 1u) != 0; }
  /// Refuses unless the field was there.
  Status Require(size_t index) const;

 private:
  std::span<const std::string_view> names_;
  uint32_t taken_ = 0, absent_ = 0;
};

/// A value's text if it is no string, object or array; otherwise how it begins.
std::string_view TokenOf(ondemand::value& value);
/// Readers of one value; a refusal's field is left to the caller.
Status ReadId(ondemand::value value, IdRef* id, std::string_view* raw);
/// The same. What is refused may stand for no id at all, null, an empty text or one that is longer
/// than an id: then `*no_id` is true, and reading can go on behind it.
Status ReadId(ondemand::value value, IdRef* id, std::string_view* raw, bool* no_id);
Status ReadText(ondemand::value value, std::string_view* text);
Status ReadUint(ondemand::value value, uint64_t* number);
Status ReadBool(ondemand::value value, bool* flag);
Status ReadArray(ondemand::value value, ondemand::array* array);
/// A time in ms since 1970.
Status ReadTime(ondemand::value value, std::optional<int64_t>* at_ms);
/// The levels of an object that is kept as it came: who reads it back may be of simpler make.
inline constexpr size_t kMaxOpaqueDepth = 32;
/// An object whose members are somebody else's affair: its text as it came, at most `most` bytes
/// of well-formed JSON, at most kMaxOpaqueDepth levels deep.
Status ReadOpaque(ondemand::value value, size_t most, std::string_view* text);

/// Puts `prefix` in front of a refusal's field.
inline Status Within(Status status, std::string_view prefix) {
  return status.ok() ? std::move(status) : status.WithFieldPrefix(prefix);
}

/// Calls `read(index in names, value)` for each field of an object that is not null; what it
/// refuses is refused under the field's name.
template <typename Read>
Status ReadFields(ondemand::object root, FieldSet* fields, const Read& read) {
  for (auto member : root) {
    ondemand::field field;
    if (const auto error = std::move(member).get(field)) return Malformed(error);
    size_t index = 0;
    if (Status status = fields->Take(field, &index); !status.ok()) return status;
    bool null = false;
    if (*field.value().raw_json_token().data() == 'n') {  // no other value begins so
      if (const auto error = field.value().is_null().get(null)) return Malformed(error);
    }
    if (null) {
      fields->MakeAbsent(index);
      continue;
    }
    Status status = read(index, field.value());
    if (!status.ok()) return Within(std::move(status), PointerTo(fields->name(index)));
  }
  return Status::Ok();
}

/// The same for a whole document that must be one object. What `read` was given stays good as long
/// as `document` does.
template <typename Read>
Status ReadObject(std::string_view body, JsonDocument* document, FieldSet* fields,
                  const Read& read) {
  ondemand::object root;
  if (Status status = document->Begin(body, &root); !status.ok()) return status;
  if (Status status = ReadFields(root, fields, read); !status.ok()) return status;
  return document->End();
}

/// Calls `read(position, value)` for each element of an array; what it refuses is refused under the
/// element's position. More than `most` elements (`noun`) are refused.
template <typename Read>
Status ReadElements(ondemand::value value, size_t most, const char* noun, const Read& read) {
  ondemand::array array;
  if (Status status = ReadArray(value, &array); !status.ok()) return status;
  size_t position = 0;
  for (auto element : array) {
    ondemand::value item;
    if (const auto error = std::move(element).get(item)) return Malformed(error);
    if (position == most) {
      return Status::InvalidArgument("more than " + std::to_string(most) + " " + noun);
    }
    Status status = read(position, item);
    if (!status.ok()) return Within(std::move(status), "/" + std::to_string(position));
    ++position;
  }
  return Status::Ok();
}

/// The same of an array of objects: calls `read(object)` for each.
template <typename Read>
Status ReadObjects(ondemand::value value, size_t most, const char* noun, const Read& read) {
  return ReadElements(value, most, noun, [&](size_t, ondemand::value item) {
    ondemand::object object;
    if (const auto error = item.get_object().get(object)) {
      return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                               : Malformed(error);
    }
    return read(object);
  });
}

}  // namespace seendb::wire
