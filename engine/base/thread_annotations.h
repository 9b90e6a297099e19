// base/thread_annotations.h: which lock guards what, in words that Clang checks (-Wthread-safety).
// Other compilers see nothing. https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
//
// Clang does not follow a lock into a container, an std::optional or a lambda. There the code
// states what it holds by AssertHeld or AssertHeldShared (base/sync.h), which debug builds check.

#pragma once

#if defined(__clang__)
#define SEENDB_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define SEENDB_THREAD_ANNOTATION(x)
#endif

// A class that is a lock, and one that holds a lock while it lives.
#define CAPABILITY(x) SEENDB_THREAD_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY SEENDB_THREAD_ANNOTATION(scoped_lockable)

// A member, and what a pointer member points to.
#define GUARDED_BY(x) SEENDB_THREAD_ANNOTATION(guarded_by(x))
#define PT_GUARDED_BY(x) SEENDB_THREAD_ANNOTATION(pt_guarded_by(x))

// What the caller of a function holds, and does not hold.
#define REQUIRES(...) SEENDB_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define REQUIRES_SHARED(...) SEENDB_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define EXCLUDES(...) SEENDB_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

// What a function does to a lock.
#define ACQUIRE(...) SEENDB_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) SEENDB_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) SEENDB_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) SEENDB_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) SEENDB_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE_SHARED(...) SEENDB_THREAD_ANNOTATION(try_acquire_shared_capability(__VA_ARGS__))

// The function returns this lock, or makes sure that it is held.
#define LOCK_RETURNED(x) SEENDB_THREAD_ANNOTATION(lock_returned(x))
#define ASSERT_CAPABILITY(x) SEENDB_THREAD_ANNOTATION(assert_capability(x))
#define ASSERT_SHARED_CAPABILITY(x) SEENDB_THREAD_ANNOTATION(assert_shared_capability(x))

#define NO_THREAD_SAFETY_ANALYSIS SEENDB_THREAD_ANNOTATION(no_thread_safety_analysis)
