// A workload: kernel(s), inputs, launches, and a check of the result against an independent computation on the host.
// One folder below workloads/ each, registered by name in Registry<Workload>.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.hpp"
#include "isa/module.hpp"
#include "ptx/compile.hpp"
#include "tb/device/executor.hpp"

namespace heddle::tb {

struct WorkloadOptions {
  // What stands behind the workload's name: "table_scan:cond_acc,selectivity=64" has two.
  struct Variant {
    std::string name;
    std::string value;
    bool has_value = false;
  };

  double scale = 1.0;          // 1: the input of thesis table 5.2 (or of the workload's own description)
  std::uint64_t seed = 1;      // of the generated input
  unsigned address_bits = 32;  // of the compiled kernel: 32 or 64
  ptx::CodeOptions code;       // what the machine wants (tb/device/code_options.hpp)
  unsigned resident_threads =
      1024;                      // threads among which a launch with a fixed grid divides its work, in blocks of 256
  unsigned core_threads = 1024;  // core.threads: what one core holds, and a block has at most
  std::vector<Variant> variants;
};

struct Verdict {
  bool correct = false;
  std::string detail;   // what was compared; the first difference when wrong
  bool checked = true;  // false: there was nothing to compare with
};

class Workload {
 public:
  using Setup = WorkloadOptions;
  virtual ~Workload() = default;
  // The compiled kernels.
  [[nodiscard]] virtual isa::Module compile() const = 0;
  // Threads of one launch (the largest), for tables.
  [[nodiscard]] virtual std::uint64_t threads() const = 0;
  // Prepares the inputs, launches, reads back, and checks. `executor` has the module of compile() loaded.
  [[nodiscard]] virtual Verdict run(Executor& executor) = 0;
  // True when values legitimately depend on the order of atomics, so that retirement hashes may differ between
  // machines; the workload's own check stands instead.
  [[nodiscard]] virtual bool order_dependent() const { return false; }
  // The scale for tests: runs in well under a second on the model.
  [[nodiscard]] static constexpr double test_scale() { return 0.01; }
  // The scale for the demonstration: some ten seconds at most at a million warp instructions per second.
  [[nodiscard]] virtual double demo_scale() const { return 0.1; }
};

// A workload by its name and variants: "NAME" or "NAME:variant,variant=number". Throws InputError with the nearest
// name.
[[nodiscard]] std::unique_ptr<Workload> make_workload(const std::string& text, WorkloadOptions options);

// The variants that a workload was given, of the variants that it knows. The constructor throws InputError for others,
// and for numbers out of range.
class Variants {
 public:
  struct Known {
    std::string name;
    std::uint32_t usual = 0, least = 0, most = 0;  // of a number; most 0: a variant without a value
  };
  Variants(std::string workload, const WorkloadOptions& options, std::vector<Known> known);
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::uint32_t number(std::string_view name) const;

 private:
  std::string workload_;
  std::vector<WorkloadOptions::Variant> given_;
  std::vector<Known> known_;
};

}  // namespace heddle::tb
