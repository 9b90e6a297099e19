#include "byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "interrupt.h"
#include "part_file.h"

namespace seendb::tool {
namespace {

constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr size_t kGzipBufferBytes = 128 << 10;

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != nullptr && file != stdin) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// A file as it is, with its first bytes given back.
class PlainSource : public ByteSource {
 public:
  PlainSource(File file, std::string path, uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), file_bytes_(size) {}

  /// The first four bytes, which Read gives again.
  Result<std::string> Peek() {
    char head[4];
    auto got = Read(head, sizeof(head));
    if (!got.ok()) return got.status();
    // A pipe may give less at once.
    size_t have = *got;
    while (have != 0 && have < sizeof(head)) {
      auto more = Read(head + have, sizeof(head) - have);
      if (!more.ok()) return more.status();
      if (*more == 0) break;
      have += *more;
    }
    ahead_.assign(head, have);
    return ahead_;
  }

  Result<size_t> Read(char* to, size_t size) override {
    if (!ahead_.empty()) {
      const size_t n = std::min(size, ahead_.size());
      std::memcpy(to, ahead_.data(), n);
      ahead_.erase(0, n);
      return n;
    }
    // Not fread, which would wait for a whole buffer where a pipe has a few rows.
    ssize_t n = -1;
    do {
      n = ::read(fileno(file_.get()), to, size);
    } while (n < 0 && errno == EINTR && InterruptedBy() == 0);
    if (n < 0 && errno == EINTR) return Status::Closed("interrupted");
    if (n < 0) return Status::IOError("can't read " + path_ + ": " + std::strerror(errno));
    read_ += static_cast<uint64_t>(n);
    return static_cast<size_t>(n);
  }

  uint64_t file_bytes_read() const override { return read_; }
  uint64_t file_bytes() const override { return file_bytes_; }
  const std::string& path() const { return path_; }

 private:
  File file_;
  std::string path_;
  std::string ahead_;
  uint64_t file_bytes_;
  uint64_t read_ = 0;
};

/// Zstandard frames, one after another.
class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<PlainSource> from)
      : from_(std::move(from)), stream_(ZSTD_createDStream()), buffer_(ZSTD_DStreamInSize()) {}
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  Result<size_t> Read(char* to, size_t size) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        auto got = from_->Read(buffer_.data(), buffer_.size());
        if (!got.ok()) return got.status();
        if (*got == 0) return AtEnd();
        in_ = {buffer_.data(), *got, 0};
      }
      const size_t left = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(left) != 0) {
        return Status::Corruption(from_->path() + ": " + ZSTD_getErrorName(left));
      }
      inside_frame_ = left != 0;
    }
    return out.pos;
  }

  uint64_t file_bytes_read() const override { return from_->file_bytes_read(); }
  uint64_t file_bytes() const override { return from_->file_bytes(); }

 private:
  Result<size_t> AtEnd() const {
    if (inside_frame_) return Status::Corruption(from_->path() + ": ends within a zstd frame");
    return size_t{0};
  }

  std::unique_ptr<PlainSource> from_;
  ZSTD_DStream* stream_;
  std::vector<char> buffer_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool inside_frame_ = false;
};

/// Gzip members, one after another; zeroes behind the last are padding.
class GzipSource : public ByteSource {
 public:
  static Result<std::unique_ptr<ByteSource>> Open(std::unique_ptr<PlainSource> from) {
    std::unique_ptr<GzipSource> source(new GzipSource(std::move(from)));
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&source->stream_, MAX_WBITS + kGzipOnly) != Z_OK) {
      return Status::IOError("zlib can't be started");
    }
    return std::unique_ptr<ByteSource>(std::move(source));
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<size_t> Read(char* to, size_t size) override {
    const auto room = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = room;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        auto got = from_->Read(buffer_.data(), buffer_.size());
        if (!got.ok()) return got.status();
        if (*got == 0) return AtEnd();
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(*got);
      }
      Status status = Step();
      if (!status.ok()) return status;
    }
    return size_t{room - stream_.avail_out};
  }

  uint64_t file_bytes_read() const override { return from_->file_bytes_read(); }
  uint64_t file_bytes() const override { return from_->file_bytes(); }

 private:
  explicit GzipSource(std::unique_ptr<PlainSource> from)
      : from_(std::move(from)), buffer_(kGzipBufferBytes) {}

  /// Takes some of what is there.
  Status Step() {
    if (between_members_) {
      while (stream_.avail_in != 0 && *stream_.next_in == 0) {
        ++stream_.next_in;
        --stream_.avail_in;
      }
      if (stream_.avail_in == 0) return {};
      inflateReset(&stream_);
      between_members_ = false;
    }
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      between_members_ = true;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return Status::Corruption(from_->path() + ": " +
                                (stream_.msg != nullptr ? stream_.msg : "damaged gzip data"));
    }
    return {};
  }
  Result<size_t> AtEnd() const {
    if (!between_members_) return Status::Corruption(from_->path() + ": ends within a gzip member");
    return size_t{0};
  }

  std::unique_ptr<PlainSource> from_;
  std::vector<char> buffer_;
  z_stream stream_{};
  bool between_members_ = false;
};

/// A file written beside its name and renamed at the end, or standard output.
class PlainSink : public ByteSink {
 public:
  PlainSink(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  ~PlainSink() override {
    if (file_ == nullptr || file_ == stdout) return;
    std::fclose(file_);
    std::remove(Temporary().c_str());
  }
  PlainSink(const PlainSink&) = delete;
  PlainSink& operator=(const PlainSink&) = delete;

  Status Write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return Failure();
    return {};
  }

  Status Finish() override {
    if (std::fflush(file_) != 0) return Failure();
    if (file_ == stdout) return {};
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (!closed || std::rename(Temporary().c_str(), path_.c_str()) != 0) return Failure();
    return {};
  }

 private:
  std::string Temporary() const { return path_ + ".part"; }
  Status Failure() const {
    return Status::IOError("can't write " + path_ + ": " + std::strerror(errno));
  }

  std::FILE* file_;
  std::string path_;
};

/// One zstd frame into another sink.
class ZstdSink : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> to)
      : to_(std::move(to)), stream_(ZSTD_createCStream()), buffer_(ZSTD_CStreamOutSize()) {}
  ~ZstdSink() override { ZSTD_freeCStream(stream_); }
  ZstdSink(const ZstdSink&) = delete;
  ZstdSink& operator=(const ZstdSink&) = delete;

  Status Write(std::string_view bytes) override { return Compress(bytes, ZSTD_e_continue); }
  Status Finish() override {
    Status status = Compress({}, ZSTD_e_end);
    return status.ok() ? to_->Finish() : status;
  }

 private:
  Status Compress(std::string_view bytes, ZSTD_EndDirective how) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
      const size_t left = ZSTD_compressStream2(stream_, &out, &in, how);
      if (ZSTD_isError(left) != 0) return Status::IOError(ZSTD_getErrorName(left));
      if (out.pos != 0) {
        Status status = to_->Write({buffer_.data(), out.pos});
        if (!status.ok()) return status;
      }
      if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }

  std::unique_ptr<ByteSink> to_;
  ZSTD_CStream* stream_;
  std::vector<char> buffer_;
};

}  // namespace

bool IsZstName(const std::string& path, std::string* stem) {
  const bool is = path.size() > 4 && path.ends_with(".zst");
  if (stem != nullptr) *stem = is ? path.substr(0, path.size() - 4) : path;
  return is;
}

std::string WithoutCompression(const std::string& path) {
  std::string stem;
  if (!IsZstName(path, &stem) && path.size() > 3 && path.ends_with(".gz")) {
    stem = path.substr(0, path.size() - 3);
  }
  return stem;
}

Result<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path) {
  File file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) {
    const std::string why = "can't open " + path + ": " + std::strerror(errno);
    return errno == ENOENT ? Status::NotFound(why) : Status::IOError(why);
  }
  struct stat info {};
  const bool regular = fstat(fileno(file.get()), &info) == 0 && S_ISREG(info.st_mode);
  const uint64_t size = regular ? static_cast<uint64_t>(info.st_size) : 0;
  auto plain = std::make_unique<PlainSource>(std::move(file), path, size);
  auto head = plain->Peek();
  if (!head.ok()) return head.status();
  if (head->starts_with(kGzipMagic)) return GzipSource::Open(std::move(plain));
  if (head->starts_with(kZstdMagic)) {
    return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(plain)));
  }
  return std::unique_ptr<ByteSource>(std::move(plain));
}

Result<std::unique_ptr<ByteSink>> ByteSink::Open(const std::string& path) {
  std::FILE* file = path == "-" ? stdout : OpenPartFile(path + ".part");
  if (file == nullptr) {
    return Status::IOError("can't write " + path + ": " + std::strerror(errno));
  }
  std::unique_ptr<ByteSink> sink = std::make_unique<PlainSink>(file, path);
  if (IsZstName(path)) sink = std::make_unique<ZstdSink>(std::move(sink));
  return sink;
}

}  // namespace seendb::tool
