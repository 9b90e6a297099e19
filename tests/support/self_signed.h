// A certificate that signs itself, made by the program openssl in a folder of its own: whoever
// trusts it takes it for its own authority.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <stdlib.h>

namespace seendb {

class SelfSigned {
 public:
  /// `names`: as openssl writes them, "IP:127.0.0.1,DNS:n1". It ends in `days`.
  explicit SelfSigned(const std::string& names, int days = 30) {
    char name[] = "/tmp/seendb-certificate-XXXXXX";
    folder_ = mkdtemp(name);
    Run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=test -keyout " +
        key() + " -out " + folder_ + "/request");
    Run("echo subjectAltName=" + names + " > " + folder_ + "/extensions");
    Run("openssl x509 -req -in " + folder_ + "/request -signkey " + key() + " -days " +
        std::to_string(days) + " -extfile " + folder_ + "/extensions -out " + certificate());
    std::filesystem::permissions(key(), std::filesystem::perms::owner_read);
  }
  ~SelfSigned() { std::filesystem::remove_all(folder_); }
  SelfSigned(const SelfSigned&) = delete;
  SelfSigned& operator=(const SelfSigned&) = delete;

  std::string certificate() const { return folder_ + "/certificate.pem"; }
  std::string key() const { return folder_ + "/key.pem"; }

 private:
  void Run(const std::string& command) const {
    if (std::system((command + " 2>> " + folder_ + "/said").c_str()) != 0) {
      throw std::runtime_error("failed: " + command);
    }
  }

  std::string folder_;
};

}  // namespace seendb
