#include "http/chunk_decoder.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace seendb::http {
namespace {

/// Digits of a size that surely fits 64 bits.
constexpr size_t kSizeDigits = 16;

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

bool IsTokenCharacter(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kOthers.find(c) != std::string_view::npos;
}

}  // namespace

ChunkDecoder::Progress ChunkDecoder::Put(Bytes* in, Bytes* body, size_t limit) {
  bool advanced = true;
  while (advanced && state_ != State::kDone) {
    switch (state_) {
      case State::kHead:
        advanced = TakeHead(in, limit);
        break;
      case State::kData:
        advanced = TakeData(in, body);
        break;
      case State::kDataEnd:
        advanced = TakeDataEnd(in);
        break;
      case State::kTrailer:
        advanced = TakeTrailer(in);
        break;
      case State::kDone:
        break;
    }
  }
  if (error_) return Progress::kBroken;
  return state_ == State::kDone ? Progress::kDone : Progress::kNeedsMore;
}

bool ChunkDecoder::TakeHead(Bytes* in, size_t limit) {
  std::string_view line;
  if (!FindLine(in->view(), line_bytes_, &line)) return false;
  const std::string_view digits = line.substr(0, line.find(';'));
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, left_, 16);
  if (error != std::errc() || stop != end || digits.size() > kSizeDigits) {
    return Refuse("malformed chunk size");
  }
  in->Consume(line.size() + 2);
  state_ = left_ == 0 ? State::kTrailer : State::kData;
  if (left_ <= limit - taken_) return true;
  error_ = Error{413, "too_large", "request body over " + std::to_string(limit) + " bytes"};
  return false;
}

bool ChunkDecoder::TakeData(Bytes* in, Bytes* body) {
  const std::string_view piece = in->view().substr(0, left_);
  if (piece.empty()) return false;
  if (body != nullptr && !body->Append(piece)) {
    error_ = Error{503, "busy", "too many request bytes in flight"};
    return false;
  }
  in->Consume(piece.size());
  left_ -= piece.size();
  taken_ += piece.size();
  if (left_ == 0) state_ = State::kDataEnd;
  return true;
}

bool ChunkDecoder::TakeDataEnd(Bytes* in) {
  const std::string_view bytes = in->view().substr(0, 2);
  if (bytes != std::string_view("\r\n").substr(0, bytes.size())) {
    return Refuse("chunk longer than its size");
  }
  if (bytes.size() < 2) return false;
  in->Consume(2);
  state_ = State::kHead;
  return true;
}

bool ChunkDecoder::TakeTrailer(Bytes* in) {
  std::string_view line;
  if (!FindLine(in->view(), line_bytes_ - trailer_bytes_, &line)) return false;
  trailer_bytes_ += std::min(line.size() + 2, line_bytes_ - trailer_bytes_);
  if (line.empty()) {
    state_ = State::kDone;
  } else {
    const std::string_view name = line.substr(0, line.find(':'));
    const bool token = !name.empty() && std::all_of(name.begin(), name.end(), IsTokenCharacter);
    if (name.size() == line.size() || !token) return Refuse("malformed trailer");
  }
  in->Consume(line.size() + 2);
  return true;
}

bool ChunkDecoder::FindLine(std::string_view bytes, size_t limit, std::string_view* line) {
  const size_t end = std::min(bytes.size(), limit);
  while (searched_ < end && !IsControl(bytes[searched_])) ++searched_;
  if (searched_ == end) {
    return bytes.size() < limit ? false : Refuse("chunk head or trailer over the limit");
  }
  const std::string_view mark = bytes.substr(searched_, 2);
  if (mark != std::string_view("\r\n").substr(0, mark.size())) {
    return Refuse("control character in a chunk head or trailer");
  }
  if (mark.size() < 2) return false;
  *line = bytes.substr(0, searched_);
  searched_ = 0;
  return true;
}

bool ChunkDecoder::Refuse(const char* what) {
  error_ = Error{400, "invalid_argument", std::string("broken HTTP: ") + what};
  return false;
}

}  // namespace seendb::http
