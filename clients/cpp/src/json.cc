#include "json.h"

#include <chrono>
#include <initializer_list>

#include "base/outside_json.h"

namespace seendb::client {

std::optional<uint64_t> Id::Number() const {
  const uint64_t* const number = std::get_if<uint64_t>(&held_);
  return number ? std::optional(*number) : std::nullopt;
}

std::string Id::Text() const {
  const std::string* const text = std::get_if<std::string>(&held_);
  return text ? *text : std::to_string(std::get<uint64_t>(held_));
}

Error::Error(std::string word, std::string sentence, std::string place, int http_status)
    : std::runtime_error(word + ": " + sentence + (place.empty() ? "" : " (" + place + ")")),
      code(std::move(word)),
      message(std::move(sentence)),
      field(std::move(place)),
      status(http_status) {}

namespace internal {
namespace {

constexpr size_t kIdBytesMost = 255;
constexpr uint64_t kSafeMost = (uint64_t{1} << 53) - 1;
constexpr size_t kAnswerDepthMost = 64;

}  // namespace

Error Refuse(std::string field, std::string message) {
  return {"invalid_argument", std::move(message), std::move(field)};
}

Error Strange(std::string message, int status) {
  return {"protocol", std::move(message), {}, status};
}

void CheckId(const Id& id, const std::string& field) {
  if (id.Number()) return;
  const size_t bytes = id.Text().size();
  if (bytes < 1 || bytes > kIdBytesMost) {
    throw Refuse(field, "an id has 1 to 255 bytes of UTF-8, not " + std::to_string(bytes));
  }
}

void CheckIds(const std::vector<Id>& ids, const std::string& field) {
  for (size_t i = 0; i < ids.size(); ++i) CheckId(ids[i], field + "/" + std::to_string(i));
}

Json ToJson(const Id& id) {
  const auto number = id.Number();
  return number && *number <= kSafeMost ? Json(*number) : Json(id.Text());
}

Json ToJson(const std::vector<Id>& ids) {
  Json all = Json::array();
  for (const Id& id : ids) all.push_back(ToJson(id));
  return all;
}

Id IdFrom(const Json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  return value.get<std::string>();
}

Json ParseGiven(std::string_view text, const std::string& field) {
  Json value = ParseOutside(text);
  if (value.is_discarded()) throw Refuse(field, "is not JSON");
  return value;
}

std::string Write(const Json& value) {
  try {
    return value.dump();
  } catch (const Json::exception&) {
    throw Refuse({}, "a text is not UTF-8");
  }
}

Json ReadObject(const Answer& answer, std::initializer_list<const char*> needs) {
  Json value = ParseOutside(answer.body, kAnswerDepthMost);
  if (!value.is_object()) {
    throw Strange("the answer is no JSON object: " + answer.body.substr(0, 100), answer.status);
  }
  for (const char* const name : needs) {
    if (!value.contains(name)) {
      throw Strange(std::string("the answer has no ") + name, answer.status);
    }
  }
  return value;
}

Given::Given(const std::vector<Id>& ids) {
  by_text_.reserve(ids.size());
  for (const Id& id : ids) by_text_.emplace(id.Text(), &id);
}

const Id& Given::Find(const Id& told, int status) const {
  const auto found = by_text_.find(told.Text());
  if (found == by_text_.end()) {
    throw Strange("the answer names what was not asked about: " + told.Text(), status);
  }
  return *found->second;
}

std::string Encode(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return encoded;
}

std::string UserPath(const Id& user, std::string_view rest) {
  CheckId(user, "/user");
  return "/users/" + Encode(user.Text()) + std::string(rest);
}

int64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace internal
}  // namespace seendb::client
