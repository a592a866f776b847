// cuBLASLt: descriptions of a product, and the product itself by cublasGemmStridedBatchedEx. Its handle is one of
// cuBLAS, as NVIDIA's library lets a program use them for each other. Bias and ReLU are a kernel behind the product's,
// of results in single and double precision, which hold all that the sums were kept in. What the kernels cannot do (an
// order of its own for each matrix, something else to be done to the result) has no algorithm, and is
// CUBLAS_STATUS_NOT_SUPPORTED.
#include <cstring>
#include <new>

#include "cuda/cublas/library.hpp"

#pragma GCC visibility push(default)
#include <cublasLt.h>
#pragma GCC visibility pop

namespace heddle::cublas {
namespace {

struct Description {
  std::int32_t sums = CUBLAS_COMPUTE_32F, scale = CUDA_R_32F, pointers = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N, op_c = CUBLAS_OP_N, fill = CUBLAS_FILL_MODE_FULL;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct Layout {
  std::uint32_t type = CUDA_R_32F;
  std::int32_t order = CUBLASLT_ORDER_COL;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t ld = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};
static_assert(sizeof(Description) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

Description& of(cublasLtMatmulDesc_t desc) {
  require(desc != nullptr);
  return *reinterpret_cast<Description*>(desc);
}
Layout& of(cublasLtMatrixLayout_t layout) {
  require(layout != nullptr);
  return *reinterpret_cast<Layout*>(layout);
}

// visit(field) for the field that an attribute names; false: there is none of that name here.
template <class Visit>
bool field_of(Description& description, int attribute, Visit visit) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return visit(description.sums), true;
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return visit(description.scale), true;
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return visit(description.pointers), true;
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return visit(description.op_a), true;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return visit(description.op_b), true;
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return visit(description.op_c), true;
    case CUBLASLT_MATMUL_DESC_FILL_MODE:
      return visit(description.fill), true;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return visit(description.epilogue), true;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return visit(description.bias), true;
    default:
      return false;
  }
}
template <class Visit>
bool field_of(Layout& layout, int attribute, Visit visit) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return visit(layout.type), true;
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return visit(layout.order), true;
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return visit(layout.rows), true;
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return visit(layout.cols), true;
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return visit(layout.ld), true;
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return visit(layout.batch), true;
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return visit(layout.stride), true;
    default:
      return false;
  }
}

template <class Body>
cublasStatus_t told(Body&& body) noexcept {
  try {
    body();
    return CUBLAS_STATUS_SUCCESS;
  } catch (const Refusal& refusal) {
    return refusal.status;
  } catch (...) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
}

// The program's own room for something opaque, of so many bytes by the header that it was compiled with.
template <class Opaque>
Opaque* clear(Opaque* room, std::size_t bytes) {
  require(room != nullptr);
  require(bytes >= sizeof(Opaque), CUBLAS_STATUS_ALLOC_FAILED);
  *room = {};
  return room;
}

template <class Described>
cublasStatus_t set(Described* described, int attribute, const void* value, std::size_t bytes) {
  return told([&] {
    require(value != nullptr);
    require(field_of(of(described), attribute, [&](auto& field) {
      require(bytes == sizeof field);
      std::memcpy(&field, value, sizeof field);
    }));
  });
}
template <class Described>
cublasStatus_t get(Described* described, int attribute, void* value, std::size_t bytes, std::size_t* written) {
  return told([&] {
    require(field_of(of(described), attribute, [&](auto& field) {
      if (written != nullptr) *written = sizeof field;
      require(bytes == 0 ? written != nullptr : value != nullptr && bytes >= sizeof field);
      if (bytes != 0) std::memcpy(value, &field, sizeof field);
    }));
  });
}

// A product as cublasGemmStridedBatchedEx takes it.
struct Product {
  cublasOperation_t opa, opb;
  int m, n, k, batch;
};

Product product_of(const Description& description, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  const auto supported = [](bool holds) { require(holds, CUBLAS_STATUS_NOT_SUPPORTED); };
  switch (description.epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
      break;
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      supported(d.type == CUDA_R_32F || d.type == CUDA_R_64F);
      break;
    default:
      supported(false);
  }
  supported(description.op_c == CUBLAS_OP_N && description.fill == CUBLAS_FILL_MODE_FULL);
  for (const Layout* const each : {&a, &b, &c, &d}) supported(each->order == CUBLASLT_ORDER_COL);
  supported(c.type == d.type && c.ld == d.ld && c.stride == d.stride);
  require(c.rows == d.rows && c.cols == d.cols && c.batch == d.batch && a.batch == d.batch && b.batch == d.batch);
  const bool plain_a = description.op_a == CUBLAS_OP_N, plain_b = description.op_b == CUBLAS_OP_N;
  const std::uint64_t inner = plain_a ? a.cols : a.rows;
  require((plain_a ? a.rows : a.cols) == d.rows && (plain_b ? b.cols : b.rows) == d.cols &&
          (plain_b ? b.rows : b.cols) == inner);
  return {static_cast<cublasOperation_t>(description.op_a), static_cast<cublasOperation_t>(description.op_b),
          index_of(static_cast<std::int64_t>(d.rows)),      index_of(static_cast<std::int64_t>(d.cols)),
          index_of(static_cast<std::int64_t>(inner)),       d.batch};
}

bool has_bias(const Description& description) {
  return (description.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
}

// The bias, one number for each row of the result, and the activation.
template <class T>
void finish(Call& call, const Description& description, const Product& product, T* d, const Layout& out) {
  const bool biased = has_bias(description);
  call.launch("matrices", "finish", letter_of<T>(),
              dim3(blocks_of(product.m, 16), within_limit(blocks_of(product.n, 4)), within_limit(product.batch)),
              product.m, product.n, product.batch, biased ? static_cast<const T*>(description.bias) : nullptr,
              static_cast<int>((description.epilogue & CUBLASLT_EPILOGUE_RELU) != 0), d, static_cast<long long>(out.ld),
              static_cast<long long>(out.stride));
}

std::size_t bytes_of(std::uint32_t type) {
  switch (type) {
    case CUDA_R_8I:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 4;
  }
}

cublasHandle_t plain(cublasLtHandle_t handle) {
  return reinterpret_cast<cublasHandle_t>(handle);
}

// For one call the handle is of the call's stream, and its factors are where the description says.
class AsDescribed {
 public:
  AsDescribed(cublasContext& context, cudaStream_t stream, std::int32_t pointers)
      : context_(context), stream_(context.stream), pointers_(context.pointers) {
    context.stream = stream;
    context.pointers = static_cast<cublasPointerMode_t>(pointers);
  }
  ~AsDescribed() {
    context_.stream = stream_;
    context_.pointers = pointers_;
  }
  AsDescribed(const AsDescribed&) = delete;
  AsDescribed& operator=(const AsDescribed&) = delete;

 private:
  cublasContext& context_;
  cudaStream_t stream_;
  cublasPointerMode_t pointers_;
};

}  // namespace
}  // namespace heddle::cublas

using namespace heddle::cublas;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cublasCreate_v2(reinterpret_cast<cublasHandle_t*>(handle));
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cublasDestroy_v2(plain(handle));
}
size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t bytes, cublasComputeType_t sums,
                                               cudaDataType_t scale) {
  return told([&] {
    Description& made = *new (clear(desc, bytes)) Description;
    made.sums = sums;
    made.scale = scale;
  });
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t sums, cudaDataType_t scale) {
  return told([&] {
    require(desc != nullptr);
    *desc = new cublasLtMatmulDescOpaque_t{};
    cublasLtMatmulDescInit(*desc, sums, scale);
  });
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete desc;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  return set(desc, attribute, value, bytes);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              void* value, size_t bytes, size_t* written) {
  return get(desc, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t bytes, cudaDataType_t type,
                                                 uint64_t rows, uint64_t cols, int64_t ld) {
  return told([&] {
    Layout& made = *new (clear(layout, bytes)) Layout;
    made.type = type;
    made.rows = rows;
    made.cols = cols;
    made.ld = ld;
  });
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, uint64_t rows,
                                          uint64_t cols, int64_t ld) {
  return told([&] {
    require(layout != nullptr);
    *layout = new cublasLtMatrixLayoutOpaque_t{};
    cublasLtMatrixLayoutInit(*layout, type, rows, cols, ld);
  });
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                size_t bytes) {
  return set(layout, attribute, value, bytes);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void* value, size_t bytes,
                                                size_t* written) {
  return get(layout, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t bytes) {
  return told([&] { clear(preference, bytes); });
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return told([&] {
    require(preference != nullptr);
    *preference = new cublasLtMatmulPreferenceOpaque_t{};
  });
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
// There is one algorithm, which takes no workspace: whatever is preferred, it is that one.
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t, const void* value,
                                                    size_t bytes) {
  return preference != nullptr && value != nullptr && bytes != 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  return guarded(plain(handle), "cublasLtMatmulAlgoGetHeuristic", [&](Call&) {
    require(results != nullptr && found != nullptr && wanted > 0);
    *found = 0;
    static_cast<void>(product_of(of(desc), of(a), of(b), of(c), of(d)));
    results[0] = {};
    results[0].state = CUBLAS_STATUS_SUCCESS;
    results[0].wavesCount = 1;
    *found = 1;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t layout_a, const void* b, cublasLtMatrixLayout_t layout_b,
                              const void* beta, const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                              cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t*, void*, size_t,
                              cudaStream_t stream) {
  return guarded(plain(handle), "cublasLtMatmul", [&](Call& call) {
    const Description& description = of(desc);
    const Layout &in_a = of(layout_a), &in_b = of(layout_b), &in_c = of(layout_c), &out = of(layout_d);
    const Product product = product_of(description, in_a, in_b, in_c, out);
    require(!has_bias(description) || description.bias != nullptr);
    const AsDescribed described(call.context(), stream, description.pointers);
    static_cast<void>(call.space());
    if (c != d) {
      require(c != nullptr && d != nullptr);
      const std::int64_t last = std::int64_t{product.batch - 1} * out.stride + out.ld * std::int64_t{product.n};
      require_done(
          cudaMemcpyAsync(d, c, static_cast<std::size_t>(last) * bytes_of(out.type), cudaMemcpyDeviceToDevice, stream));
    }
    const cublasStatus_t status = cublasGemmStridedBatchedEx(
        plain(handle), product.opa, product.opb, product.m, product.n, product.k, alpha, a,
        static_cast<cudaDataType>(in_a.type), index_of(in_a.ld), in_a.stride, b, static_cast<cudaDataType>(in_b.type),
        index_of(in_b.ld), in_b.stride, beta, d, static_cast<cudaDataType>(out.type), index_of(out.ld), out.stride,
        product.batch, static_cast<cublasComputeType_t>(description.sums), CUBLAS_GEMM_DEFAULT);
    require(status == CUBLAS_STATUS_SUCCESS, status);
    if (description.epilogue == CUBLASLT_EPILOGUE_DEFAULT || product.m == 0 || product.n == 0) return;
    if (out.type == CUDA_R_32F) {
      finish(call, description, product, static_cast<float*>(d), out);
    } else {
      finish(call, description, product, static_cast<double*>(d), out);
    }
  });
}

}  // extern "C"
