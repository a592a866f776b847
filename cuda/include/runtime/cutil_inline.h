/* The calls of CUTIL (cutil.h) that are always checked and never waited for. */
#ifndef _CUTIL_INLINE_H_
#define _CUTIL_INLINE_H_

#include "cuda.h"
#include "cutil.h"

#define cutilSafeCall(call) heddle_cutil_check_((call), __FILE__, __LINE__, #call)
#define cutilSafeCallNoSync(call) cutilSafeCall(call)
#define cutilDrvSafeCall(call) cutilDrvSafeCallNoSync(call)
#define cutilDrvSafeCallNoSync(call) \
  ((call) == CUDA_SUCCESS ? (void)0 : heddle_cutil_fail_(__FILE__, __LINE__, #call, "an error of the driver API"))
#define cutilSafeThreadSync() cutilSafeCall(cudaDeviceSynchronize())
#define cutilSafeDeviceSync() cutilSafeCall(cudaDeviceSynchronize())
#define cutilThreadSynchronize() cudaDeviceSynchronize()
#define cutilDeviceSynchronize() cudaDeviceSynchronize()
#define cutilDeviceReset() cudaDeviceReset()
#define cutilCheckError(call) \
  ((call) == CUTTrue ? (void)0 : heddle_cutil_fail_(__FILE__, __LINE__, #call, "is not CUTTrue"))
#define cutilCheckMsg(message) CUT_CHECK_ERROR(message)
#define cutilCheckMsgAndSync(message)                                          \
  do {                                                                         \
    cutilCheckMsg(message);                                                    \
    heddle_cutil_check_(cudaDeviceSynchronize(), __FILE__, __LINE__, message); \
  } while (0)
#define cutilSafeMalloc(call) \
  ((call) ? (void)0 : heddle_cutil_fail_(__FILE__, __LINE__, #call, "there is no memory left"))
#define cutilCondition(value) ((value) ? (void)0 : heddle_cutil_fail_(__FILE__, __LINE__, #value, "does not hold"))
#define cutilExit(count, words) CUT_EXIT(count, words)
#define cutilBankChecker(array, index) CUT_BANK_CHECKER(array, index)
#define cutilDeviceInit(...) heddle_cutil_device_()
#define cutilChooseCudaDevice(...) heddle_cutil_device_()
#define cutGetMaxGflopsDeviceId() 0

HEDDLE_CUTIL_ int heddle_cutil_device_(void) {
  CUT_DEVICE_INIT();
  return 0;
}

#endif
