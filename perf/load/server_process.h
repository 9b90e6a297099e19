// load/server_process.h: a seendb-server on a port of the kernel's choice, ended with its owner.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace seendb::perf {

/// See the head of this file.
class ServerProcess {
 public:
  /// Starts `program` with these arguments and waits until it listens and is ready.
  ServerProcess(const std::string& program, std::vector<std::string> arguments);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  uint16_t port() const { return port_; }
  /// Processor time it has taken so far, in hundredths at the finest.
  double CpuSeconds() const;
  /// Memory it holds now.
  double ResidentMb() const;

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  uint16_t port_ = 0;
};

}  // namespace seendb::perf
