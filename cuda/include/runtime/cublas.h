/* cuBLAS's first interface: one handle for the whole program, which cublasInit makes. What goes wrong cublasGetError
   says. A file that includes it has the functions of cublas_v2.h by their names in the library, which end in "_v2". */
#ifndef CUBLAS_H_
#ifdef CUBLAS_V2_H_
#error "cublas_v2.h and cublas.h are two interfaces of cuBLAS: a file includes one of them"
#endif
#define CUBLAS_H_

#include "cublas_api.h"
#include "heddle_cublas_legacy.h"

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus cublasInit(void);
cublasStatus cublasShutdown(void);
/* The last error since the last call. */
cublasStatus cublasGetError(void);
cublasStatus cublasGetVersion(int* version);
/* Memory of the device for n elements. */
cublasStatus cublasAlloc(int n, int size, void** device);
cublasStatus cublasFree(void* device);
cublasStatus cublasSetKernelStream(cudaStream_t stream);

#define HEDDLE_LEGACY_DO_(prefix, name, parameters, arguments) void prefix##name parameters;
#define HEDDLE_LEGACY_GET_(R, prefix, name, parameters, arguments) R prefix##name parameters;
HEDDLE_LEGACY_FUNCTIONS_
#undef HEDDLE_LEGACY_DO_
#undef HEDDLE_LEGACY_GET_

#ifdef __cplusplus
}
#endif

#endif
