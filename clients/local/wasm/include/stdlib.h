/* xxhash.h wants these by name. Nothing that is built here calls them. */
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void* malloc(size_t size);
void free(void* memory);
#ifdef __cplusplus
}
#endif
