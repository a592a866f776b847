/* CUTIL, which came with NVIDIA's code samples up to release 4 and which many programs of that time include: checked
   calls, timers of the host's clock, the command line and comparisons, all of it here, so that there is nothing to link
   (docs/cuda.md). Without files of data and pictures. */
#ifndef _CUTIL_H_
#define _CUTIL_H_

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "cuda_runtime.h"

#ifdef __cplusplus
#define HEDDLE_CUTIL_ inline
#else
#define HEDDLE_CUTIL_ static __inline__ __attribute__((unused))
#endif

typedef enum CUTBoolean { CUTFalse = 0, CUTTrue = 1 } CUTBoolean;

HEDDLE_CUTIL_ void heddle_cutil_fail_(const char* file, int line, const char* what, const char* why) {
  fprintf(stderr, "%s:%i: %s: %s\n", file, line, what, why);
  exit(EXIT_FAILURE);
}
HEDDLE_CUTIL_ void heddle_cutil_check_(cudaError_t error, const char* file, int line, const char* what) {
  if (error != cudaSuccess) heddle_cutil_fail_(file, line, what, cudaGetErrorString(error));
}

/* Calls are checked, and waited for, where _DEBUG is defined. */
#ifdef _DEBUG
#define CUDA_SAFE_CALL_NO_SYNC(call) heddle_cutil_check_((call), __FILE__, __LINE__, #call)
#define CUDA_SAFE_CALL(call)                                                                    \
  do {                                                                                          \
    CUDA_SAFE_CALL_NO_SYNC(call);                                                               \
    heddle_cutil_check_(cudaDeviceSynchronize(), __FILE__, __LINE__, "what ran before " #call); \
  } while (0)
#define CUT_SAFE_CALL(call) \
  ((call) == CUTTrue ? (void)0 : heddle_cutil_fail_(__FILE__, __LINE__, #call, "is not CUTTrue"))
#define CUT_CONDITION(value) ((value) ? (void)0 : heddle_cutil_fail_(__FILE__, __LINE__, #value, "does not hold"))
#define CU_SAFE_CALL_NO_SYNC(call) \
  ((call) == 0 ? (void)0 : heddle_cutil_fail_(__FILE__, __LINE__, #call, "an error of the driver API"))
#define CUT_SAFE_MALLOC(call) \
  ((call) ? (void)0 : heddle_cutil_fail_(__FILE__, __LINE__, #call, "there is no memory left"))
#else
#define CUDA_SAFE_CALL_NO_SYNC(call) call
#define CUDA_SAFE_CALL(call) call
#define CUT_SAFE_CALL(call) call
#define CUT_CONDITION(value)
#define CU_SAFE_CALL_NO_SYNC(call) call
#define CUT_SAFE_MALLOC(call) call
#endif
#define CU_SAFE_CALL(call) CU_SAFE_CALL_NO_SYNC(call)
#define CUT_CHECK_ERROR(message) heddle_cutil_check_(cudaGetLastError(), __FILE__, __LINE__, message)
#define CUT_CHECK_ERROR_GL()
#define CUT_BANK_CHECKER(array, index) array[index]

/* With the command line, the number of a device, or nothing: there is one device. */
#define CUT_DEVICE_INIT(...) heddle_cutil_check_(cudaSetDevice(0), __FILE__, __LINE__, "CUT_DEVICE_INIT")
#define CUT_DEVICE_INIT_DRV(device, ...) \
  do {                                   \
    cuInit(0);                           \
    cuDeviceGet(&(device), 0);           \
  } while (0)
#define CUT_EXIT(count, words) heddle_cutil_exit_(count, (const char**)(words))

/* Timers. Their names are numbers from 1 on; times are milliseconds of the host's clock, those of kernels being what
   their simulation takes. */
struct heddle_cutil_timer_ {
  double total, began;
  unsigned int ended;
  int there, runs;
};
struct heddle_cutil_timers_ {
  struct heddle_cutil_timer_* all;
  unsigned int count;
};
HEDDLE_CUTIL_ struct heddle_cutil_timers_* heddle_cutil_all_timers_(void) {
  static struct heddle_cutil_timers_ timers = {0, 0};
  return &timers;
}
HEDDLE_CUTIL_ double heddle_cutil_now_(void) {
  struct timeval now;
  gettimeofday(&now, 0);
  return (double)now.tv_sec * 1e3 + (double)now.tv_usec * 1e-3;
}
HEDDLE_CUTIL_ struct heddle_cutil_timer_* heddle_cutil_timer_of_(unsigned int name) {
  struct heddle_cutil_timers_* const timers = heddle_cutil_all_timers_();
  return name == 0 || name > timers->count || !timers->all[name - 1].there ? 0 : &timers->all[name - 1];
}
HEDDLE_CUTIL_ CUTBoolean cutCreateTimer(unsigned int* name) {
  struct heddle_cutil_timers_* const timers = heddle_cutil_all_timers_();
  struct heddle_cutil_timer_* const all =
      (struct heddle_cutil_timer_*)realloc(timers->all, (timers->count + 1) * sizeof(struct heddle_cutil_timer_));
  *name = 0;
  if (all == 0) return CUTFalse;
  timers->all = all;
  memset(&all[timers->count], 0, sizeof(struct heddle_cutil_timer_));
  all[timers->count].there = 1;
  *name = ++timers->count;
  return CUTTrue;
}
HEDDLE_CUTIL_ CUTBoolean cutDeleteTimer(unsigned int name) {
  struct heddle_cutil_timer_* const timer = heddle_cutil_timer_of_(name);
  if (timer == 0) return CUTFalse;
  timer->there = 0;
  return CUTTrue;
}
HEDDLE_CUTIL_ CUTBoolean cutStartTimer(const unsigned int name) {
  struct heddle_cutil_timer_* const timer = heddle_cutil_timer_of_(name);
  if (timer == 0) return CUTFalse;
  timer->began = heddle_cutil_now_();
  timer->runs = 1;
  return CUTTrue;
}
HEDDLE_CUTIL_ CUTBoolean cutStopTimer(const unsigned int name) {
  struct heddle_cutil_timer_* const timer = heddle_cutil_timer_of_(name);
  if (timer == 0) return CUTFalse;
  if (timer->runs) {
    timer->total += heddle_cutil_now_() - timer->began;
    ++timer->ended;
  }
  timer->runs = 0;
  return CUTTrue;
}
HEDDLE_CUTIL_ CUTBoolean cutResetTimer(const unsigned int name) {
  struct heddle_cutil_timer_* const timer = heddle_cutil_timer_of_(name);
  if (timer == 0) return CUTFalse;
  timer->total = 0;
  timer->ended = 0;
  timer->began = heddle_cutil_now_();
  return CUTTrue;
}
HEDDLE_CUTIL_ float cutGetTimerValue(const unsigned int name) {
  const struct heddle_cutil_timer_* const timer = heddle_cutil_timer_of_(name);
  return timer == 0 ? 0 : (float)(timer->total + (timer->runs ? heddle_cutil_now_() - timer->began : 0));
}
/* For each time that the timer was started and stopped. */
HEDDLE_CUTIL_ float cutGetAverageTimerValue(const unsigned int name) {
  const struct heddle_cutil_timer_* const timer = heddle_cutil_timer_of_(name);
  return timer == 0 || timer->ended == 0 ? 0 : (float)(timer->total / timer->ended);
}

/* The command line: -name, --name, -name=value, --name=value. What follows the name: "" for a flag; null: no such
   word. */
HEDDLE_CUTIL_ const char* heddle_cutil_argument_(int count, const char** words, const char* name) {
  const size_t size = strlen(name);
  int i;
  for (i = 1; i < count; ++i) {
    const char* word = words[i];
    if (*word != '-') continue;
    word += word[1] == '-' ? 2 : 1;
    if (strncmp(word, name, size) == 0 && (word[size] == '\0' || word[size] == '=')) {
      return word + size + (word[size] == '=');
    }
  }
  return 0;
}
HEDDLE_CUTIL_ CUTBoolean cutCheckCmdLineFlag(const int count, const char** words, const char* name) {
  return heddle_cutil_argument_(count, words, name) != 0 ? CUTTrue : CUTFalse;
}
HEDDLE_CUTIL_ CUTBoolean cutGetCmdLineArgumenti(const int count, const char** words, const char* name, int* value) {
  const char* const text = heddle_cutil_argument_(count, words, name);
  return text != 0 && sscanf(text, "%d", value) == 1 ? CUTTrue : CUTFalse;
}
HEDDLE_CUTIL_ CUTBoolean cutGetCmdLineArgumentf(const int count, const char** words, const char* name, float* value) {
  const char* const text = heddle_cutil_argument_(count, words, name);
  return text != 0 && sscanf(text, "%f", value) == 1 ? CUTTrue : CUTFalse;
}
/* A copy, which cutFree gives back. */
HEDDLE_CUTIL_ CUTBoolean cutGetCmdLineArgumentstr(const int count, const char** words, const char* name, char** value) {
  const char* const text = heddle_cutil_argument_(count, words, name);
  if (text == 0 || *text == '\0') return CUTFalse;
  *value = (char*)malloc(strlen(text) + 1);
  if (*value != 0) strcpy(*value, text);
  return *value != 0 ? CUTTrue : CUTFalse;
}
HEDDLE_CUTIL_ void cutFree(void* pointer) {
  free(pointer);
}
HEDDLE_CUTIL_ void heddle_cutil_exit_(int count, const char** words) {
  if (!cutCheckCmdLineFlag(count, words, "noprompt")) {
    printf("\nPress ENTER to exit...\n");
    fflush(stdout);
    fflush(stderr);
    getchar();
  }
  exit(EXIT_SUCCESS);
}

/* A copy of the first path under which the file is there: as named, in data/, and so beside the program; null: none. */
HEDDLE_CUTIL_ char* cutFindFilePath(const char* file, const char* program) {
  const char* const slash = program == 0 ? 0 : strrchr(program, '/');
  const size_t beside = slash == 0 ? 0 : (size_t)(slash - program) + 1;
  char* const path = file == 0 ? 0 : (char*)malloc(beside + strlen("data/") + strlen(file) + 1);
  int i;
  for (i = 0; path != 0 && i < 4; ++i) {
    FILE* found;
    const size_t start = i < 2 ? 0 : beside;
    memcpy(path, program, start);
    strcpy(path + start, i % 2 == 0 ? "" : "data/");
    strcat(path, file);
    found = fopen(path, "rb");
    if (found != 0) {
      fclose(found);
      return path;
    }
  }
  free(path);
  return 0;
}

/* Comparisons: of numbers one by one, within epsilon; cutComparefet: but for a part of them. */
#define HEDDLE_CUTIL_WRONG_() \
  unsigned int wrong = 0;     \
  unsigned int i;             \
  for (i = 0; i < count; ++i) wrong += !(fabs((double)expected[i] - (double)given[i]) <= epsilon);
HEDDLE_CUTIL_ CUTBoolean cutComparefet(const float* expected, const float* given, const unsigned int count,
                                       const float epsilon, const float part) {
  HEDDLE_CUTIL_WRONG_()
  return part == 0 ? (wrong == 0 ? CUTTrue : CUTFalse) : (wrong < part * (float)count ? CUTTrue : CUTFalse);
}
HEDDLE_CUTIL_ CUTBoolean cutComparefe(const float* expected, const float* given, const unsigned int count,
                                      const float epsilon) {
  return cutComparefet(expected, given, count, epsilon, 0);
}
HEDDLE_CUTIL_ CUTBoolean cutComparef(const float* expected, const float* given, const unsigned int count) {
  return cutComparefet(expected, given, count, 0, 0);
}
HEDDLE_CUTIL_ CUTBoolean cutComparei(const int* expected, const int* given, const unsigned int count) {
  return memcmp(expected, given, count * sizeof(int)) == 0 ? CUTTrue : CUTFalse;
}
HEDDLE_CUTIL_ CUTBoolean cutCompareub(const unsigned char* expected, const unsigned char* given,
                                      const unsigned int count) {
  return memcmp(expected, given, count) == 0 ? CUTTrue : CUTFalse;
}
HEDDLE_CUTIL_ CUTBoolean cutCompareube(const unsigned char* expected, const unsigned char* given,
                                       const unsigned int count, const float epsilon) {
  HEDDLE_CUTIL_WRONG_()
  return wrong == 0 ? CUTTrue : CUTFalse;
}
/* The length of the difference, as a part of that of what is expected. */
HEDDLE_CUTIL_ CUTBoolean cutCompareL2fe(const float* expected, const float* given, const unsigned int count,
                                        const float epsilon) {
  double error = 0, all = 0;
  unsigned int i;
  for (i = 0; i < count; ++i) {
    const double difference = (double)expected[i] - (double)given[i];
    error += difference * difference;
    all += (double)expected[i] * (double)expected[i];
  }
  return all >= 1e-7 && sqrt(error / all) < epsilon ? CUTTrue : CUTFalse;
}
#undef HEDDLE_CUTIL_WRONG_

#endif
