/* cuRAND's functions of host code: generators that fill arrays in device memory. Those of kernels are in
   curand_kernel.h. */
#ifndef CURAND_H_
#define CURAND_H_

#include <stddef.h>
#include "driver_types.h"
#include "library_types.h"

#ifndef CURANDAPI
#define CURANDAPI
#endif

#define CURAND_VER_MAJOR 10
#define CURAND_VER_MINOR 2
#define CURAND_VER_PATCH 5
#define CURAND_VER_BUILD 120
#define CURAND_VERSION (CURAND_VER_MAJOR * 1000 + CURAND_VER_MINOR * 100 + CURAND_VER_PATCH)

enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
typedef enum curandStatus curandStatus_t;

/* There are XORWOW, which is the usual one, and PHILOX4_32_10; curandCreateGenerator refuses the others. */
enum curandRngType {
  CURAND_RNG_TEST = 0,
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
  CURAND_RNG_QUASI_DEFAULT = 200,
  CURAND_RNG_QUASI_SOBOL32 = 201,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
  CURAND_RNG_QUASI_SOBOL64 = 203,
  CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
typedef enum curandRngType curandRngType_t;

/* Which numbers of which threads a result has: BEST, LEGACY and DYNAMIC give the same here, SEEDED is not there. */
enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
  CURAND_ORDERING_QUASI_DEFAULT = 201
};
typedef enum curandOrdering curandOrdering_t;

typedef struct curandGenerator_st* curandGenerator_t;

#ifdef __cplusplus
extern "C" {
#endif

CURANDAPI curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type);
CURANDAPI curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
CURANDAPI curandStatus_t curandGetVersion(int* version);
CURANDAPI curandStatus_t curandGetProperty(libraryPropertyType type, int* value);
CURANDAPI curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream);
CURANDAPI curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
CURANDAPI curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
CURANDAPI curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order);
CURANDAPI curandStatus_t curandGenerateSeeds(curandGenerator_t generator);

CURANDAPI curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out, size_t count);
CURANDAPI curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t count);
CURANDAPI curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t count);
CURANDAPI curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t count, float mean,
                                              float deviation);
CURANDAPI curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t count, double mean,
                                                    double deviation);
CURANDAPI curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t count, float mean,
                                                 float deviation);
CURANDAPI curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t count,
                                                       double mean, double deviation);

#ifdef __cplusplus
}
#endif
#endif
