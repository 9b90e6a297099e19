// Preloaded into a process under test (LD_PRELOAD): its wall clock is off by as many milliseconds
// as the eight bytes say that the file named by SEENDB_TEST_CLOCK begins with. A test changes these
// while the process runs. The steady clock stays as it is.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* shift_ms;

__attribute__((constructor)) static void MapShift(void) {
  const char* const path = getenv("SEENDB_TEST_CLOCK");
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void* const mapped = mmap(NULL, sizeof(*shift_ms), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) shift_ms = mapped;
  close(file);
}

static void Shift(struct timespec* at) {
  if (shift_ms == NULL) return;
  const int64_t ms = *shift_ms;
  int64_t ns = at->tv_nsec + ms % 1000 * 1000000;
  at->tv_sec += ms / 1000 + (ns >= 1000000000) - (ns < 0);
  if (ns >= 1000000000) ns -= 1000000000;
  if (ns < 0) ns += 1000000000;
  at->tv_nsec = ns;
}

int clock_gettime(clockid_t clock, struct timespec* at) {
  const int result = (int)syscall(SYS_clock_gettime, clock, at);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) Shift(at);
  return result;
}

int gettimeofday(struct timeval* at, void* zone) {
  (void)zone;
  struct timespec now;
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return result;
}

time_t time(time_t* at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}
