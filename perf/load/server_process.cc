#include "load/server_process.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>

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

double ServerProcess::CpuSeconds() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string word;
  for (int i = 3; i < 14; ++i) fields >> word;  // utime is the 14th
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double ServerProcess::ResidentMb() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
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
