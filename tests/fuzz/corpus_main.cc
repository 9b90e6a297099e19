// Runs every file of a fuzz target's corpus once through it, without libFuzzer, so that what was
// ever found is tested by every compiler and under every sanitizer.
//
//   fuzz_corpus TARGET FILE_OR_FOLDER...
//
// A target aborts on a finding. Exits with 1 where there was nothing to run.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

// Each target is compiled with its own name for LLVMFuzzerTestOneInput; fuzz_targets.inc lists
// them.
#define SEENDB_FUZZ_TARGET(name) extern "C" int name(const uint8_t* data, size_t size);
#include "fuzz_targets.inc"
#undef SEENDB_FUZZ_TARGET

namespace {

namespace fs = std::filesystem;

struct Target {
  std::string_view name;
  int (*run)(const uint8_t* data, size_t size);
};

constexpr Target kTargets[] = {
#define SEENDB_FUZZ_TARGET(name) {#name, &(name)},
#include "fuzz_targets.inc"
#undef SEENDB_FUZZ_TARGET
};

std::vector<fs::path> FilesOf(const char* place) {
  if (!fs::is_directory(place)) return {place};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(place)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// False where it can't be read.
bool Run(const Target& target, const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  // Exactly as large as the input, so that a sanitizer sees a read behind it.
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad() || !file.is_open()) return false;
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);  // the last one named is the one that aborted
  target.run(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto* const target = std::find_if(std::begin(kTargets), std::end(kTargets),
                                          [&](const Target& t) { return t.name == name; });
  if (target == std::end(kTargets)) {
    std::fprintf(stderr, "no target \"%s\"\n", argc > 1 ? argv[1] : "");
    return 2;
  }
  size_t runs = 0;
  for (int i = 2; i < argc; ++i) {
    for (const fs::path& path : FilesOf(argv[i])) {
      if (!Run(*target, path)) {
        std::fprintf(stderr, "can't read %s\n", path.c_str());
        return 2;
      }
      ++runs;
    }
  }
  std::printf("%zu inputs\n", runs);
  return runs > 0 ? 0 : 1;
}
