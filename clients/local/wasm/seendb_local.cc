// The hash of ids as a WebAssembly module (seendb_local.wasm of clients/typescript, made by
// `build`). The caller writes the key and a text into the module's memory and calls for the
// fingerprint.

#include "../src/hash.h"

namespace {
constexpr size_t kMostBytes = 255;
seendb_local_key g_key;
char g_text[kMostBytes];
}  // namespace

extern "C" {

/// Addresses: of the key (u32 version, 192 bytes), and of the text.
__attribute__((export_name("key"))) void* KeyAt() { return &g_key; }
__attribute__((export_name("text"))) void* TextAt() { return g_text; }

/// Fingerprints: 48 bits, which a number of JavaScript has exactly. A text is the first `size`
/// bytes.
__attribute__((export_name("hashText"))) double HashText(size_t size) {
  return static_cast<double>(seendb_local_hash::OfText(g_key, g_text, size));
}
__attribute__((export_name("hashNumber"))) double HashNumber(uint64_t number) {
  return static_cast<double>(seendb_local_hash::OfNumber(g_key, number));
}
}
