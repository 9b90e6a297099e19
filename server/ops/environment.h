// server/ops/environment.h: settings as variables of the environment, and which settings were given
// by what. SEENDB_ENGINE_SHARDS is the key "shards" of "engine": dots are underscores, letters
// capitals. Lists are written with commas, objects as JSON; SEENDB_ENGINE_SHARDS_FILE names a
// file that holds the value.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ops/config_keys.h"
#include "seendb/status.h"

namespace seendb::ops {

/// Variables that begin with SEENDB_, by name.
using Variables = std::map<std::string, std::string>;
/// The variables of this process.
Variables OwnVariables();
/// The one that names the settings file where no flag does.
inline constexpr char kFileVariable[] = "SEENDB_CONFIG";

/// What a flag says.
struct FlagValue {
  Json value;
  std::string flag;  ///< "--listen"
};
/// What flags say, by the pointer of the key.
using FlagValues = std::map<std::string, FlagValue>;

/// Which settings were given, and by what.
struct GivenSettings {
  Json document = Json::object();  ///< all of them: flags over variables over the file
  std::string file = {};           ///< empty: none
  FlagValues flags = {};           ///< as they were given
  /// The variable or flag that gave a key, by the key's pointer.
  std::map<std::string, std::string> names = {};
  std::vector<std::string> unknown = {};  ///< a sentence for each variable that sets nothing
};

/// Puts what the variables say over what `given` has; an object adds to an object. Variables that
/// the tool or Kubernetes use are passed over. kInvalidArgument, whose message begins with the
/// variable's name: it can't be read. No message has a part of a value.
Status AddVariables(const Keys& keys, const Variables& variables, GivenSettings* given);
/// Puts `given->flags` over what `given` has.
void AddFlags(GivenSettings* given);

/// The variable or flag that gave the key at `field`, or what it lies in; empty: none did.
std::string NameOf(const GivenSettings& given, std::string_view field);

}  // namespace seendb::ops
