// c/handles.h: what the functions for C share: what is behind the opaque types, how a Status
// becomes a code and an error, and how arguments of C are checked.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "seendb/engine.h"
#include "seendb/seendb.h"

struct seendb_error {
  seendb_code code = SEENDB_INTERNAL;
  std::string message;
  std::string field;
};

struct seendb_db {
  std::unique_ptr<seendb::Engine> engine;
  size_t max_candidates = 0;  ///< Options::max_candidates
};

namespace seendb::c {

/// Puts an error into `*error`, unless that is null, and returns its code. Never throws: without
/// memory the error is one that is part of the library.
seendb_code Fail(seendb_code code, std::string_view message, std::string_view field,
                 seendb_error** error) noexcept;
/// The same of a Status that is no success.
seendb_code Fail(const Status& failure, seendb_error** error) noexcept;

/// Runs `work`, which returns a Status, and tells its outcome as a call for C does. An exception is
/// SEENDB_INTERNAL.
template <typename Work>
seendb_code Run(seendb_error** error, const Work& work) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    const Status status = work();
    return status.ok() ? SEENDB_OK : Fail(status, error);
  } catch (const std::bad_alloc&) {
    return Fail(SEENDB_INTERNAL, "out of memory", "", error);
  } catch (const std::exception& thrown) {
    return Fail(SEENDB_INTERNAL, thrown.what(), "", error);
  } catch (...) {
    return Fail(SEENDB_INTERNAL, "an exception of an unknown type", "", error);
  }
}

/// kInvalidArgument with "/<name>" for a null pointer, else a success.
Status NotNull(const void* pointer, const char* name);
/// The same of an array, which may be null if it is empty; or too long.
Status CheckArray(const void* elements, size_t count, size_t most, const char* name);

/// Checks what a function that gives JSON takes, and makes `*json` null.
Status TakeJson(const seendb_db* db, char** json);

/// "default" for null.
inline std::string_view NameOf(const char* collection) {
  return collection == nullptr ? "default" : collection;
}

/// An id; kInvalidArgument with `field` for an unknown kind, and for text at a null pointer.
Status TakeId(const seendb_id& id, const std::string& field, IdRef* to);
/// Ids of an array, with "/<name>/<position>" as the field.
Status TakeIds(const seendb_id* ids, size_t count, size_t most, const char* name,
               std::vector<IdRef>* to);

/// A structure of the caller that begins with its size, which is `known` here and may be another in
/// the caller's header: kInvalidArgument ("/<name>/size") for less than the first version had, or
/// more than any will. Null: a success.
Status CheckSize(const void* given, size_t first_version, size_t known, const char* name);

/// The same of a structure that says something to the engine, into `*to`. Members that the caller
/// does not know stay as they are there; kInvalidArgument: some that are not known here are not 0.
template <typename T>
Status TakeSized(const T* given, size_t first_version, const char* name, T* to) {
  const Status checked = CheckSize(given, first_version, sizeof(T), name);
  if (!checked.ok() || given == nullptr) return checked;
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) {
      return Status::InvalidArgument("asks for something that this library does not know",
                                     std::string("/").append(name).append("/size"));
    }
  }
  std::memcpy(to, given, size < sizeof(T) ? size : sizeof(T));
  return {};
}

/// Writes `value` over a structure that CheckSize took: as much as the caller knows.
template <typename T>
void GiveSized(T value, T* to) {
  if (to == nullptr) return;
  std::memcpy(&value, to, sizeof(size_t));
  std::memcpy(to, &value, value.size < sizeof(T) ? value.size : sizeof(T));
}

/// A copy of `text` for the caller to free with seendb_free. Throws std::bad_alloc.
void Give(std::string_view text, char** to);

}  // namespace seendb::c
