/* For xxhash.h: the compiler makes instructions of these. */
#pragma once

#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define memcmp __builtin_memcmp
