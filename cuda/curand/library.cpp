// cuRAND's generators of host code. Every number is made by kernels (kernels/generators.cu), in the order of cuRAND's
// manual, "Generator Options": result n of XORWOW comes from subsequence n modulo 4096. Which numbers several calls
// give one after another was compared with the generators for the host that cuRAND 10.4 has.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
#include <cuda_runtime.h>
#include <curand.h>
#pragma GCC visibility pop

#include "cuda/curand/kernels/generators.h"
#include "cuda/libraries/embedded_kernels.hpp"
#include "heddle/cuda_xorwow.h"

namespace heddle::curand {
namespace {

struct Refusal {
  curandStatus_t status;
};
void require(bool holds, curandStatus_t otherwise) {
  if (!holds) throw Refusal{otherwise};
}
void require_done(cudaError_t error, curandStatus_t otherwise) {
  require(error == cudaSuccess, error == cudaErrorMemoryAllocation ? CURAND_STATUS_ALLOCATION_FAILED : otherwise);
}

constexpr unsigned kBlock = 64;

// Device memory that work before may still use when it is given back: freeing waits for the device, as CUDA's does.
class DeviceBytes {
 public:
  ~DeviceBytes() {
    if (at_ != nullptr) static_cast<void>(cudaFree(at_));
  }
  void* get(std::size_t bytes) {
    if (at_ == nullptr) require_done(cudaMalloc(&at_, bytes), CURAND_STATUS_ALLOCATION_FAILED);
    return at_;
  }

 private:
  void* at_ = nullptr;
};

}  // namespace
}  // namespace heddle::curand

// One for each kind of generator. The place in the sequence counts results, of XORWOW's normal numbers pairs.
struct curandGenerator_st {
  virtual ~curandGenerator_st() = default;
  // `numbers`: as the kernels' names have them; `turn`: of how many results XORWOW's turns are.
  virtual void generate(const char* numbers, unsigned turn, std::size_t count, heddle::curand::Scale scale,
                        void* out) = 0;

  void seed(unsigned long long value) {
    begun_ = begun_ && seed_ == value;
    seed_ = value;
  }
  void move_to(unsigned long long position) {
    begun_ = false;
    position_ = position;
  }
  // Makes what threads keep between calls, if it is not there.
  void begin() {
    if (!begun_) prepare();
    begun_ = true;
  }

  std::mutex lock;
  cudaStream_t stream = nullptr;

 protected:
  virtual void prepare() = 0;
  template <class... Arguments>
  void launch(const std::string& kernel, unsigned long long threads, Arguments... arguments) {
    const void* const stub = heddle::cuda_libraries::EmbeddedKernels::all().find("generators", "curand_" + kernel);
    heddle::curand::require(stub != nullptr, CURAND_STATUS_INTERNAL_ERROR);
    void* pointers[] = {static_cast<void*>(&arguments)...};
    const auto blocks = static_cast<unsigned>((threads + heddle::curand::kBlock - 1) / heddle::curand::kBlock);
    heddle::curand::require_done(
        cudaLaunchKernel(stub, dim3(blocks), dim3(heddle::curand::kBlock), pointers, 0, stream),
        CURAND_STATUS_LAUNCH_FAILURE);
  }

  heddle::curand::DeviceBytes kept_;
  unsigned long long seed_ = 0;
  unsigned long long position_ = 0;

 private:
  bool begun_ = false;
};

namespace heddle::curand {
namespace {

class Xorwow final : public curandGenerator_st {
 public:
  void generate(const char* numbers, unsigned turn, std::size_t count, Scale scale, void* out) override {
    require(count % turn == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    const unsigned long long turns = count / turn;
    launch(std::string("xorwow_") + numbers, std::min<unsigned long long>(turns, kXorwowThreads), states(),
           static_cast<unsigned>(position_ % kXorwowThreads), turns, scale, out);
    position_ += turns;
  }

 private:
  [[nodiscard]] void* states() { return kept_.get(kXorwowThreads * sizeof(curandStateXORWOW_t)); }
  // Subsequence by subsequence here: a kernel would move each thread that far by itself.
  void prepare() override {
    std::vector<curandStateXORWOW_t> made(kXorwowThreads);
    curand_init(seed_, 0, 0, made.data());
    for (unsigned thread = 1; thread != kXorwowThreads; ++thread) {
      made[thread] = made[thread - 1];
      skipahead_sequence(1, &made[thread]);
    }
    for (unsigned thread = 0; thread != kXorwowThreads; ++thread) {
      skipahead(position_ / kXorwowThreads + (thread < position_ % kXorwowThreads ? 1 : 0), &made[thread]);
    }
    require_done(cudaMemcpyAsync(states(), made.data(), made.size() * sizeof made[0], cudaMemcpyHostToDevice, stream),
                 CURAND_STATUS_INITIALIZATION_FAILED);
  }
};

class Philox final : public curandGenerator_st {
 public:
  void generate(const char* numbers, unsigned /*turn*/, std::size_t count, Scale scale, void* out) override {
    const unsigned long long turns = (position_ + count + kPhiloxTurn - 1) / kPhiloxTurn - position_ / kPhiloxTurn;
    launch(std::string("philox_") + numbers, std::min<unsigned long long>(turns, kPhiloxThreads), blocks(), seed_,
           position_, static_cast<unsigned long long>(count), scale, out);
    position_ += count;
  }

 private:
  [[nodiscard]] void* blocks() { return kept_.get(kPhiloxThreads * sizeof(unsigned long long)); }
  void prepare() override {
    std::vector<unsigned long long> used(kPhiloxThreads);
    const unsigned long long turns = position_ / kPhiloxTurn;
    for (unsigned thread = 0; thread != kPhiloxThreads; ++thread) {
      used[thread] = turns / kPhiloxThreads + (thread < turns % kPhiloxThreads ? 1 : 0);
    }
    require_done(cudaMemcpyAsync(blocks(), used.data(), used.size() * sizeof used[0], cudaMemcpyHostToDevice, stream),
                 CURAND_STATUS_INITIALIZATION_FAILED);
  }
};

struct Generators {
  std::mutex lock;
  std::set<curandGenerator_t> live;
};
Generators& generators() {
  static Generators* const all = new Generators;
  return *all;
}

template <class Body>
curandStatus_t guarded(Body&& body) noexcept {
  try {
    body();
    return CURAND_STATUS_SUCCESS;
  } catch (const Refusal& refusal) {
    return refusal.status;
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  } catch (...) {
    return CURAND_STATUS_INTERNAL_ERROR;
  }
}

template <class Body>
curandStatus_t with(curandGenerator_t generator, Body&& body) noexcept {
  return guarded([&] {
    {
      const std::lock_guard<std::mutex> held(generators().lock);
      require(generators().live.count(generator) != 0, CURAND_STATUS_NOT_INITIALIZED);
    }
    const std::lock_guard<std::mutex> held(generator->lock);
    body();
  });
}

curandStatus_t generate(curandGenerator_t generator, const char* numbers, unsigned turn, void* out, std::size_t count,
                        Scale scale = {}) noexcept {
  return with(generator, [&] {
    if (count == 0) return;
    require(out != nullptr, CURAND_STATUS_OUT_OF_RANGE);
    generator->begin();
    generator->generate(numbers, turn, count, scale, out);
  });
}

std::unique_ptr<curandGenerator_st> make_generator(curandRngType_t type) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
      return std::make_unique<Xorwow>();
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      return std::make_unique<Philox>();
    default:
      std::fprintf(stderr,
                   "heddle: curandCreateGenerator: there is no generator of type %d; CURAND_RNG_PSEUDO_XORWOW and "
                   "CURAND_RNG_PSEUDO_PHILOX4_32_10 are there\n",
                   static_cast<int>(type));
      throw Refusal{CURAND_STATUS_TYPE_ERROR};
  }
}

}  // namespace
}  // namespace heddle::curand

using heddle::curand::generate;
using heddle::curand::generators;
using heddle::curand::guarded;
using heddle::curand::require;
using heddle::curand::with;

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return guarded([&] {
    require(generator != nullptr, CURAND_STATUS_OUT_OF_RANGE);
    heddle::curand::require_done(cudaFree(nullptr), CURAND_STATUS_INITIALIZATION_FAILED);  // the device must be there
    auto made = heddle::curand::make_generator(type);
    const std::lock_guard<std::mutex> held(generators().lock);
    generators().live.insert(made.get());
    *generator = made.release();
  });
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return guarded([&] {
    {
      const std::lock_guard<std::mutex> held(generators().lock);
      require(generators().live.erase(generator) != 0, CURAND_STATUS_NOT_INITIALIZED);
    }
    delete generator;
  });
}

curandStatus_t curandGetVersion(int* version) {
  return guarded([&] {
    require(version != nullptr, CURAND_STATUS_OUT_OF_RANGE);
    *version = CURAND_VERSION;
  });
}

curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  return guarded([&] {
    require(value != nullptr, CURAND_STATUS_OUT_OF_RANGE);
    switch (type) {
      case MAJOR_VERSION:
        *value = CURAND_VER_MAJOR;
        return;
      case MINOR_VERSION:
        *value = CURAND_VER_MINOR;
        return;
      case PATCH_LEVEL:
        *value = CURAND_VER_PATCH;
        return;
    }
    require(false, CURAND_STATUS_OUT_OF_RANGE);
  });
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return with(generator, [&] { generator->stream = stream; });
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  return with(generator, [&] { generator->seed(seed); });
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return with(generator, [&] { generator->move_to(offset); });
}

// All that are there give the same sequence.
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  return with(generator, [&] {
    require(order == CURAND_ORDERING_PSEUDO_BEST || order == CURAND_ORDERING_PSEUDO_DEFAULT ||
                order == CURAND_ORDERING_PSEUDO_LEGACY || order == CURAND_ORDERING_PSEUDO_DYNAMIC,
            CURAND_STATUS_OUT_OF_RANGE);
  });
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return with(generator, [&] { generator->begin(); });
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out, size_t count) {
  return generate(generator, "bits", 1, out, count);
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t count) {
  return generate(generator, "uniform", 1, out, count);
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t count) {
  return generate(generator, "uniform_double", 1, out, count);
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t count, float mean,
                                    float deviation) {
  return generate(generator, "normal", 2, out, count, {mean, deviation});
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t count, double mean,
                                          double deviation) {
  return generate(generator, "normal_double", 2, out, count, {mean, deviation});
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t count, float mean,
                                       float deviation) {
  return generate(generator, "log_normal", 2, out, count, {mean, deviation});
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t count, double mean,
                                             double deviation) {
  return generate(generator, "log_normal_double", 2, out, count, {mean, deviation});
}

}  // extern "C"
