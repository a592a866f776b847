// What is made by the driver and given back to it.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "hardware/driver.hpp"

namespace heddle::hardware {

// PTX that the driver has compiled.
class Module {
 public:
  // Throws DriverError, with what the driver's compiler says.
  Module(const Driver& driver, const std::string& ptx) : driver_(driver) {
    constexpr std::size_t kLog = 8192;
    std::string errors(kLog, '\0');
    std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values = {errors.data(), reinterpret_cast<void*>(kLog)};
    const CUresult result =
        driver.cuModuleLoadDataEx(&module_, ptx.c_str(), options.size(), options.data(), values.data());
    errors.resize(std::min(errors.find('\0'), errors.size()));
    try {
      driver.check(result, "cuModuleLoadDataEx");
    } catch (const DriverError& error) {
      throw DriverError(error.what() + (errors.empty() ? "" : ": " + errors), error.code);
    }
  }
  ~Module() { driver_.cuModuleUnload(module_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  [[nodiscard]] CUfunction function(const std::string& name) const {
    CUfunction out = nullptr;
    driver_.check(driver_.cuModuleGetFunction(&out, module_, name.c_str()), "cuModuleGetFunction");
    return out;
  }
  [[nodiscard]] CUdeviceptr variable(const std::string& name, std::size_t& bytes) const {
    CUdeviceptr out = 0;
    driver_.check(driver_.cuModuleGetGlobal(&out, &bytes, module_, name.c_str()), "cuModuleGetGlobal");
    return out;
  }

 private:
  const Driver& driver_;
  CUmodule module_ = nullptr;
};

// Two events.
class Timer {
 public:
  explicit Timer(const Driver& driver) : driver_(driver) {
    driver.check(driver.cuEventCreate(&begin_, CU_EVENT_DEFAULT), "cuEventCreate");
    driver.check(driver.cuEventCreate(&end_, CU_EVENT_DEFAULT), "cuEventCreate");
  }
  ~Timer() {
    driver_.cuEventDestroy(begin_);
    driver_.cuEventDestroy(end_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  void begin() { driver_.check(driver_.cuEventRecord(begin_, nullptr), "cuEventRecord"); }
  // Waits for what came since; nanoseconds.
  double end() {
    driver_.check(driver_.cuEventRecord(end_, nullptr), "cuEventRecord");
    driver_.check(driver_.cuEventSynchronize(end_), "cuEventSynchronize");
    float milliseconds = 0;
    driver_.check(driver_.cuEventElapsedTime(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return 1e6 * static_cast<double>(milliseconds);
  }

 private:
  const Driver& driver_;
  CUevent begin_ = nullptr;
  CUevent end_ = nullptr;
};

}  // namespace heddle::hardware
