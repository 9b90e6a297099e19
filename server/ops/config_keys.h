// server/ops/config_keys.h: settings are read by tables of their keys, see files/json_keys.h.

#pragma once

#include "files/json_keys.h"

namespace seendb::ops {

using files::Apply;
using files::Flag;
using files::Integer;
using files::Json;
using files::Keys;
using files::Name;
using files::OneOf;
using files::ParseStrictly;
using files::Section;
using files::SectionOf;
using files::Setter;
using files::Text;
using files::TextList;
using files::Written;

}  // namespace seendb::ops
