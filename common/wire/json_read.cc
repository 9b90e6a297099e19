#include "wire/json_read.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/outside_json.h"
#include "base/suggest.h"
#include "base/utf8.h"

namespace seendb::wire {
namespace {

/// Parsers that grew beyond this are made anew.
constexpr size_t kKeptCapacity = 1u << 20;

std::unique_ptr<ondemand::parser>& ThreadParser() {
  thread_local auto parser = std::make_unique<ondemand::parser>();
  return parser;
}

thread_local JsonDocument* of_thread = nullptr;

/// Text without the space behind it.
std::string_view WithoutTail(std::string_view raw) {
  while (!raw.empty() &&
         (raw.back() == ' ' || raw.back() == '\n' || raw.back() == '\r' || raw.back() == '\t')) {
    raw.remove_suffix(1);
  }
  return raw;
}

/// The characters of a string token, unescaped only where there is something to unescape.
Status TextOf(ondemand::value& value, std::string_view raw, std::string_view* text) {
  if (raw.size() < 2 || raw.back() != '"') return Malformed(simdjson::STRING_ERROR);
  *text = raw.substr(1, raw.size() - 2);
  if (std::memchr(text->data(), '\\', text->size()) == nullptr) {
    // Taken, not skipped: skipping a string lets a ':' behind it pass as if it were a key.
    const auto error = value.get_raw_json_string().error();
    return error ? Malformed(error) : Status::Ok();
  }
  if (value.get_string().get(*text) != simdjson::SUCCESS || !IsUtf8(*text)) {
    return Status::InvalidArgument("malformed escape or lone surrogate in a string");
  }
  return Status::Ok();
}

/// True for a canonical decimal that fits 64 bits.
bool ParseUint(std::string_view digits, uint64_t* number) {
  if (digits.size() > 1 && digits.front() == '0') return false;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, *number);
  return error == std::errc() && stop == end;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

JsonDocument::JsonDocument(NumberWatch* numbers) : outer_(of_thread), numbers_(numbers) {
  of_thread = this;
}

JsonDocument* JsonDocument::OfThread() noexcept { return of_thread; }

Status JsonDocument::NoteNumber(uint64_t number) {
  if (number <= kMaxSafeInteger || numbers_ == nullptr) return Status::Ok();
  ++unsafe_;
  return numbers_->Judge();
}

JsonDocument::~JsonDocument() {
  of_thread = outer_;
  if (unsafe_ != 0) numbers_->Note(unsafe_);
  if (ThreadParser()->capacity() > kKeptCapacity) ThreadParser().reset();
}

Status JsonDocument::Iterate(std::string_view body) {
  auto& parser = ThreadParser();
  if (!parser) parser = std::make_unique<ondemand::parser>();
  if (body.substr(0, 3) == "\xEF\xBB\xBF") {
    return Status::InvalidArgument(
        "JSON syntax error at byte 0: the body begins with a byte order mark");
  }
  const simdjson::padded_string_view padded(body.data(), body.size(),
                                            body.size() + simdjson::SIMDJSON_PADDING);
  const auto error = parser->iterate(padded).get(document_);
  return error ? Malformed(error) : Status::Ok();
}

Status JsonDocument::Begin(std::string_view body, ondemand::object* root) {
  if (Status status = Iterate(body); !status.ok()) return status;
  if (const auto error = document_.get_object().get(*root)) {
    if (error == simdjson::INCORRECT_TYPE) return Status::InvalidArgument("must be a JSON object");
    return Malformed(error);
  }
  return Status::Ok();
}

Status JsonDocument::Begin(std::string_view body, ondemand::value* root) {
  if (Status status = Iterate(body); !status.ok()) return status;
  const auto error = document_.get_value().get(*root);
  if (error == simdjson::SCALAR_DOCUMENT_AS_VALUE) {
    return Status::InvalidArgument("must be an object or an array");
  }
  return error ? Malformed(error) : Status::Ok();
}

Status JsonDocument::End() {
  const char* location = nullptr;
  const auto error = document_.current_location().get(location);
  if (error == simdjson::OUT_OF_BOUNDS) return Status::Ok();
  return Status::InvalidArgument("JSON syntax error: something follows the document");
}

Status Malformed(simdjson::error_code error) {
  if (error == simdjson::EMPTY) return Status::InvalidArgument("the body is empty; must be JSON");
  return Status::InvalidArgument(std::string("JSON syntax error: ") +
                                 simdjson::error_message(error));
}

Status FieldSet::Take(ondemand::field& field, size_t* index) {
  std::string_view key;
  const char* const raw = field.key().raw();
  for (*index = 0; *index < names_.size(); ++*index) {
    const std::string_view name = names_[*index];
    // Up to the padding, bytes behind the key may be read.
    if (std::strncmp(raw, name.data(), name.size()) == 0 && raw[name.size()] == '"') break;
  }
  if (*index == names_.size()) {
    if (const auto error = field.unescaped_key().get(key)) return Malformed(error);
    for (*index = 0; *index < names_.size() && names_[*index] != key; ++*index) {
    }
    if (*index == names_.size()) {
      return Status::InvalidArgument(UnknownName("unknown field", key, names_),
                                     PointerTo(Utf8Prefix(key, kMaxSuggestedBytes)));
    }
  }
  const uint32_t bit = 1u << *index;
  if ((taken_ & bit) != 0) {
    return Status::InvalidArgument("repeated field", PointerTo(names_[*index]));
  }
  taken_ |= bit;
  return Status::Ok();
}

Status FieldSet::Require(size_t index) const {
  if (Has(index)) return Status::Ok();
  return Status::InvalidArgument("missing field", PointerTo(names_[index]));
}

std::string_view TokenOf(ondemand::value& value) { return WithoutTail(value.raw_json_token()); }

Status ReadId(ondemand::value value, IdRef* id, std::string_view* raw) {
  bool no_id = false;
  return ReadId(value, id, raw, &no_id);
}

Status ReadId(ondemand::value value, IdRef* id, std::string_view* raw, bool* no_id) {
  *raw = TokenOf(value);
  *no_id = false;
  if (!raw->empty() && raw->front() == '"') {
    std::string_view text;
    if (Status status = TextOf(value, *raw, &text); !status.ok()) return status;
    *no_id = text.empty() || text.size() > kMaxIdBytes;
    if (text.empty()) return Status::InvalidArgument("id is empty");
    if (text.size() > kMaxIdBytes) {
      return Status::InvalidArgument("id is longer than " + std::to_string(kMaxIdBytes) + " bytes");
    }
    *id = IdRef(text);
    return Status::Ok();
  }
  if (!raw->empty() && raw->front() == 'n') {  // no other value begins so
    if (const auto error = value.is_null().get(*no_id)) return Malformed(error);
  }
  uint64_t number = 0;
  if (raw->empty() || !IsDigit(raw->front()) || !ParseUint(*raw, &number)) {
    return Status::InvalidArgument("id must be a string or an unsigned 64-bit integer");
  }
  *id = IdRef(number);
  return JsonDocument::OfThread()->NoteNumber(number);
}

Status ReadText(ondemand::value value, std::string_view* text) {
  const std::string_view raw = TokenOf(value);
  if (raw.empty() || raw.front() != '"') return Status::InvalidArgument("must be a string");
  return TextOf(value, raw, text);
}

Status ReadUint(ondemand::value value, uint64_t* number) {
  const std::string_view raw = TokenOf(value);
  if (raw.empty() || !IsDigit(raw.front()) || !ParseUint(raw, number)) {
    return Status::InvalidArgument("must be a non-negative integer");
  }
  return Status::Ok();
}

Status ReadBool(ondemand::value value, bool* flag) {
  const std::string_view raw = TokenOf(value);
  *flag = raw == "true";
  if (*flag || raw == "false") return Status::Ok();
  return Status::InvalidArgument("must be true or false");
}

Status ReadArray(ondemand::value value, ondemand::array* array) {
  const auto error = value.get_array().get(*array);
  if (error == simdjson::INCORRECT_TYPE) return Status::InvalidArgument("must be an array");
  return error ? Malformed(error) : Status::Ok();
}

Status ReadTime(ondemand::value value, std::optional<int64_t>* at_ms) {
  uint64_t number = 0;
  const Status status = ReadUint(value, &number);
  if (!status.ok() || number > static_cast<uint64_t>(INT64_MAX)) {
    return Status::InvalidArgument("must be a time in milliseconds since 1970");
  }
  *at_ms = static_cast<int64_t>(number);
  return Status::Ok();
}

Status ReadOpaque(ondemand::value value, size_t most, std::string_view* text) {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) {
    return error == simdjson::INCORRECT_TYPE ? Status::InvalidArgument("must be an object")
                                             : Malformed(error);
  }
  if (const auto error = object.raw_json().get(*text)) return Malformed(error);
  *text = WithoutTail(*text);
  if (text->size() > most) {
    return Status::InvalidArgument("longer than " + std::to_string(most) + " bytes");
  }
  // simdjson only looked for the end.
  if (!nlohmann::json::accept(text->begin(), text->end())) {
    return Status::InvalidArgument("JSON syntax error");
  }
  if (JsonDepth(*text) <= kMaxOpaqueDepth) return Status::Ok();
  return Status::InvalidArgument("more than " + std::to_string(kMaxOpaqueDepth) + " levels deep");
}

}  // namespace seendb::wire
