#include "http/decoder.h"

#include <algorithm>
#include <cassert>
#include <climits>
#include <new>

#include <zlib.h>
#include <zstd.h>

namespace seendb::http {
namespace {

/// What inflate holds: its window and its state.
constexpr size_t kInflateBytes = (32u << 10) + (8u << 10);
/// zlib's flag for windowBits: gzip's frame and no other.
constexpr int kGzipOnly = 16;
/// So many bytes may come out of any number; beyond, at most so many times as went in.
constexpr uint64_t kFreeBytes = 16u << 20;
constexpr uint64_t kMostRatio = 100;
/// The largest window of a zstd frame, 8 MB, as a power of two.
constexpr int kZstdWindowLog = 23;

}  // namespace

/// A library's decoder.
class Decoder::Stream {
 public:
  virtual ~Stream() = default;
  /// What of one member can be done in one go; an error's name, or nothing.
  virtual const char* Put(std::string_view coded, char* to, size_t room, Step* step) = 0;
  /// True where a body may end.
  virtual bool BetweenMembers() const = 0;
  /// Memory it holds.
  virtual size_t Bytes() const = 0;
};

class Decoder::GzipStream final : public Decoder::Stream {
 public:
  GzipStream() {
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override { inflateEnd(&stream_); }

  const char* Put(std::string_view coded, char* to, size_t room, Step* step) override {
    if (between_) {
      if (ended_once_ && static_cast<unsigned char>(coded.front()) != kMagic) {
        return "there are bytes behind its end";
      }
      inflateReset(&stream_);
      between_ = false;
    }
    const auto in = static_cast<uInt>(std::min<size_t>(coded.size(), kMost));
    const auto out = static_cast<uInt>(std::min<size_t>(room, kMost));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));  // only read
    stream_.avail_in = in;
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    *step = {in - stream_.avail_in, out - stream_.avail_out};
    between_ = result == Z_STREAM_END;
    ended_once_ = ended_once_ || between_;
    if (between_ || result == Z_OK || result == Z_BUF_ERROR) return nullptr;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    return stream_.msg != nullptr ? stream_.msg : "damaged";
  }
  bool BetweenMembers() const override { return between_; }
  size_t Bytes() const override { return kInflateBytes; }

 private:
  static constexpr size_t kMost = 1u << 30;
  static constexpr unsigned char kMagic = 0x1F;

  z_stream stream_{};
  bool between_ = true, ended_once_ = false;
};

class Decoder::ZstdStream final : public Decoder::Stream {
 public:
  ZstdStream() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kZstdWindowLog);
  }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream() override { ZSTD_freeDStream(stream_); }

  const char* Put(std::string_view coded, char* to, size_t room, Step* step) override {
    if (between_ && !BeginsFrame(coded.front())) {
      return ended_once_ ? "there are bytes behind its end" : "not zstd";
    }
    ZSTD_inBuffer in{coded.data(), coded.size(), 0};
    ZSTD_outBuffer out{to, room, 0};
    const size_t left = ZSTD_decompressStream(stream_, &out, &in);
    *step = {in.pos, out.pos};
    if (ZSTD_isError(left) != 0) return ZSTD_getErrorName(left);
    between_ = left == 0;
    ended_once_ = ended_once_ || between_;
    return nullptr;
  }
  bool BetweenMembers() const override { return between_; }
  size_t Bytes() const override { return ZSTD_sizeof_DStream(stream_); }

 private:
  /// Frames and skippable frames. libzstd may know layouts of before 1.0 too, which have no bound
  /// for their windows; their first bytes are others.
  static bool BeginsFrame(char byte) { return byte == 0x28 || (byte & 0xF0) == 0x50; }

  ZSTD_DStream* const stream_;
  bool between_ = true, ended_once_ = false;
};

Decoder::Decoder(Coding coding, MemoryBudget* budget) : coding_(coding), budget_(budget) {
  assert(coding != Coding::kIdentity);
  if (coding == Coding::kGzip) stream_ = std::make_unique<GzipStream>();
  if (coding == Coding::kZstd) stream_ = std::make_unique<ZstdStream>();
}

Decoder::~Decoder() { budget_->Give(charged_); }

Decoder::Step Decoder::Put(std::string_view coded, char* to, size_t room) {
  Step all;
  while (!error_ && all.made < room) {
    const bool nothing_more = coded.empty() && stream_->BetweenMembers();
    if (nothing_more || !Charge()) break;
    Step step;
    const char* const wrong = stream_->Put(coded, to + all.made, room - all.made, &step);
    coded.remove_prefix(step.taken);
    offset_ += step.taken;
    all.taken += step.taken;
    all.made += step.made;
    made_ += step.made;
    if (wrong != nullptr) Refuse(wrong);
    if (!error_) CheckRatio();
    if (step.taken != 0 || step.made != 0 || error_) continue;
    if (!coded.empty()) Refuse("damaged");
    break;  // it needs more
  }
  if (!error_) Charge();
  return all;
}

bool Decoder::End() {
  if (!error_ && (offset_ == 0 || !stream_->BetweenMembers())) Refuse("its end is missing");
  return !error_;
}

/// Counts what the library holds by now; a frame's window is there only after it was asked for.
bool Decoder::Charge() {
  const size_t held = stream_->Bytes();
  if (held > charged_ && !budget_->Take(held - charged_)) {
    error_ = Error{503, "busy", "too many request bytes in flight"};
    return false;
  }
  if (held < charged_) budget_->Give(charged_ - held);
  charged_ = held;
  return true;
}

/// Text compresses to a tenth; what repeats itself alone comes to more than a hundred times.
void Decoder::CheckRatio() {
  if (made_ <= kFreeBytes || made_ <= kMostRatio * offset_) return;
  error_ = Error{413, "too_large",
                 "Content-Encoding " + std::string(CodingName(coding_)) + ": over " +
                     std::to_string(kMostRatio) + " times as much comes out as went in, at byte " +
                     std::to_string(offset_) + " of the compressed body; send it less compressed"};
}

void Decoder::Refuse(std::string_view what) {
  error_ = Error{400, "invalid_argument",
                 "Content-Encoding " + std::string(CodingName(coding_)) + ": " + std::string(what) +
                     ", at byte " + std::to_string(offset_) + " of the compressed body"};
}

}  // namespace seendb::http
