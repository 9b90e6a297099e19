#include "interrupt.h"

#include <csignal>

namespace seendb::tool {
namespace {

volatile std::sig_atomic_t caught = 0;

void Note(int signal) { caught = signal; }

}  // namespace

CatchInterrupts::CatchInterrupts() {
  caught = 0;
  struct sigaction action {};
  action.sa_handler = Note;
  // No SA_RESTART: a read that waits ends. SA_RESETHAND: the second signal is not caught.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

CatchInterrupts::~CatchInterrupts() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int InterruptedBy() { return caught; }

}  // namespace seendb::tool
