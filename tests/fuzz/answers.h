// tests/fuzz/answers.h: what a session said, by the simplest of clients.

#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/input.h"
#include "http/decoder.h"

namespace seendb::fuzz {

/// An answer with its body put together again.
struct Answer {
  unsigned status = 0;
  std::string head, body;
  bool close = false;    ///< it says that it is the last
  bool complete = true;  ///< its body has an end of its own
  bool operator==(const Answer&) const = default;
};

/// The next line, without its end; false where there is none.
inline bool TakeLine(std::string_view* said, std::string_view* line) {
  const size_t end = said->find("\r\n");
  if (end == std::string_view::npos) return false;
  *line = said->substr(0, end);
  said->remove_prefix(end + 2);
  return true;
}

inline size_t NumberOf(std::string_view digits, int base) {
  size_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  Check(error == std::errc() && end == digits.data() + digits.size());
  return number;
}

/// The value of a header, or nothing.
inline std::string_view HeaderOf(std::string_view head, std::string_view name) {
  const size_t at = head.find("\r\n" + std::string(name) + ": ");
  if (at == std::string_view::npos) return {};
  const size_t begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

inline void TakeChunks(std::string_view* said, Answer* answer) {
  std::string_view line;
  while (TakeLine(said, &line)) {
    const size_t length = NumberOf(line, 16);
    if (length == 0) return Check(TakeLine(said, &line) && line.empty());
    Check(said->size() >= length + 2 && said->substr(length, 2) == "\r\n");
    answer->body += said->substr(0, length);
    said->remove_prefix(length + 2);
  }
  answer->complete = false;
  Check(said->empty());
}

/// Takes a compressed body apart, up to where it breaks off.
inline void Decode(Answer* answer) {
  const auto coding = http::ParseContentEncoding(HeaderOf(answer->head, "Content-Encoding"));
  Check(coding.has_value());
  if (*coding == http::Coding::kIdentity || answer->body.empty()) return;
  http::MemoryBudget budget(SIZE_MAX / 2);
  http::Decoder decoder(*coding, &budget);
  std::string_view coded = answer->body;
  std::string body;
  char piece[16384];
  for (http::Decoder::Step step{0, sizeof(piece)}; step.made == sizeof(piece);) {
    step = decoder.Put(coded, piece, sizeof(piece));
    coded.remove_prefix(step.taken);
    body.append(piece, step.made);
  }
  const bool framed = HeaderOf(answer->head, "Content-Length") != "" ||
                      HeaderOf(answer->head, "Transfer-Encoding") != "";
  Check(!decoder.error() && (decoder.End() || !answer->complete || !framed));
  answer->body = std::move(body);
}

/// Reads all answers, dropping any `100 Continue`; every byte must belong to one. Those to HEAD
/// have no body: `heads` says which were, of the requests whose head was taken, in order. A head
/// that was not taken may have been one.
inline std::vector<Answer> AnswersIn(std::string_view said, const std::vector<bool>& heads) {
  std::vector<Answer> answers;
  while (!said.empty()) {
    const size_t end = said.find("\r\n\r\n");
    Check(end != std::string_view::npos && said.starts_with("HTTP/1.1 "));
    Answer answer;
    answer.head = said.substr(0, end + 2);
    said.remove_prefix(end + 4);
    answer.status = static_cast<unsigned>(NumberOf(answer.head.substr(9, 3), 10));
    if (answer.status == 100) continue;
    answer.close = HeaderOf(answer.head, "Connection") == "close";
    const std::string_view length = HeaderOf(answer.head, "Content-Length");
    const bool taken = answers.size() < heads.size();
    const bool bodyless = taken ? heads[answers.size()] : said.empty();
    if (!length.empty()) {
      const size_t bytes = bodyless ? 0 : NumberOf(length, 10);
      Check(said.size() >= bytes);
      answer.body = said.substr(0, bytes);
      said.remove_prefix(bytes);
    } else if (HeaderOf(answer.head, "Transfer-Encoding") == "chunked") {
      if (!taken || !bodyless) TakeChunks(&said, &answer);
    } else {  // HTTP/1.0: up to the end
      Check(answer.close);
      answer.body = said;
      said = {};
    }
    Decode(&answer);
    answers.push_back(std::move(answer));
    Check(said.empty() || !answers.back().close);
  }
  return answers;
}

}  // namespace seendb::fuzz
