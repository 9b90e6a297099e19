// What the process keeps from others of its machine: the files it makes, and its memory.

#pragma once

namespace seendb::ops {

/// Files that are made from now on are not for everybody (umask 027). Without `core_dumps` no core
/// dump is written when the process crashes, whatever RLIMIT_CORE and core_pattern say, and other
/// processes of its user that have no CAP_SYS_PTRACE may not look at its memory, its environment or
/// its descriptors: all three have keys in them. /proc/PID/status and stat stay readable. To be
/// called before the process has threads; logs what fails.
void KeepPrivate(bool core_dumps);

}  // namespace seendb::ops
