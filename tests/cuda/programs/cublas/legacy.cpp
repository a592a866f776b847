// cuBLAS's first interface: each function does what the one with a handle does, which the other programs of this folder
// judge; letters, results, errors and memory.
#include <cublas.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

int failures = 0;
int compared = 0;
void fail(int line, const char* what) {
  if (++failures < 20) std::printf("line %d: %s\n", line, what);
}
#define CHECK(holds) ((holds) ? (void)0 : fail(__LINE__, #holds))

cublasHandle_t handle;
constexpr int kElements = 128;  // of every vector and matrix
constexpr int kArrays = 4;      // at most, of a function's parameters
std::mt19937 numbers(11);

template <class T>
T number() {
  std::uniform_real_distribution<double> range(0.5, 1.5);
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(range(numbers));
  } else {
    T value;
    value.x = static_cast<decltype(value.x)>(range(numbers));
    value.y = static_cast<decltype(value.y)>(range(numbers));
    return value;
  }
}

// Arrays of one type on the device: both interfaces get the same numbers.
template <class T>
struct Arrays {
  std::vector<T> host;
  T* device = nullptr;
  Arrays() {
    for (int i = 0; i != kArrays * kElements; ++i) host.push_back(number<T>());
    cudaMalloc(reinterpret_cast<void**>(&device), host.size() * sizeof(T));
    again();
  }
  void again() const { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  std::vector<T> now() const {
    std::vector<T> read(host.size());
    cudaMemcpy(read.data(), device, read.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return read;
  }
};
template <class T>
bool same_bytes(const std::vector<T>& one, const std::vector<T>& other) {
  return std::memcmp(one.data(), other.data(), one.size() * sizeof(T)) == 0;
}

// A parameter as both interfaces take it. Letters change from call to call, and so does their case.
unsigned turn = 0;
unsigned operands = 0;                                                    // of this turn: letters of operations so far
enum { any, plain_or_transposed, plain_or_conjugated } operations = any;  // that the function has
char letter(cublasOperation_t& same) {
  const unsigned of_two = turn % 2 * (operations == plain_or_conjugated ? 2 : 1);
  const unsigned kind = operations == any ? (turn + operands++) % 3 : of_two;
  same = kind == 0 ? CUBLAS_OP_N : kind == 1 ? CUBLAS_OP_T : CUBLAS_OP_C;
  return "NTCntc"[kind + 3 * (turn / 3)];
}
char letter(cublasFillMode_t& same) {
  same = turn % 2 == 0 ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  return "LulU"[turn % 4];
}
char letter(cublasDiagType_t& same) {
  same = turn / 2 % 2 == 0 ? CUBLAS_DIAG_NON_UNIT : CUBLAS_DIAG_UNIT;
  return "nNuU"[turn % 4];
}
char letter(cublasSideMode_t& same) {
  same = turn / 3 % 2 == 0 ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  return "lLLRrr"[turn % 6];
}
template <class Old, class New, class T>
std::pair<Old, New> parameter(const int*& ints, const Arrays<T>& arrays, int& array, std::vector<double>& factors) {
  if constexpr (std::is_same_v<Old, char>) {
    New same{};
    const char old = letter(same);
    return {old, same};
  } else if constexpr (std::is_same_v<Old, int>) {
    const int value = *ints++;
    return {value, value};
  } else if constexpr (std::is_pointer_v<Old>) {
    T* const at = arrays.device + array++ * kElements;
    return {at, at};
  } else {
    const Old value = number<Old>();
    factors.resize(factors.size() + 2);  // room was made before
    std::memcpy(&factors[factors.size() - 2], &value, sizeof value);
    return {value, reinterpret_cast<New>(&factors[factors.size() - 2])};
  }
}

// Both functions on the same numbers, where they have letters several times with other ones.
template <class T, class Result, class... Old, class... New, std::size_t... I>
void compare(const char* name, Result (*old)(Old...), cublasStatus_t (*with_handle)(cublasHandle_t, New...),
             std::initializer_list<int> ints, std::index_sequence<I...>) {
  static const Arrays<T> arrays;
  constexpr bool precise = std::is_same_v<T, double> || std::is_same_v<T, cuDoubleComplex>;
  constexpr unsigned turns = !(std::is_same_v<Old, char> || ...) ? 1 : precise ? 2 : 6;
  ++compared;
  for (turn = 0; turn != turns; ++turn) {
    std::vector<double> factors;
    factors.reserve(16);
    const int* next = ints.begin();
    int array = 0;
    operands = 0;
    using Pairs = std::tuple<std::pair<Old, std::tuple_element_t<I, std::tuple<New...>>>...>;
    const Pairs both{parameter<Old, std::tuple_element_t<I, std::tuple<New...>>>(next, arrays, array, factors)...};
    CHECK(next == ints.end());
    arrays.again();
    bool same = true;
    if constexpr (std::is_void_v<Result>) {
      old(std::get<I>(both).first...);
      const std::vector<T> changed = arrays.now();
      arrays.again();
      same = with_handle(handle, std::get<I>(both).second...) == CUBLAS_STATUS_SUCCESS;
      same = same && same_bytes(changed, arrays.now()) && !same_bytes(changed, arrays.host);
    } else {
      Result result{};
      const Result returned = old(std::get<I>(both).first...);
      same = with_handle(handle, std::get<I>(both).second..., &result) == CUBLAS_STATUS_SUCCESS;
      same = same && std::memcmp(&result, &returned, sizeof result) == 0;
    }
    if (cublasGetError() != CUBLAS_STATUS_SUCCESS || !same) fail(static_cast<int>(turn), name);
  }
}
template <class T, class Result, class... Old, class... New>
void compare(const char* name, Result (*old)(Old...), cublasStatus_t (*with_handle)(cublasHandle_t, New...),
             std::initializer_list<int> ints) {
  compare<T>(name, old, with_handle, ints, std::index_sequence_for<Old...>{});
}
#define SAME(T, function, ...) compare<T>(#function, function, function##_v2, {__VA_ARGS__})

// trmm of the new interface takes a place for its result.
#define IN_PLACE(prefix, T)                                                                                           \
  cublasStatus_t prefix##trmm_in_place(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill,                \
                                       cublasOperation_t op, cublasDiagType_t diagonal, int m, int n, const T* alpha, \
                                       const T* a, int lda, T* b, int ldb) {                                          \
    return prefix##trmm_v2(h, side, fill, op, diagonal, m, n, alpha, a, lda, b, ldb, b, ldb);                         \
  }
IN_PLACE(cublasS, float)
IN_PLACE(cublasD, double)
IN_PLACE(cublasC, cuComplex)
IN_PLACE(cublasZ, cuDoubleComplex)

#define ALL(prefix, T)                        \
  SAME(T, prefix##copy, 7, 1, 2);             \
  SAME(T, prefix##swap, 7, 2, 1);             \
  SAME(T, prefix##axpy, 7, 1, 3);             \
  SAME(T, prefix##scal, 7, 2);                \
  SAME(T, prefix##rot, 7, 1, 2);              \
  SAME(T, prefix##gemv, 6, 5, 7, 1, 2);       \
  SAME(T, prefix##gbmv, 6, 5, 1, 2, 5, 2, 1); \
  SAME(T, prefix##trmv, 6, 8, 2);             \
  SAME(T, prefix##tbmv, 6, 2, 4, 1);          \
  SAME(T, prefix##tpmv, 6, 2);                \
  SAME(T, prefix##trsv, 6, 8, 2);             \
  SAME(T, prefix##tbsv, 6, 2, 4, 1);          \
  SAME(T, prefix##tpsv, 6, 2);                \
  SAME(T, prefix##gemm, 5, 4, 6, 7, 8, 9);    \
  SAME(T, prefix##symm, 6, 5, 7, 8, 9);       \
  SAME(T, prefix##trsm, 6, 5, 7, 8);          \
  compare<T>(#prefix "trmm", prefix##trmm, prefix##trmm_in_place, {6, 5, 7, 8});
#define REAL(prefix, T)                 \
  ALL(prefix, T)                        \
  SAME(T, prefix##nrm2, 7, 2);          \
  SAME(T, prefix##asum, 7, 2);          \
  SAME(T, prefix##dot, 7, 2, 1);        \
  SAME(T, prefix##symv, 6, 7, 1, 2);    \
  SAME(T, prefix##sbmv, 6, 2, 4, 2, 1); \
  SAME(T, prefix##spmv, 6, 1, 2);       \
  SAME(T, prefix##ger, 6, 5, 1, 2, 7);  \
  SAME(T, prefix##syr, 6, 2, 7);        \
  SAME(T, prefix##syr2, 6, 2, 1, 7);    \
  SAME(T, prefix##spr, 6, 2);           \
  SAME(T, prefix##spr2, 6, 2, 1);       \
  SAME(T, prefix##syrk, 6, 5, 7, 8);    \
  SAME(T, prefix##syr2k, 6, 5, 7, 8, 9);
#define COMPLEX(prefix, T)               \
  ALL(prefix, T)                         \
  SAME(T, prefix##dotu, 7, 2, 1);        \
  SAME(T, prefix##dotc, 7, 2, 1);        \
  SAME(T, prefix##hemv, 6, 7, 1, 2);     \
  SAME(T, prefix##hbmv, 6, 2, 4, 2, 1);  \
  SAME(T, prefix##hpmv, 6, 1, 2);        \
  SAME(T, prefix##geru, 6, 5, 1, 2, 7);  \
  SAME(T, prefix##gerc, 6, 5, 1, 2, 7);  \
  SAME(T, prefix##her, 6, 2, 7);         \
  SAME(T, prefix##her2, 6, 2, 1, 7);     \
  SAME(T, prefix##hpr, 6, 2);            \
  SAME(T, prefix##hpr2, 6, 2, 1);        \
  SAME(T, prefix##hemm, 6, 5, 7, 8, 9);  \
  operations = plain_or_transposed;      \
  SAME(T, prefix##syrk, 6, 5, 7, 8);     \
  SAME(T, prefix##syr2k, 6, 5, 7, 8, 9); \
  operations = plain_or_conjugated;      \
  SAME(T, prefix##herk, 6, 5, 7, 8);     \
  SAME(T, prefix##her2k, 6, 5, 7, 8, 9); \
  operations = any;

void every_function() {
  REAL(cublasS, float)
  REAL(cublasD, double)
  COMPLEX(cublasC, cuComplex)
  COMPLEX(cublasZ, cuDoubleComplex)
  SAME(cuComplex, cublasScnrm2, 7, 2);
  SAME(cuComplex, cublasScasum, 7, 2);
  SAME(cuDoubleComplex, cublasDznrm2, 7, 2);
  SAME(cuDoubleComplex, cublasDzasum, 7, 2);
  SAME(cuComplex, cublasCsscal, 7, 2);
  SAME(cuDoubleComplex, cublasZdscal, 7, 2);
  SAME(cuComplex, cublasCsrot, 7, 2, 1);
  SAME(cuDoubleComplex, cublasZdrot, 7, 2, 1);
  SAME(float, cublasIsamax, 7, 2);
  SAME(float, cublasIsamin, 7, 2);
  SAME(double, cublasIdamax, 7, 2);
  SAME(double, cublasIdamin, 7, 2);
  SAME(cuComplex, cublasIcamax, 7, 2);
  SAME(cuComplex, cublasIcamin, 7, 2);
  SAME(cuDoubleComplex, cublasIzamax, 7, 2);
  SAME(cuDoubleComplex, cublasIzamin, 7, 2);
}

// A product by hand, and what is wrong with calls.
void by_hand() {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};  // by columns
  float c[] = {1, 1, 1, 1};
  float *da = nullptr, *db = nullptr, *dc = nullptr;
  CHECK(cublasAlloc(4, sizeof(float), reinterpret_cast<void**>(&da)) == CUBLAS_STATUS_NOT_INITIALIZED);
  cublasSgemm('N', 'T', 2, 2, 2, 2, da, 2, db, 2, 3, dc, 2);
  CHECK(cublasGetError() == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(cublasGetError() == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasShutdown() == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(cublasInit() == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasInit() == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasGetError() == CUBLAS_STATUS_NOT_INITIALIZED);  // of cublasShutdown
  int version = 0;
  CHECK(cublasGetVersion(&version) == CUBLAS_STATUS_SUCCESS && version == CUBLAS_VERSION);
  CHECK(cublasAlloc(0, 4, reinterpret_cast<void**>(&da)) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasAlloc(1 << 30, 1 << 20, reinterpret_cast<void**>(&da)) == CUBLAS_STATUS_ALLOC_FAILED);
  CHECK(cublasAlloc(4, sizeof(float), reinterpret_cast<void**>(&da)) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasAlloc(4, sizeof(float), reinterpret_cast<void**>(&db)) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasAlloc(4, sizeof(float), reinterpret_cast<void**>(&dc)) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSetMatrix(2, 2, sizeof(float), a, 2, da, 2) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSetMatrix(2, 2, sizeof(float), b, 2, db, 2) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasSetMatrix(2, 2, sizeof(float), c, 2, dc, 2) == CUBLAS_STATUS_SUCCESS);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  CHECK(cublasSetKernelStream(stream) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasGetError() == CUBLAS_STATUS_ALLOC_FAILED);
  cublasSgemm('n', 'T', 2, 2, 2, 2, da, 2, db, 2, 3, dc, 2);
  cublasSgemm('x', 'T', 2, 2, 2, 2, da, 2, db, 2, 3, dc, 2);
  CHECK(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE);
  cublasStrsv('U', 'N', 'L', 2, da, 2, dc, 1);
  CHECK(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE);
  cudaStreamSynchronize(stream);
  CHECK(cublasGetMatrix(2, 2, sizeof(float), dc, 2, c, 2) == CUBLAS_STATUS_SUCCESS);
  // a b^T = [1 3; 2 4] [5 6; 7 8] = [26 30; 38 44]
  CHECK(c[0] == 55 && c[1] == 79 && c[2] == 63 && c[3] == 91);
  CHECK(cublasSdot(4, da, 1, db, 1) == 70 && cublasIsamax(4, db, 1) == 4 && cublasSasum(4, da, 1) == 10);
  CHECK(cublasFree(da) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasFree(db) == CUBLAS_STATUS_SUCCESS);
  CHECK(cublasFree(dc) == CUBLAS_STATUS_SUCCESS);
}

}  // namespace

int main() {
  by_hand();
  cublasCreate_v2(&handle);
  every_function();
  cublasDestroy_v2(handle);
  CHECK(cublasShutdown() == CUBLAS_STATUS_SUCCESS);
  CHECK(compared == 142);
  std::puts(failures == 0 ? "PASSED" : "FAILED");
  return failures != 0;
}
