#include "reject_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <openssl/evp.h>

#include "base/utf8.h"
#include "http_client.h"

namespace seendb::tool {
namespace {

std::string Base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and a zero
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

}  // namespace

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
    reject["text_base64"] = Base64(text);
  }
  file_ << reject.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

Status RejectFile::Flush() {
  file_.flush();
  return file_ ? Status() : Status::IOError("write " + path_);
}

}  // namespace seendb::tool
