// A device and what it measures of an item.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hardware/campaign.hpp"
#include "hardware/driver.hpp"
#include "hardware/json.hpp"
#include "hardware/module.hpp"

namespace heddle::hardware {

class Bench {
 public:
  explicit Bench(std::string kernels);  // the folder of clock.ptx and touch.ptx. Throws NoDevice

  // Name, compute capability, sizes, driver.
  [[nodiscard]] Json device() const;
  // MHz of the clock that kernels count by, against the device's nanoseconds: {"mhz": {...}, "cycles": n}.
  [[nodiscard]] Json clock(std::uint64_t cycles, unsigned repetitions);
  // The row of an item. What the driver refuses or a kernel's fault is a row with the reason. Throws Bad.
  [[nodiscard]] Json row(const Item& item, unsigned repetitions);
  // A kernel has faulted: no further call of this process will work.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  struct Buffer {
    CUdeviceptr address = 0;
    std::uint64_t bytes = 0;
    std::vector<std::byte> contents;  // before each repetition; empty: zeros
  };
  using Buffers = std::map<std::string, Buffer>;
  struct Step;
  struct Sample {
    double cycles = 0, ns = 0, host_ns = 0;
  };
  struct Allocations;

  void allocate(const Item& item, Allocations& held);
  static void put_pointers(const Json& pointers, const Buffers& buffers, std::vector<std::byte>& bytes,
                           const std::string& what);
  void refill(const Buffers& buffers) const;
  [[nodiscard]] Step step_of(const Item& item, const Json& spec, const Module& module, const Buffers& buffers) const;
  [[nodiscard]] std::vector<Sample> measure(const Item& item, const Module& module, const Buffers& buffers,
                                            unsigned burst, unsigned repetitions);
  [[nodiscard]] double cycles_of(const Buffer& records) const;
  void touch(const Buffer& buffer);
  void measured(const Item& item, unsigned repetitions, Json& row);

  Driver driver_;
  CUdevice device_;
  std::string kernels_;
  int processors_;
  bool lost_ = false;
};

}  // namespace heddle::hardware
