// seendb/byte_source.h: the bytes of a log: a file or standard input, decompressed on the way.

#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "seendb/status.h"

namespace seendb::tool {

/// Bytes read in order. Zstandard and gzip input is known by its magic number, whatever it is
/// called. Memory: one window and two buffers. Threads: one.
class ByteSource {
 public:
  /// Opens a file, or standard input for "-". kNotFound, kIOError.
  static Result<std::unique_ptr<ByteSource>> Open(const std::string& path);
  virtual ~ByteSource() = default;

  /// Reads up to `size` bytes, at least one; 0 at the end. kIOError; kCorruption where the
  /// compressed data is damaged or cut short; kClosed after a signal (interrupt.h).
  virtual Result<size_t> Read(char* to, size_t size) = 0;
  /// Bytes of the file taken so far (compressed ones, where it is), for progress.
  virtual uint64_t file_bytes_read() const = 0;
  /// Bytes of the file; 0 where nobody knows (pipes).
  virtual uint64_t file_bytes() const = 0;
};

/// Bytes written in order to a file or, for "-", standard output; compressed where the name ends
/// in ".zst". A file appears under its name only when Finish succeeds. Threads: one.
class ByteSink {
 public:
  /// Opens it for writing. kIOError.
  static Result<std::unique_ptr<ByteSink>> Open(const std::string& path);
  virtual ~ByteSink() = default;

  /// Writes all of `bytes`. kIOError.
  virtual Status Write(std::string_view bytes) = 0;
  /// Completes the output. kIOError. Nothing may be written afterwards.
  virtual Status Finish() = 0;
};

/// True for a name ending in ".zst"; `stem`, if asked for, is the name without it.
bool IsZstName(const std::string& path, std::string* stem = nullptr);
/// `path` without ".zst" or ".gz" at its end.
std::string WithoutCompression(const std::string& path);

}  // namespace seendb::tool
