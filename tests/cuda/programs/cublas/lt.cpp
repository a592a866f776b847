// cuBLASLt: descriptions that come back as they were set, products against double precision on the host, transposed,
// batched, into another matrix, in a stream; and what it has no algorithm for.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

static int failures = 0;
#define EXPECT(holds)                                 \
  do {                                                \
    if (!(holds)) {                                   \
      std::printf("line %d: %s\n", __LINE__, #holds); \
      ++failures;                                     \
    }                                                 \
  } while (0)

static float number(unsigned i) {
  return static_cast<float>(static_cast<int>(i * 2654435761u >> 24) - 128) / 64;
}

struct Device {
  explicit Device(const std::vector<float>& from) {
    cudaMalloc(reinterpret_cast<void**>(&at), from.size() * sizeof(float));
    cudaMemcpy(at, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  ~Device() { cudaFree(at); }
  float* at = nullptr;
};

int main() {
  cublasLtHandle_t handle;
  EXPECT(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);

  // op(A) is 5 x 7, A itself 7 x 5 in columns of 8; B is 7 x 3; C and D are 5 x 3 in columns of 6; twice each.
  const int m = 5, n = 3, k = 7, lda = 8, ldb = 7, ldc = 6, batch = 2;
  const long long stride_a = lda * m + 3, stride_b = ldb * k, stride_c = ldc * n + 2;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, c;
  EXPECT(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  EXPECT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed) == 0);
  EXPECT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, 1) ==
         CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasLtMatmulDescSetAttribute(desc, static_cast<cublasLtMatmulDescAttributes_t>(99), &transposed, 4) ==
         CUBLAS_STATUS_INVALID_VALUE);
  cublasOperation_t read = CUBLAS_OP_N;
  size_t written = 0;
  EXPECT(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &read, sizeof read, &written) == 0);
  EXPECT(read == CUBLAS_OP_T && written == sizeof read);
  EXPECT(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, k, m, lda) == 0);
  EXPECT(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, k, n, ldb) == 0);
  EXPECT(cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, m, n, ldc) == 0);
  const long long strides[] = {stride_a, stride_b, stride_c};
  const cublasLtMatrixLayout_t layouts[] = {a, b, c};
  for (int i = 0; i < 3; ++i) {
    EXPECT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch) == 0);
    EXPECT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &strides[i],
                                            sizeof strides[i]) == 0);
  }
  // In the program's own memory: the same fields as what is created.
  cublasLtMatmulDescOpaque_t own_desc;
  cublasLtMatrixLayoutOpaque_t own_layout;
  cublasLtMatmulPreferenceOpaque_t own_preference;
  cublasComputeType_t sums = CUBLAS_COMPUTE_64F;
  unsigned long long height = 0;
  EXPECT(cublasLtMatmulDescInit(&own_desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) == 0);
  EXPECT(cublasLtMatmulDescGetAttribute(&own_desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &sums, sizeof sums, &written) ==
         0);
  EXPECT(sums == CUBLAS_COMPUTE_32F);
  EXPECT(cublasLtMatmulDescGetAttribute(&own_desc, CUBLASLT_MATMUL_DESC_TRANSA, &read, sizeof read, &written) == 0);
  EXPECT(read == CUBLAS_OP_N);
  EXPECT(cublasLtMatmulDescInit_internal(&own_desc, 8, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT(cublasLtMatmulDescInit(nullptr, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasLtMatmulDescSetAttribute(&own_desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed) == 0);
  EXPECT(cublasLtMatrixLayoutInit(&own_layout, CUDA_R_32F, k, m, lda) == 0);
  EXPECT(cublasLtMatrixLayoutGetAttribute(&own_layout, CUBLASLT_MATRIX_LAYOUT_ROWS, &height, sizeof height, &written) ==
         0);
  EXPECT(height == 7);
  EXPECT(cublasLtMatrixLayoutInit(nullptr, CUDA_R_32F, k, m, lda) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasLtMatmulPreferenceInit(&own_preference) == 0);
  cublasLtMatmulPreference_t preference;
  const size_t workspace = 1 << 20;
  EXPECT(cublasLtMatmulPreferenceCreate(&preference) == 0);
  EXPECT(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                              sizeof workspace) == 0);
  cublasLtMatmulHeuristicResult_t best;
  int found = 0;
  EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, c, preference, 1, &best, &found) == 0);
  EXPECT(found == 1 && best.state == CUBLAS_STATUS_SUCCESS && best.workspaceSize <= workspace);

  std::vector<float> host_a(batch * stride_a), host_b(batch * stride_b), host_c(batch * stride_c);
  unsigned next = 0;
  for (std::vector<float>* const each : {&host_a, &host_b, &host_c}) {
    for (float& value : *each) value = number(++next);
  }
  const Device device_a(host_a), device_b(host_b), device_c(host_c), device_d(std::vector<float>(host_c.size(), -1.0f));
  const float alpha = 1.5f, beta = -0.5f;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  // What `from` has, against the sum in double precision, added to what was in the result and finished.
  const auto check = [&](const float* from, float factor, auto finished) {
    std::vector<float> result(host_c.size());
    cudaStreamSynchronize(stream);
    cudaMemcpy(result.data(), from, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int part = 0; part < batch; ++part) {
      for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
          double sum = 0;
          for (int i = 0; i < k; ++i) {
            sum += double{host_a[part * stride_a + row * lda + i]} * host_b[part * stride_b + column * ldb + i];
          }
          const std::size_t at = part * stride_c + column * ldc + row;
          const double wanted = finished(alpha * sum + double{factor} * host_c[at], row);
          EXPECT(std::fabs(result[at] - wanted) <= 1e-4 * (1 + std::fabs(wanted)));
        }
      }
    }
  };
  EXPECT(cublasLtMatmul(handle, desc, &alpha, device_a.at, a, device_b.at, b, &beta, device_c.at, c, device_d.at, c,
                        &best.algo, nullptr, 0, stream) == 0);
  const auto as_it_is = [](double value, int) { return value; };
  check(device_d.at, beta, as_it_is);
  EXPECT(cublasLtMatmul(handle, desc, &alpha, device_a.at, a, device_b.at, b, &beta, device_c.at, c, device_c.at, c,
                        nullptr, nullptr, 0, stream) == 0);
  check(device_c.at, beta, as_it_is);

  // A bias for each row, and ReLU: in double precision too, whose layouts are in the program's memory.
  std::vector<float> host_bias(m);
  for (float& value : host_bias) value = number(++next);
  const Device device_bias(host_bias);
  const auto set_epilogue = [&](cublasLtMatmulDesc_t of, cublasLtEpilogue_t epilogue, const void* bias) {
    EXPECT(cublasLtMatmulDescSetAttribute(of, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue) == 0);
    EXPECT(cublasLtMatmulDescSetAttribute(of, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias) == 0);
  };
  const float zero = 0;
  for (const cublasLtEpilogue_t epilogue :
       {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS}) {
    const bool biased = epilogue != CUBLASLT_EPILOGUE_RELU, bounded = epilogue != CUBLASLT_EPILOGUE_BIAS;
    set_epilogue(desc, epilogue, biased ? device_bias.at : nullptr);
    EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, c, preference, 1, &best, &found) == 0 && found == 1);
    EXPECT(cublasLtMatmul(handle, desc, &alpha, device_a.at, a, device_b.at, b, &zero, device_d.at, c, device_d.at, c,
                          nullptr, nullptr, 0, stream) == 0);
    int below = 0;
    check(device_d.at, zero, [&](double value, int row) {
      value += biased ? host_bias[row] : 0;
      below += value < 0 ? 1 : 0;
      return bounded && value < 0 ? 0 : value;
    });
    EXPECT(below > 0 && below < batch * m * n);
  }
  {
    // 2 x 2 in columns of 2: [1 3; -2 4] [1 0; 0 1] with the bias (-2, 1).
    const double host[] = {1, -2, 3, 4, 1, 0, 0, 1, -2, 1}, wanted[] = {0, 0, 1, 5}, one = 1, none = 0;
    double result[4] = {};
    double* device = nullptr;
    double* product = nullptr;
    cudaMalloc(&device, sizeof host);
    cudaMalloc(&product, sizeof result);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    EXPECT(cublasLtMatmulDescInit(&own_desc, CUBLAS_COMPUTE_64F, CUDA_R_64F) == 0);
    EXPECT(cublasLtMatrixLayoutInit(&own_layout, CUDA_R_64F, 2, 2, 2) == 0);
    set_epilogue(&own_desc, CUBLASLT_EPILOGUE_RELU_BIAS, device + 8);
    EXPECT(cublasLtMatmul(handle, &own_desc, &one, device, &own_layout, device + 4, &own_layout, &none, product,
                          &own_layout, product, &own_layout, nullptr, nullptr, 0, nullptr) == 0);
    cudaMemcpy(result, product, sizeof result, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; ++i) EXPECT(result[i] == wanted[i]);
    set_epilogue(&own_desc, CUBLASLT_EPILOGUE_BIAS, nullptr);
    EXPECT(cublasLtMatmul(handle, &own_desc, &one, device, &own_layout, device + 4, &own_layout, &none, product,
                          &own_layout, product, &own_layout, nullptr, nullptr, 0,
                          nullptr) == CUBLAS_STATUS_INVALID_VALUE);
    cudaFree(device);
    cudaFree(product);
  }

  // What else may be done to the result, other orders, and sizes that do not fit.
  set_epilogue(desc, CUBLASLT_EPILOGUE_GELU, nullptr);
  EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, c, preference, 1, &best, &found) ==
         CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT(found == 0);
  set_epilogue(desc, CUBLASLT_EPILOGUE_DEFAULT, nullptr);
  const cublasLtOrder_t rows = CUBLASLT_ORDER_ROW;
  EXPECT(cublasLtMatrixLayoutSetAttribute(b, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof rows) == 0);
  EXPECT(cublasLtMatmul(handle, desc, &alpha, device_a.at, a, device_b.at, b, &beta, device_c.at, c, device_c.at, c,
                        nullptr, nullptr, 0, stream) == CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, desc, b, a, c, c, preference, 1, &best, &found) != 0);

  EXPECT(cublasLtMatmulPreferenceDestroy(preference) == 0);
  for (const cublasLtMatrixLayout_t layout : layouts) EXPECT(cublasLtMatrixLayoutDestroy(layout) == 0);
  EXPECT(cublasLtMatmulDescDestroy(desc) == 0);
  cudaStreamDestroy(stream);
  EXPECT(cublasLtDestroy(handle) == 0);
  EXPECT(cublasLtDestroy(handle) == CUBLAS_STATUS_NOT_INITIALIZED);
  std::puts(failures == 0 ? "PASSED" : "FAILED");
  return failures;
}
