// Generators of host code: digests of whole and uniform numbers, call after call, and normal numbers against those that
// Box and Muller's method makes of the whole ones in double precision.
#include <cuda_runtime.h>
#include <curand.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static int failures = 0;
#define OK(call) IS(SUCCESS, call)
#define IS(status, call)                                                          \
  do {                                                                            \
    const int got = static_cast<int>(call);                                       \
    if (got != CURAND_STATUS_##status && ++failures < 20) {                       \
      std::printf("line %d: %d, not " #status ", of " #call "\n", __LINE__, got); \
    }                                                                             \
  } while (false)

template <class T>
struct Array {
  explicit Array(std::size_t count) : count(count) { cudaMalloc(&at, count * sizeof(T)); }
  ~Array() { cudaFree(at); }
  std::vector<T> read() const {
    std::vector<T> out(count);
    cudaMemcpy(out.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }
  std::size_t count;
  T* at = nullptr;
};

// FNV-1a.
template <class T>
void digest(const char* what, const std::vector<T>& values) {
  unsigned long long hash = 0xcbf29ce484222325ULL;
  std::vector<unsigned char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3ULL;
  std::printf("%s %016llx\n", what, hash);
}

static curandGenerator_t made(curandRngType_t type, unsigned long long seed, unsigned long long offset = 0) {
  curandGenerator_t generator = nullptr;
  OK(curandCreateGenerator(&generator, type));
  OK(curandSetPseudoRandomGeneratorSeed(generator, seed));
  OK(curandSetGeneratorOffset(generator, offset));
  return generator;
}

static void bits(curandGenerator_t generator, std::size_t count) {
  const Array<unsigned> out(count);
  OK(curandGenerate(generator, out.at, count));
  digest("bits", out.read());
}
static void uniform(curandGenerator_t generator, std::size_t count) {
  const Array<float> out(count);
  OK(curandGenerateUniform(generator, out.at, count));
  digest("uniform", out.read());
}
static void uniform_double(curandGenerator_t generator, std::size_t count) {
  const Array<double> out(count);
  OK(curandGenerateUniformDouble(generator, out.at, count));
  digest("double", out.read());
}

static double uniform_of(unsigned x) {
  return x * 0x1p-32 + 0x1p-33;
}
static double uniform_of(unsigned x, unsigned y) {
  return static_cast<double>(x ^ static_cast<unsigned long long>(y) << 21) * 0x1p-53 + 0x1p-54;
}
static void expect_near(const char* what, std::size_t at, double got, double sure, double tolerance) {
  if (!(std::fabs(got - sure) <= tolerance * (1 + std::fabs(sure))) && ++failures < 20) {
    std::printf("%s %zu: %.17g, not %.17g\n", what, at, got, sure);
  }
}

struct Order {
  curandRngType_t type;
  std::size_t threads;  // that take turns
  std::size_t results;  // of a turn, of normal numbers
  std::size_t at_once;  // words of a thread that lie together
  unsigned long long offset;
  std::size_t turns;
};

// Normal numbers in `order`: a pair is made of two words of its thread, in double precision of four.
static void normal(const Order& order) {
  std::vector<std::vector<unsigned>> drawn;  // word by word of the threads
  for (std::size_t i = 0; i < 8; ++i) {
    curandGenerator_t generator = made(order.type, 99, order.offset + i * order.threads * order.at_once);
    const Array<unsigned> words(std::min(order.turns, order.threads) * order.at_once);
    OK(curandGenerate(generator, words.at, words.count));
    drawn.push_back(words.read());
    OK(curandDestroyGenerator(generator));
  }
  const auto word = [&](std::size_t turn, std::size_t i, std::size_t of_turn) {
    const std::size_t draw = (turn / order.threads * of_turn + i) / order.at_once;
    return drawn.at(draw).at(turn % order.threads * order.at_once + i % order.at_once);
  };
  const std::size_t count = order.turns * order.results;
  const double pi = std::acos(-1.0);
  for (const bool logarithmic : {false, true}) {
    curandGenerator_t generator = made(order.type, 99, order.offset);
    const Array<float> out(count);
    OK((logarithmic ? curandGenerateLogNormal : curandGenerateNormal)(generator, out.at, count, 0.5F, 2));
    const std::vector<float> single = out.read();
    OK(curandDestroyGenerator(generator));
    generator = made(order.type, 99, order.offset);
    const Array<double> longer(count);
    OK((logarithmic ? curandGenerateLogNormalDouble : curandGenerateNormalDouble)(generator, longer.at, count, 0.5, 2));
    const std::vector<double> twice = longer.read();
    OK(curandDestroyGenerator(generator));
    for (std::size_t i = 0; i < count; i += 2) {
      const std::size_t turn = i / order.results;
      const std::size_t within = i % order.results;
      const auto check = [&](const char* what, double first, double second, double radius, double angle,
                             double tolerance) {
        double sure[] = {0.5 + 2 * radius * std::sin(angle), 0.5 + 2 * radius * std::cos(angle)};
        if (logarithmic) sure[0] = std::exp(sure[0]), sure[1] = std::exp(sure[1]);
        expect_near(what, i, first, sure[0], tolerance);
        expect_near(what, i + 1, second, sure[1], tolerance);
      };
      const auto one = [&](std::size_t at) { return word(turn, within + at, order.results); };
      check("normal", single[i], single[i + 1], std::sqrt(-2 * std::log(uniform_of(one(0)))),
            2 * pi * uniform_of(one(1)), 1e-4);
      const auto two = [&](std::size_t at) {
        return uniform_of(word(turn, 2 * within + at, 2 * order.results),
                          word(turn, 2 * within + at + 1, 2 * order.results));
      };
      check("normal double", twice[i], twice[i + 1], std::sqrt(-2 * std::log(two(0))), 2 * pi * two(2), 1e-13);
    }
  }
}

static void misuse() {
  curandGenerator_t generator = made(CURAND_RNG_PSEUDO_DEFAULT, 1);
  const Array<float> out(5);
  IS(LENGTH_NOT_MULTIPLE, curandGenerateNormal(generator, out.at, 5, 0, 1));
  IS(OUT_OF_RANGE, curandGenerateUniform(generator, nullptr, 5));
  IS(OUT_OF_RANGE, curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_SEEDED));
  OK(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY));
  OK(curandGenerateUniform(generator, nullptr, 0));
  OK(curandDestroyGenerator(generator));
  IS(NOT_INITIALIZED, curandDestroyGenerator(generator));
  IS(NOT_INITIALIZED, curandGenerateUniform(generator, out.at, 5));
  IS(NOT_INITIALIZED, curandSetStream(nullptr, nullptr));
  IS(OUT_OF_RANGE, curandCreateGenerator(nullptr, CURAND_RNG_PSEUDO_DEFAULT));
  IS(TYPE_ERROR, curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32));
}

int main() {
  // From where the last threads have their turns.
  const Order xorwow{CURAND_RNG_PSEUDO_XORWOW, 4096, 2, 1, 4090, 4096 + 20};
  const Order philox{CURAND_RNG_PSEUDO_PHILOX4_32_10, 65536, 4, 4, 4 * 65536 - 40, 30};
  for (const Order& order : {xorwow, philox}) {
    curandGenerator_t generator = made(order.type, 1234, order.offset);
    OK(curandGenerateSeeds(generator));
    bits(generator, 10);
    bits(generator, 5000);
    uniform(generator, 6000);
    uniform_double(generator, 7);
    uniform_double(generator, 4500);
    bits(generator, 5000);
    OK(curandDestroyGenerator(generator));
    generator = made(order.type, 0xfedcba9876543210, 1000003);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    OK(curandSetStream(generator, stream));
    bits(generator, 9000);
    cudaStreamDestroy(stream);
    OK(curandDestroyGenerator(generator));
    normal(order);
  }
  misuse();
  std::printf(failures == 0 ? "PASSED\n" : "FAILED\n");
}
