"""The rooms of the house and who may include what: one table a rule.

CMake gives each room an include root with the rooms that it may include (seendb_include_root);
tests/lint/include_roots_test.py compares the two.
"""

import re

# Rooms of the engine from the bottom up: each may include itself and what is left of it.
ENGINE_ROOMS = ["base", "filter", "format", "query", "ring", "merge", "tables", "store", "shard",
                "engine"]

# A library beside the engine, its public header, and the rooms that it may include: the stores
# beside the shards too, whose rows it checks. No room of the engine includes either.
RECOVERY_ROOM = "recovery"
RECOVERY_HEADER = "seendb/repair.h"
RECOVERY_ROOMS = {"recovery", "base", "filter", "format", "query", "merge", "tables", "store",
                  "items", "sets", "seams"}

# What the items are: a library beside the engine as well, its public headers, and the rooms that it
# may include. No room of the engine includes either.
ITEMS_ROOM = "items"
ITEMS_HEADERS = {"seendb/item_store.h", "seendb/item_judge.h"}
ITEMS_ROOMS = {"items", "base", "filter", "format", "store"}

# Named sets of items: a library beside the engine as well, its public headers, and the rooms that it
# may include. No room of the engine includes either.
SETS_ROOM = "sets"
SETS_HEADERS = {"seendb/set_store.h", "seendb/set_log.h"}
SETS_ROOMS = {"sets", "base", "filter", "format", "store"}

# The engine for C: a library over the engine's API, its public header, and the rooms that it may
# include. No other room includes either.
C_ROOM = "c"
C_HEADER = "seendb/seendb.h"
C_ROOMS = {"c", "base"}

# Public headers any room of the engine may use; engine.h itself is for the top of the engine.
COMPOSITION_HEADER = "seendb/engine.h"

# What the outer houses may include of the engine besides the public headers. Tools reach into
# the rooms because ldb and scan need our operators and formats; the server keeps to the API.
SERVER_ENGINE_ROOMS = {"base", "seams"}
TOOLS_ENGINE_ROOMS = {"base", "filter", "format", "query", "merge", "tables", "store", "ring",
                      "shard", "seams"}

# Rooms of the server that the admin tool links too.
TOOLS_SERVER_ROOMS = {"admission", "cluster", "files", "kafka", "migrated"}

# Rooms of the server and what each may include of it; "main" is server/*.cc, the composition.
SERVER_ROOMS = {
    "kafka": {"kafka"},
    "cluster": {"cluster", "kafka"},
    "admission": {"admission"},
    "files": {"files", "admission"},
    "http": {"http", "admission"},
    "ops": {"ops", "files", "http", "admission"},
    "migrated": {"migrated"},
    "migration": {"migration", "migrated", "ops", "files", "http", "admission"},
    "proof": {"proof"},
    "api": {"api", "proof", "migration", "http", "ops", "files", "admission"},
    "connect": {"connect", "http", "admission"},
    "discovery": {"discovery", "ops", "files", "http", "admission"},
    "ingest": {"ingest", "migration", "ops", "files", "kafka", "admission"},
    "replica": {"replica", "cluster", "kafka", "ingest", "migration", "ops", "files", "http",
                "admission"},
    "membership": {"membership", "peers", "proof", "cluster", "kafka", "ops", "files"},
    "peers": {"peers", "proof"},
    "router": {"router", "replica", "peers", "cluster", "kafka", "proof", "api", "migration", "ops",
               "files", "http", "admission"},
    "transfer": {"transfer", "proof", "api", "migration", "http", "ops", "files", "admission"},
    "main": {"main", "http", "ops", "files", "api", "connect", "discovery", "ingest", "replica",
             "membership", "cluster",
             "kafka", "peers", "proof", "router", "transfer", "migration", "admission"},
}

# Rooms of the server that know nothing of the engine but its locks.
SERVER_ENGINE_FREE = {"http", "admission"}
LOCK_HEADER = "base/sync.h"

# Locks that Clang does not check: that header alone may use them.
LOCKS_STD = {"mutex", "shared_mutex", "condition_variable"}
LOCK_HOUSES = {"engine", "common", "server", "tools"}

# Rooms that the server and the tool share, and what each may include of its house. Of the engine
# they know the public headers alone; those of COMMON_ENGINE_ROOMS more.
COMMON_ROOMS = {
    "net": {"net"},
    "redis": {"redis", "net"},
    "text": {"text"},
    "threads": {"threads"},
    "times": {"times"},
    "wire": {"wire"},
}
COMMON_ENGINE_ROOMS = {"threads": {"base"}, "wire": {"base"}}
# Who may include them: a house, or a room of it ("server:ingest"), and which of them.
COMMON_USERS = {"tools": {"net", "redis", "text", "threads", "times", "wire"},
                "server:files": {"text", "times"},
                "server:connect": {"text", "wire"}, "server:http": {"wire"}, "server:api": {"threads", "wire"},
                "server:cluster": {"threads"},
                "server:ops": {"net", "redis", "text", "threads", "times", "wire"},
                "server:discovery": {"net", "threads"},
                "server:ingest": {"text", "threads", "times", "wire"},
                "server:replica": {"threads", "times", "wire"},
                "server:migration": {"net", "redis", "text", "threads", "times", "wire"},
                "server:main": {"net", "redis", "text", "threads", "times", "wire"},
                "server:transfer": {"net", "text", "threads", "wire"}, "server:peers": {"net"},
                "server:membership": {"net", "threads"}, "server:router": {"net", "threads", "wire"}}

# The client for C++ (clients/cpp): what it may include of the rooms above, and the one header of
# the engine besides its public ones.
CLIENT_COMMON_ROOMS = {"net"}
CLIENT_ENGINE_HEADER = "base/outside_json.h"

# Third-party headers by the first part of their path, and the rooms that may include them
# ("engine:merge", "server:http"; a bare house name means all of its rooms).
THIRD_PARTY = {
    "rocksdb": {"engine:merge", "engine:tables", "engine:store", "engine:shard", "engine:recovery",
                "engine:items", "engine:sets", "tools"},
    "xxhash": {"engine", "server:api", "tools"},
    "nlohmann": {"clients", "common:wire", "engine", "server", "tools"},
    "simdjson": {"common:wire", "server", "tools"},
    "boost": {"clients", "common", "server", "tools"},
    "librdkafka": {"server", "tools"},
    "openssl": {"common:net", "common:text", "server:files", "server:http", "server:proof", "tools"},
    "prometheus": {"server"},
    "spdlog": {"server", "tools"},
    "fmt": {"server", "tools"},
    "zstd": {"engine", "server", "tools"},
    "zlib": {"server:http", "tools"},
    "CLI": {"server:main", "server:ops", "tools"},
    "gtest": set(),
    "gmock": set(),
    "benchmark": set(),
    "hiredis": {"common:redis"},
    "date": {"common:times"},
    "google": {"server:connect"},
    "seendb": {"server:connect"},  # <seendb/v1/...>: what protoc makes of proto/
}

# Standard headers that do not belong somewhere: the engine never prints, its pure rooms do no I/O.
FORBIDDEN_STD = {
    "engine": {"iostream"},
    "engine:filter": {"fstream", "filesystem", "thread", "fcntl.h", "unistd.h"},
    "engine:format": {"fstream", "filesystem", "thread", "fcntl.h", "unistd.h"},
}

# Angled includes that belong to the language, the C library, the compiler or the kernel.
SYSTEM = re.compile(r"^([a-z0-9_]+|[a-z0-9_]*intrin\.h|(sys|netinet|arpa|linux|bits|sanitizer)/.*)$")
SYSTEM_C = {
    "assert.h", "dirent.h", "dlfcn.h", "errno.h", "execinfo.h", "fcntl.h", "getopt.h", "ifaddrs.h",
    "limits.h", "malloc.h", "netdb.h", "poll.h", "pthread.h", "pwd.h", "resolv.h", "sched.h", "signal.h",
    "spawn.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "strings.h", "termios.h", "time.h",
    "unistd.h", "cpuid.h",
}


def room_of(path):
    """The (house, room) of a source path relative to the root; (None, None) outside the houses."""
    parts = path.split("/")
    house = parts[0]
    if house == "engine":
        if parts[1] == "include":
            return "engine", "public"
        if len(parts) == 2:
            return "engine", "seams" if parts[1] == "seams.h" else "engine"
        return "engine", parts[1]
    if house == "server":
        return "server", parts[1] if len(parts) > 2 else "main"
    if house == "common":
        return house, parts[1] if len(parts) > 2 else ""
    if house == "clients" and parts[1] == "cpp":
        return house, "public" if parts[2] == "include" else "cpp"
    if house in ("tools", "perf", "tests"):
        return house, parts[1] if len(parts) > 2 else ""
    return None, None
