#include "http/encoder.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <stdexcept>

#include <zlib.h>
#include <zstd.h>

namespace seendb::http {
namespace {

/// zlib's flag for windowBits: a gzip frame.
constexpr int kGzipFrame = 16;
/// zlib's default; its memory is the next constant.
constexpr int kMemLevel = 8;
constexpr size_t kDeflateBytes = (size_t{1} << (MAX_WBITS + 2)) + (size_t{1} << (kMemLevel + 9));
constexpr int kZstdLevel = 1;
/// Room that is made at a time, beyond a fifth of what comes in.
constexpr size_t kLeastRoom = 512;

/// Lets `fill(to, room)`, which returns bytes written, append to `*out`.
template <typename Fill>
void AppendTo(std::string* out, size_t room, Fill fill) {
  const size_t before = out->size();
  out->resize(before + room);
  out->resize(before + fill(out->data() + before, room));
}

}  // namespace

/// A library's encoder.
class Encoder::Stream {
 public:
  virtual ~Stream() = default;
  /// Takes from `*bytes` and writes up to `room`; true when all is done.
  virtual bool Put(std::string_view* bytes, bool end, char* to, size_t room, size_t* made) = 0;
  virtual size_t HeldBytes() const = 0;
};

class Encoder::GzipStream final : public Encoder::Stream {
 public:
  GzipStream() {
    const int made = deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipFrame,
                                  kMemLevel, Z_DEFAULT_STRATEGY);
    if (made != Z_OK) throw std::bad_alloc();
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override { deflateEnd(&stream_); }

  bool Put(std::string_view* bytes, bool end, char* to, size_t room, size_t* made) override {
    const auto in = static_cast<uInt>(std::min<size_t>(bytes->size(), kMost));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes->data()));  // only read
    stream_.avail_in = in;
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(room, kMost));
    const uInt out = stream_.avail_out;
    const bool last = in == bytes->size();
    const int result = deflate(&stream_, !last ? Z_NO_FLUSH : end ? Z_FINISH : Z_SYNC_FLUSH);
    bytes->remove_prefix(in - stream_.avail_in);
    *made = out - stream_.avail_out;
    if (end) return result == Z_STREAM_END;
    return bytes->empty() && stream_.avail_out > 0;
  }
  size_t HeldBytes() const override { return kDeflateBytes; }

 private:
  static constexpr size_t kMost = 1u << 30;

  z_stream stream_{};
};

class Encoder::ZstdStream final : public Encoder::Stream {
 public:
  ZstdStream() : stream_(ZSTD_createCStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(stream_, ZSTD_c_checksumFlag, 1);
  }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream() override { ZSTD_freeCStream(stream_); }

  bool Put(std::string_view* bytes, bool end, char* to, size_t room, size_t* made) override {
    ZSTD_inBuffer in{bytes->data(), bytes->size(), 0};
    ZSTD_outBuffer out{to, room, 0};
    const size_t left = ZSTD_compressStream2(stream_, &out, &in, end ? ZSTD_e_end : ZSTD_e_flush);
    if (ZSTD_isError(left) != 0) throw std::runtime_error(ZSTD_getErrorName(left));
    bytes->remove_prefix(in.pos);
    *made = out.pos;
    return left == 0;
  }
  size_t HeldBytes() const override { return ZSTD_sizeof_CStream(stream_); }

 private:
  ZSTD_CStream* const stream_;
};

Encoder::Encoder(Coding coding) {
  assert(coding != Coding::kIdentity);
  if (coding == Coding::kGzip) stream_ = std::make_unique<GzipStream>();
  if (coding == Coding::kZstd) stream_ = std::make_unique<ZstdStream>();
}

Encoder::~Encoder() = default;

void Encoder::Put(std::string_view bytes, bool end, std::string* out) {
  for (bool done = false; !done;) {
    AppendTo(out, bytes.size() / 5 + kLeastRoom, [&](char* to, size_t room) {
      size_t made = 0;
      done = stream_->Put(&bytes, end, to, room, &made);
      return made;
    });
  }
}

size_t Encoder::HeldBytes() const { return stream_->HeldBytes(); }

}  // namespace seendb::http
