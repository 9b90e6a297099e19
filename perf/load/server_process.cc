#include "load/server_process.h"

#include <csignal>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenario/common.h"

namespace seendb::perf {

ServerProcess::ServerProcess(const std::string& program, std::vector<std::string> arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) Fail("no pipe");
  arguments.insert(arguments.begin(), program);
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    const int nowhere = open("/dev/null", O_WRONLY);  // the log
    dup2(nowhere, STDERR_FILENO);
    execv(program.c_str(), words.data());
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
  std::string line;
  for (char c = 0; c != '\n' && read(output_, &c, 1) == 1;) line += c;
  const size_t colon = line.rfind(':');
  if (line.find("listening on") == std::string::npos || colon == std::string::npos) {
    Fail("the server did not start: " + program);
  }
  port_ = static_cast<uint16_t>(std::atoi(line.c_str() + colon + 1));
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    int status = 0;
    waitpid(pid_, &status, 0);
  }
  if (output_ >= 0) close(output_);
}

}  // namespace seendb::perf
