#include "byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

namespace seendb::tool {
namespace {

constexpr unsigned char kZstdMagic[4] = {0x28, 0xB5, 0x2F, 0xFD};

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
    } while (n < 0 && errno == EINTR);
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
  if (head->size() != 4 || std::memcmp(head->data(), kZstdMagic, 4) != 0) {
    return std::unique_ptr<ByteSource>(std::move(plain));
  }
  return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(plain)));
}

Result<std::unique_ptr<ByteSink>> ByteSink::Open(const std::string& path) {
  std::FILE* file = path == "-" ? stdout : std::fopen((path + ".part").c_str(), "wb");
  if (file == nullptr) {
    return Status::IOError("can't write " + path + ": " + std::strerror(errno));
  }
  std::unique_ptr<ByteSink> sink = std::make_unique<PlainSink>(file, path);
  if (IsZstName(path)) sink = std::make_unique<ZstdSink>(std::move(sink));
  return sink;
}

}  // namespace seendb::tool
