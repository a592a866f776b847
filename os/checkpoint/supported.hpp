// Where images of a process can be taken and resumed: on Linux for x86-64 with the GNU C library, without sanitizers,
// which have mappings and threads of their own.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HEDDLE_CHECKPOINT_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEDDLE_CHECKPOINT_SANITIZED 1
#endif
#ifndef HEDDLE_CHECKPOINT_SANITIZED
#define HEDDLE_CHECKPOINT_SANITIZED 0
#endif

#include <cstdlib>  // __GLIBC__

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !HEDDLE_CHECKPOINT_SANITIZED
#define HEDDLE_CHECKPOINT 1
#else
#define HEDDLE_CHECKPOINT 0
#endif
