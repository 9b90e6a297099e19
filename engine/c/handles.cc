#include "c/handles.h"

#include <cstdlib>

namespace seendb::c {
namespace {

// The error of a failure that there is no memory to tell of. It is never freed.
seendb_error* OutOfMemory() noexcept {
  static seendb_error error{SEENDB_INTERNAL, "out of memory", ""};  // short enough for no heap
  return &error;
}

static_assert(SEENDB_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(SEENDB_NOT_FOUND == static_cast<int>(StatusCode::kNotFound));
static_assert(SEENDB_INCOMPATIBLE == static_cast<int>(StatusCode::kIncompatible));
static_assert(SEENDB_CORRUPTION == static_cast<int>(StatusCode::kCorruption));
static_assert(SEENDB_BUSY == static_cast<int>(StatusCode::kBusy));
static_assert(SEENDB_IO_ERROR == static_cast<int>(StatusCode::kIOError));
static_assert(SEENDB_UNAVAILABLE == static_cast<int>(StatusCode::kUnavailable));
static_assert(SEENDB_CLOSED == static_cast<int>(StatusCode::kClosed));

}  // namespace

seendb_code Fail(seendb_code code, std::string_view message, std::string_view field,
                 seendb_error** error) noexcept {
  if (error == nullptr) return code;
  try {
    *error = new seendb_error{code, std::string(message), std::string(field)};
  } catch (const std::bad_alloc&) {
    *error = OutOfMemory();
  }
  return code;
}

seendb_code Fail(const Status& failure, seendb_error** error) noexcept {
  return Fail(static_cast<seendb_code>(failure.code()), failure.message(), failure.field(), error);
}

Status NotNull(const void* pointer, const char* name) {
  if (pointer != nullptr) return {};
  return Status::InvalidArgument("is NULL", std::string("/").append(name));
}

Status CheckArray(const void* elements, size_t count, size_t most, const char* name) {
  if (count > most) {
    return Status::InvalidArgument(
        "at most " + std::to_string(most) + " elements, not " + std::to_string(count),
        std::string("/").append(name));
  }
  return count == 0 ? Status() : NotNull(elements, name);
}

Status CheckSize(const void* given, size_t first_version, size_t known, const char* name) {
  constexpr size_t kMost = 4096;
  if (given == nullptr) return {};
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size >= first_version && size <= kMost) return {};
  return Status::InvalidArgument(
      "is " + std::to_string(size) + ", not " + std::to_string(known) + " (SEENDB_INIT)",
      std::string("/").append(name).append("/size"));
}

Status TakeJson(const seendb_db* db, char** json) {
  if (json != nullptr) *json = nullptr;
  const Status checked = NotNull(db, "db");
  return checked.ok() ? NotNull(json, "json") : checked;
}

Status TakeId(const seendb_id& id, const std::string& field, IdRef* to) {
  if (id.kind == SEENDB_ID_NUMBER) {
    *to = IdRef(id.number);
  } else if (id.kind != SEENDB_ID_TEXT) {
    return Status::InvalidArgument("is no id: its kind is " + std::to_string(id.kind), field);
  } else if (id.text == nullptr) {
    return Status::InvalidArgument("is an id of text whose text is NULL", field);
  } else {
    *to = IdRef(std::string_view(id.text, id.size));
  }
  return {};
}

Status TakeIds(const seendb_id* ids, size_t count, size_t most, const char* name,
               std::vector<IdRef>* to) {
  Status taken = CheckArray(ids, count, most, name);
  if (!taken.ok()) return taken;
  to->resize(count);
  for (size_t i = 0; i < count; ++i) {
    taken = TakeId(ids[i], {}, &(*to)[i]);
    if (taken.ok()) continue;
    return taken.WithFieldPrefix(std::string("/").append(name).append("/") + std::to_string(i));
  }
  return {};
}

void Give(std::string_view text, char** to) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  *to = copy;
}

}  // namespace seendb::c

using seendb::StatusCode;

extern "C" {

const char* seendb_code_name(int code) {
  if (code < SEENDB_OK || code > SEENDB_CLOSED) return "internal";
  return seendb::StatusCodeName(static_cast<StatusCode>(code)).data();  // of a literal
}

seendb_code seendb_error_code(const seendb_error* error) {
  return error == nullptr ? SEENDB_OK : error->code;
}

const char* seendb_error_message(const seendb_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

const char* seendb_error_field(const seendb_error* error) {
  return error == nullptr ? "" : error->field.c_str();
}

void seendb_error_free(seendb_error* error) {
  if (error != seendb::c::OutOfMemory()) delete error;
}

void seendb_free(char* text) { std::free(text); }

seendb_id seendb_text(const char* text) {
  if (text == nullptr) return {nullptr, 0, 0, 0};
  const size_t size = std::strlen(text);
  return {text, 0, size < UINT32_MAX ? static_cast<uint32_t>(size) : UINT32_MAX, SEENDB_ID_TEXT};
}

seendb_id seendb_number(uint64_t number) { return {nullptr, number, 0, SEENDB_ID_NUMBER}; }

}  // extern "C"
