// json.h: what the client writes and reads as JSON.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "seendb/client_types.h"

namespace seendb::client::internal {

using Json = nlohmann::json;

/// An error of the caller's input.
Error Refuse(std::string field, std::string message);
/// An error of an answer that is not what was asked for.
Error Strange(std::string message, int status);

/// Throws where the text of an id has not 1 to 255 bytes.
void CheckId(const Id& id, const std::string& field);
void CheckIds(const std::vector<Id>& ids, const std::string& field);

/// A number, or text: also of an integer that a double does not hold, which is the same id.
Json ToJson(const Id& id);
Json ToJson(const std::vector<Id>& ids);
/// Reads either. Throws Json::exception.
Id IdFrom(const Json& value);

/// A JSON text of the caller's; `field` names it. Throws where it is not JSON.
Json ParseGiven(std::string_view text, const std::string& field);
/// Throws where a text in it is not UTF-8.
std::string Write(const Json& value);

/// The answer's JSON object, which has the members `needs`.
Json ReadObject(const Answer& answer, std::initializer_list<const char*> needs = {});

/// Calls `read()`, whose Json::exception becomes an error of the answer.
template <typename Read>
auto Reading(const Answer& answer, Read read) {
  try {
    return read();
  } catch (const Json::exception& wrong) {
    throw Strange(std::string("the answer is not what was asked for: ") + wrong.what(),
                  answer.status);
  }
}

/// Ids as they were given, by their texts.
class Given {
 public:
  explicit Given(const std::vector<Id>& ids);
  /// The one that an answer means. Throws where none was given.
  const Id& Find(const Id& told, int status) const;

 private:
  std::unordered_map<std::string, const Id*> by_text_;
};

/// `text` with everything but letters, digits and -._~ as %XX.
std::string Encode(std::string_view text);
/// "/users/U" and `rest`.
std::string UserPath(const Id& user, std::string_view rest);

/// ms since 1970.
int64_t NowMs();

}  // namespace seendb::client::internal
