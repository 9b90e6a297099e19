#include "base/outside_json.h"

#include <algorithm>

namespace seendb {

size_t JsonDepth(std::string_view json) { return JsonShapeOf(json).depth; }

JsonShape JsonShapeOf(std::string_view json) {
  JsonShape shape;
  size_t depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      shape.depth = std::max(shape.depth, ++depth);
      ++shape.values;
    } else if (c == ',') {
      ++shape.values;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return shape;
}

}  // namespace seendb
