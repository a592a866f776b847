/* The names and words of errors, for host and for device code: HEDDLE_ERROR_FUNCTION_ says how they are declared. */
HEDDLE_ERROR_FUNCTION_ const char* cudaGetErrorString(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define HEDDLE_ERROR_(name, value, text) \
  case value:                            \
    return text;
#include "heddle_errors.h"
#undef HEDDLE_ERROR_
    default:
      return "unrecognized error code";
  }
}
HEDDLE_ERROR_FUNCTION_ const char* cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define HEDDLE_ERROR_(name, value, text) \
  case value:                            \
    return #name;
#include "heddle_errors.h"
#undef HEDDLE_ERROR_
    default:
      return "unrecognized error code";
  }
}
