#include "reject_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/utf8.h"
#include "http_client.h"
#include "text/base64.h"

namespace seendb::tool {
Result<std::unique_ptr<RejectFile>> RejectFile::Open(const std::string& path, bool go_on) {
  std::unique_ptr<RejectFile> rejects(new RejectFile(path));
  rejects->file_.open(path, go_on ? std::ios::app : std::ios::trunc);
  if (rejects->file_) return rejects;
  return Status::IOError("open " + path + ": " + std::generic_category().message(errno));
}

void RejectFile::Add(uint64_t row, uint64_t line, std::string_view why, std::string_view text) {
  Json reject = {{"row", row}, {"line", line}, {"why", why}};
  if (IsUtf8(text)) {
    reject["text"] = text;
  } else {
    reject["text_base64"] = text::Base64Of(text);
  }
  file_ << reject.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

Status RejectFile::Flush() {
  file_.flush();
  return file_ ? Status() : Status::IOError("write " + path_);
}

}  // namespace seendb::tool
