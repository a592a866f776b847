// What cuBLAS says of parameters that it does not allow; handles, modes, copies; products and vectors of other types;
// streams, graphs and managed memory.
#include "common.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>
#include <string>

static const float kOne = 1, kTwo = 2, kNone = 0;

static void statuses() {
  cublasHandle_t none = nullptr;
  float result = 0;
  int index = 0;
  Numbers<float> a(64), b(64), c(64), x(8), y(8);
  IS(NOT_INITIALIZED, cublasSscal(none, 8, &kTwo, x.device, 1));
  IS(NOT_INITIALIZED, cublasDestroy(none));
  IS(NOT_INITIALIZED, cublasSetStream(reinterpret_cast<cublasHandle_t>(&result), nullptr));
  IS(INVALID_VALUE, cublasCreate(nullptr));
  cublasHandle_t gone;
  OK(cublasCreate_v2(&gone));
  OK(cublasDestroy_v2(gone));
  IS(NOT_INITIALIZED, cublasSscal(gone, 8, &kTwo, x.device, 1));
  // Factors and results.
  IS(INVALID_VALUE, cublasSscal(handle, 8, nullptr, x.device, 1));
  IS(INVALID_VALUE, cublasSdot(handle, 8, x.device, 1, y.device, 1, nullptr));
  IS(INVALID_VALUE, cublasSscal(handle, 8, x.device, x.device, 1));  // on the device, in the host's mode
  // Nothing to do: results are 0.
  result = 5;
  index = 5;
  OK(cublasSdot(handle, 0, x.device, 1, y.device, 1, &result));
  CHECK(result == 0);
  result = 5;
  OK(cublasSnrm2(handle, 8, x.device, 0, &result));
  CHECK(result == 0);
  OK(cublasIsamax(handle, -3, x.device, 1, &index));
  CHECK(index == 0);
  OK(cublasSaxpy(handle, 0, &kOne, nullptr, 1, nullptr, 1));
  OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 8, 8, &kOne, nullptr, 1, nullptr, 8, &kOne, nullptr, 1));
  // Matrices and vectors.
  const auto gemv = [&](int op, int m, int n, int lda, int incx, int incy) {
    return cublasSgemv(handle, static_cast<cublasOperation_t>(op), m, n, &kOne, a.device, lda, x.device, incx, &kNone,
                       y.device, incy);
  };
  OK(gemv(CUBLAS_OP_N, 8, 8, 8, 1, 1));
  IS(INVALID_VALUE, gemv(CUBLAS_OP_N, -1, 8, 8, 1, 1));
  IS(INVALID_VALUE, gemv(CUBLAS_OP_N, 8, -1, 8, 1, 1));
  IS(INVALID_VALUE, gemv(CUBLAS_OP_N, 8, 8, 7, 1, 1));
  IS(INVALID_VALUE, gemv(CUBLAS_OP_N, 0, 8, 0, 1, 1));
  IS(INVALID_VALUE, gemv(CUBLAS_OP_N, 8, 8, 8, 0, 1));
  IS(INVALID_VALUE, gemv(CUBLAS_OP_N, 8, 8, 8, 1, 0));
  IS(INVALID_VALUE, gemv(7, 8, 8, 8, 1, 1));
  IS(INVALID_VALUE, cublasSger(handle, 8, 8, &kOne, x.device, 1, y.device, 1, a.device, 7));
  IS(INVALID_VALUE,
     cublasSsymv(handle, CUBLAS_FILL_MODE_FULL, 8, &kOne, a.device, 8, x.device, 1, &kNone, y.device, 1));
  IS(INVALID_VALUE, cublasSgbmv(handle, CUBLAS_OP_N, 8, 8, 2, 3, &kOne, a.device, 5, x.device, 1, &kNone, y.device, 1));
  IS(INVALID_VALUE, cublasStrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, static_cast<cublasDiagType_t>(3), 8,
                                a.device, 8, x.device, 1));
  // Matrices.
  const auto gemm = [&](cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, int lda, int ldb, int ldc) {
    return cublasSgemm(handle, opa, opb, m, n, k, &kOne, a.device, lda, b.device, ldb, &kNone, c.device, ldc);
  };
  OK(gemm(CUBLAS_OP_N, CUBLAS_OP_N, 4, 3, 2, 4, 2, 4));
  IS(INVALID_VALUE, gemm(CUBLAS_OP_N, CUBLAS_OP_N, 4, 3, 2, 3, 2, 4));
  IS(INVALID_VALUE, gemm(CUBLAS_OP_N, CUBLAS_OP_N, 4, 3, 2, 4, 1, 4));
  IS(INVALID_VALUE, gemm(CUBLAS_OP_N, CUBLAS_OP_N, 4, 3, 2, 4, 2, 3));
  OK(gemm(CUBLAS_OP_T, CUBLAS_OP_T, 4, 3, 2, 2, 3, 4));
  IS(INVALID_VALUE, gemm(CUBLAS_OP_T, CUBLAS_OP_T, 4, 3, 2, 1, 3, 4));
  IS(INVALID_VALUE, gemm(CUBLAS_OP_T, CUBLAS_OP_T, 4, 3, 2, 2, 2, 4));
  IS(INVALID_VALUE, gemm(CUBLAS_OP_N, CUBLAS_OP_N, 4, 3, -2, 4, 2, 4));
  IS(INVALID_VALUE,
     cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 3, 2, &kOne, a.device, 4, b.device, 2, nullptr, c.device, 4));
  IS(NOT_SUPPORTED, cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1LL << 33, 3, 2, &kOne, a.device, 1LL << 33,
                                   b.device, 2, &kNone, c.device, 1LL << 33));
  IS(INVALID_VALUE,
     cublasSsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 4, 2, &kOne, a.device, 3, &kNone, c.device, 4));
  const cuComplex complex_one = make_cuComplex(1, 0);
  Numbers<cuComplex> ca(16), cc(16);
  IS(INVALID_VALUE,
     cublasCherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, 4, 4, &kOne, ca.device, 4, &kNone, cc.device, 4));
  IS(INVALID_VALUE, cublasCsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, 4, 4, &complex_one, ca.device, 4,
                                &complex_one, cc.device, 4));
  IS(INVALID_VALUE, cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 4, 4, &kOne, c.device, 4, &kOne, b.device, 4,
                                c.device, 4));  // in place, but transposed
  IS(INVALID_VALUE, cublasSdgmm(handle, CUBLAS_SIDE_LEFT, 4, 4, a.device, 3, x.device, 1, c.device, 4));
  int info = 7;
  IS(INVALID_VALUE, cublasSgetrsBatched(handle, CUBLAS_OP_N, 4, 1, nullptr, 3, nullptr, nullptr, 4, &info, 1));
  CHECK(info == -5);
  IS(INVALID_VALUE, cublasSgetrfBatched(handle, 4, nullptr, 3, nullptr, nullptr, 1));
  CHECK(x.right() && ca.right());
  // Modes.
  IS(INVALID_VALUE, cublasSetPointerMode(handle, static_cast<cublasPointerMode_t>(2)));
  IS(INVALID_VALUE, cublasSetAtomicsMode(handle, static_cast<cublasAtomicsMode_t>(2)));
  IS(INVALID_VALUE, cublasSetMathMode(handle, static_cast<cublasMath_t>(9)));
  cublasMath_t mode;
  OK(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  OK(cublasGetMathMode(handle, &mode));
  CHECK(mode == CUBLAS_TF32_TENSOR_OP_MATH);
  int version = 0, major = 0;
  OK(cublasGetVersion(handle, &version));
  OK(cublasGetProperty(MAJOR_VERSION, &major));
  CHECK(version == CUBLAS_VERSION && major == CUBLAS_VER_MAJOR);
  CHECK(std::strcmp(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE") == 0);
  CHECK(std::strlen(cublasGetStatusString(CUBLAS_STATUS_EXECUTION_FAILED)) > 10);
}

static void copies() {
  float from[24], to[24];
  for (int i = 0; i < 24; ++i) from[i] = float(i);
  Numbers<float> d(24);
  const auto back = [&] { OK(cublasGetVector(24, sizeof(float), d.device, 1, to, 1)); };
  OK(cublasSetVector(4, sizeof(float), from, 3, d.device, 2));
  back();
  for (int i = 0; i < 4; ++i) CHECK(to[i * 2] == float(i * 3));
  CHECK(to[1] == d.host[1]);
  OK(cublasSetMatrix(3, 4, sizeof(float), from, 6, d.device, 5));
  back();
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 3; ++i) CHECK(to[i + j * 5] == float(i + j * 6));
  }
  CHECK(to[13] == d.host[13]);
  float small[12];
  OK(cublasGetMatrix(3, 4, sizeof(float), d.device, 5, small, 3));
  CHECK(small[11] == 20);
  IS(INVALID_VALUE, cublasSetVector(4, sizeof(float), from, 0, d.device, 1));
  IS(INVALID_VALUE, cublasSetVector(4, 0, from, 1, d.device, 1));
  IS(INVALID_VALUE, cublasSetMatrix(-1, 4, sizeof(float), from, 1, d.device, 1));
  IS(INVALID_VALUE, cublasGetMatrix(3, 4, sizeof(float), d.device, 0, small, 3));
  IS(MAPPING_ERROR, cublasSetVector(25, sizeof(float), from, 1, d.device, 1));
  OK(cublasSetVector(0, sizeof(float), nullptr, 1, nullptr, 1));
}

// Numbers of 16 and 8 bits; small whole numbers, so that every sum is exact.
template <class In, class Out, class Sum>
static void product(cudaDataType in, cudaDataType out, cublasComputeType_t sums) {
  const int m = 9, n = 7, k = 20;
  std::vector<In> a(m * k), b(k * n);
  std::vector<Out> c(m * n);
  std::vector<int> exact_a, exact_b;
  for (int i = 0; i < m * k; ++i) exact_a.push_back(i * 7 % 5 - 2);
  for (int i = 0; i < k * n; ++i) exact_b.push_back(i * 3 % 7 - 3);
  const auto as = [](auto* type, int x) {
    using T = std::remove_pointer_t<decltype(type)>;
    if constexpr (std::is_arithmetic_v<T>) {
      return T(x);
    } else {
      return T(float(x));
    }
  };
  for (int i = 0; i < m * k; ++i) a[i] = as((In*)nullptr, exact_a[i]);
  for (int i = 0; i < k * n; ++i) b[i] = as((In*)nullptr, exact_b[i]);
  In *da, *db;
  Out* dc;
  cudaMalloc(&da, a.size() * sizeof(In));
  cudaMalloc(&db, b.size() * sizeof(In));
  cudaMalloc(&dc, c.size() * sizeof(Out));
  cudaMemcpy(da, a.data(), a.size() * sizeof(In), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(In), cudaMemcpyHostToDevice);
  const Sum alpha = as((Sum*)nullptr, 2), beta = as((Sum*)nullptr, 0);
  OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, da, in, m, db, in, k, &beta, dc, out, m, sums,
                  CUBLAS_GEMM_DEFAULT_TENSOR_OP));
  cudaMemcpy(c.data(), dc, c.size() * sizeof(Out), cudaMemcpyDeviceToHost);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) {
      int sum = 0;
      for (int l = 0; l < k; ++l) sum += exact_a[i + l * m] * exact_b[l + j * k];
      CHECK(float(c[i + j * m]) == float(2 * sum));
    }
  }
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
}

static void types() {
  product<__half, __half, float>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F);
  product<__half, __half, __half>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F);
  product<__half, float, float>(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  product<__nv_bfloat16, __nv_bfloat16, float>(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
  product<__nv_bfloat16, float, float>(CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  product<signed char, int, int>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I);
  product<signed char, float, float>(CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F);
  product<float, float, float>(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
  product<double, double, double>(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F);
  Numbers<float> a(4), c(4);
  IS(NOT_SUPPORTED,
     cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &kOne, a.device, CUDA_R_32F, 2, a.device, CUDA_R_32F, 2,
                  &kNone, c.device, CUDA_R_64F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  // As releases before 11 have it: the sums' type as that of numbers.
  OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &kOne, a.device, CUDA_R_32F, 2, a.device, CUDA_R_32F, 2,
                  &kNone, c.device, CUDA_R_32F, 2, CUDA_R_32F, CUBLAS_GEMM_DEFAULT));
  __half halves[50], *on_device, result;
  for (int i = 0; i < 50; ++i) halves[i] = __float2half(float(i % 4));
  cudaMalloc(&on_device, sizeof halves);
  cudaMemcpy(on_device, halves, sizeof halves, cudaMemcpyHostToDevice);
  OK(cublasDotEx(handle, 50, on_device, CUDA_R_16F, 1, on_device, CUDA_R_16F, 1, &result, CUDA_R_16F, CUDA_R_32F));
  CHECK(__half2float(result) == 12 * 14 + 1);
  OK(cublasScalEx(handle, 50, &kTwo, CUDA_R_32F, on_device, CUDA_R_16F, 1, CUDA_R_32F));
  OK(cublasAxpyEx(handle, 50, &kOne, CUDA_R_32F, on_device, CUDA_R_16F, 1, on_device, CUDA_R_16F, 1, CUDA_R_32F));
  OK(cublasNrm2Ex(handle, 4, on_device, CUDA_R_16F, 1, &result, CUDA_R_16F, CUDA_R_32F));
  CHECK(__half2float(result) == __half2float(__float2half(4 * std::sqrt(14.0f))));
  IS(NOT_SUPPORTED,
     cublasDotEx(handle, 50, on_device, CUDA_R_16F, 1, on_device, CUDA_R_16F, 1, &result, CUDA_R_32F, CUDA_R_32F));
  cudaFree(on_device);
}

static void streams() {
  cudaStream_t stream, found;
  cudaStreamCreate(&stream);
  OK(cublasSetStream(handle, stream));
  OK(cublasGetStream(handle, &found));
  CHECK(found == stream);
  // Recorded, and run twice.
  Numbers<float> a(16), x(4);
  cudaGraph_t graph;
  cudaGraphExec_t runs;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  OK(cublasSscal(handle, 4, &kTwo, x.device, 1));
  OK(cublasStrmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 4, a.device, 4, x.device, 1));
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(cudaGraphInstantiate(&runs, graph, nullptr, nullptr, 0) == cudaSuccess);
  CHECK(x.right());
  for (int run = 0; run < 2; ++run) {
    CHECK(cudaGraphLaunch(runs, stream) == cudaSuccess);
    std::vector<Exact> y(4);
    for (int i = 0; i < 4; ++i) {
      y[i] = 2.0 * x.should[i];
      for (int j = 0; j < i; ++j) y[i] += 2.0 * a.should[i + j * 4] * x.should[j];
    }
    x.should = y;
  }
  cudaStreamSynchronize(stream);
  CHECK(x.right());
  // Managed memory holds vectors, factors and results.
  float* managed;
  cudaMallocManaged(&managed, 8 * sizeof(float));
  for (int i = 0; i < 8; ++i) managed[i] = 1;
  OK(cublasSaxpy(handle, 4, managed + 4, managed, 1, managed, 1));
  OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  OK(cublasSdot(handle, 4, managed, 1, managed, 1, managed + 7));
  OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  cudaStreamSynchronize(stream);
  CHECK(managed[0] == 2 && managed[7] == 16);
  OK(cublasSetStream(handle, nullptr));
  cudaStreamDestroy(stream);
}

int main() {
  OK(cublasCreate(&handle));
  statuses();
  copies();
  types();
  streams();
  return ended();
}
