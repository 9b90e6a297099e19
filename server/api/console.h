// server/api/console.h: the files of the console, server/console/, which are built into the
// program. Threads: any.

#pragma once

#include <string_view>

namespace seendb::api {

/// A page, a style or a script. The views are to constants of the program.
struct ConsoleFile {
  std::string_view name, type, text;  ///< "app.js", its media type, its bytes
};

/// The file of that name, or null.
const ConsoleFile* FindConsoleFile(std::string_view name);

/// Headers of each of them. The browser loads and asks this server alone, runs no script that
/// stands in a page, shows the page in no frame of another, and sends no address of it elsewhere.
inline constexpr std::string_view kPageHeaders =
    "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    "\r\nCross-Origin-Opener-Policy: same-origin"
    "\r\nCross-Origin-Embedder-Policy: require-corp"
    "\r\nCross-Origin-Resource-Policy: same-origin"
    "\r\nX-Content-Type-Options: nosniff"
    "\r\nReferrer-Policy: no-referrer"
    "\r\nCache-Control: no-cache";

}  // namespace seendb::api
