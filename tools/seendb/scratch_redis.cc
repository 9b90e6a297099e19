#include "scratch_redis.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupt.h"
#include "redis/connection.h"

namespace seendb::tool {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};
/// What execvp's failure ends the child with, as a shell does.
constexpr int kNoProgram = 127;
/// What redis-server takes of its address space beside the dump: code, stacks, the allocator's
/// tables.
constexpr uint64_t kBesideBytes = 512ULL << 20;

/// In the child: what a dump that turns on its reader is to find. Where the system does not let us
/// cut it off from the network, it has none by its settings alone.
void Confine(uint64_t memory_bytes) {
  const rlim_t most = memory_bytes + kBesideBytes;
  const rlimit memory = {most, most}, core = {0, 0};
  if (setrlimit(RLIMIT_AS, &memory) != 0 || setrlimit(RLIMIT_CORE, &core) != 0 ||
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    _exit(kNoProgram - 1);
  }
  if (unshare(CLONE_NEWNET) != 0) static_cast<void>(unshare(CLONE_NEWUSER | CLONE_NEWNET));
}

}  // namespace

redis::Address ScratchRedis::address() const {
  redis::Address address;
  address.target.unix_path = folder_ + "/redis.sock";
  return address;
}

Status ScratchRedis::Spawn() {
  const std::vector<std::string> words = {"redis-server",
                                          "--port",
                                          "0",
                                          "--unixsocket",
                                          "redis.sock",
                                          "--unixsocketperm",
                                          "700",
                                          "--dir",
                                          folder_,
                                          "--dbfilename",
                                          "dump.rdb",
                                          "--save",
                                          "",
                                          "--appendonly",
                                          "no",
                                          "--daemonize",
                                          "no",
                                          "--logfile",
                                          "redis.log",
                                          "--stop-writes-on-bgsave-error",
                                          "no",
                                          "--sanitize-dump-payload",
                                          "yes",
                                          "--maxmemory",
                                          std::to_string(memory_bytes_),
                                          "--maxmemory-policy",
                                          "noeviction"};
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  process_ = fork();
  if (process_ < 0) return Status::IOError(std::string("can't start: ") + std::strerror(errno));
  if (process_ != 0) return {};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  if (chdir(folder_.c_str()) != 0) _exit(kNoProgram);
  Confine(memory_bytes_);
  signal(SIGINT, SIG_IGN);  // of the terminal: it is for the tool, which stops this one
  execvp(argv[0], argv.data());
  _exit(kNoProgram);
}

/// The last line of its log.
std::string ScratchRedis::LastWords() const {
  std::ifstream log(folder_ + "/redis.log");
  std::string line, last;
  while (std::getline(log, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

/// Redis says the same of a file without its end.
bool ScratchRedis::MayLackMemory() const {
  std::ifstream log(folder_ + "/redis.log");
  for (std::string line; std::getline(log, line);) {
    for (const char* const word : {"Out Of Memory", "Short read or OOM"}) {
      if (line.find(word) != std::string::npos) return true;
    }
  }
  return false;
}

Status ScratchRedis::WaitUntilLoaded() {
  for (;;) {
    int how = 0;
    if (waitpid(process_, &how, WNOHANG) == process_) {
      process_ = -1;
      if (WIFEXITED(how) && WEXITSTATUS(how) == kNoProgram) {
        return Status::NotFound("--rdb needs the program redis-server (Debian: redis-server)");
      }
      if (MayLackMemory()) {
        return Status::Corruption("redis-server can't read the dump: it takes more than " +
                                  std::to_string(memory_bytes_ >> 20) +
                                  " MB of memory (--rdb-memory-mb), or it is cut short");
      }
      return Status::Corruption("redis-server can't read the dump: " + LastWords());
    }
    redis::Connection connection(std::chrono::seconds(10));
    if (connection.Open(address(), {}).ok()) {
      auto answer = connection.Run({"PING"});
      if (answer.ok() && !answer->is_error()) return {};
    }
    if (InterruptedBy() != 0) return Status::Unavailable("interrupted while the dump was loaded");
    std::this_thread::sleep_for(kLookEvery);
  }
}

Result<std::unique_ptr<ScratchRedis>> ScratchRedis::Start(const std::string& rdb,
                                                          const std::string& temporary,
                                                          uint64_t memory_bytes) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(rdb, error)) return Status::NotFound("--rdb " + rdb + ": no such file");
  if (!fs::is_regular_file(rdb, error)) {
    return Status::InvalidArgument("--rdb " + rdb + ": that is no file");
  }
  std::string folder = temporary + "/seendb-rdb-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return Status::IOError("can't make a folder in " + temporary + ": " + std::strerror(errno));
  }
  std::unique_ptr<ScratchRedis> scratch(new ScratchRedis(memory_bytes));
  scratch->folder_ = folder;
  const fs::path copy = folder + "/dump.rdb";
  fs::copy_file(rdb, copy, error);
  if (error) return Status::IOError("can't copy " + rdb + " to " + folder + ": " + error.message());
  Status status = scratch->Spawn();
  if (status.ok()) status = scratch->WaitUntilLoaded();
  fs::remove(copy, error);
  if (!status.ok()) return status;
  return scratch;
}

ScratchRedis::~ScratchRedis() {
  if (process_ > 0) {
    kill(process_, SIGKILL);  // it has nothing to save
    waitpid(process_, nullptr, 0);
  }
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

}  // namespace seendb::tool
