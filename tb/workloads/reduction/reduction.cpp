// reduction: the sum of 32M random booleans held as integers (thesis table 5.2; "a large vector of integers" in the LWM
// report's table 2). The values stream in from memory; the tree at the end is short.
#include "base/registry.hpp"
#include "tb/workloads/support.hpp"

namespace heddle::tb {
namespace {

class Reduction final : public KernelWorkload {
 public:
  explicit Reduction(const WorkloadOptions& options) : KernelWorkload("reduction", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return resident_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] Verdict run(Executor& executor) override {
    const std::uint32_t n = scaled(32U << 20U, resident_threads());
    const std::uint64_t values = allocate(executor, "values", std::uint64_t{n} * sizeof(std::uint32_t));
    const std::uint64_t sums = allocate(executor, "sums", blocks() * sizeof(std::uint32_t));
    const std::uint64_t total = allocate(executor, "total", sizeof(std::uint32_t));

    // Written piece by piece: the host needs no copy of the 128 MB.
    Random random(options().seed);
    std::vector<std::uint32_t> piece;
    std::uint32_t expected = 0;
    for (std::uint32_t begin = 0; begin < n; begin += static_cast<std::uint32_t>(piece.size())) {
      piece.assign(std::min<std::uint32_t>(n - begin, 16384), 0);
      for (std::size_t i = 0; i < piece.size(); i += 64) {
        const std::uint64_t bits = random.next();
        for (std::size_t k = 0; k < 64 && i + k < piece.size(); ++k) {
          piece[i + k] = static_cast<std::uint32_t>((bits >> k) & 1U);
          expected += piece[i + k];
        }
      }
      executor.memory().write(values + std::uint64_t{begin} * sizeof(std::uint32_t), std::as_bytes(std::span(piece)));
    }

    const isa::Module& module = executor.module();
    executor.plan({2, blocks() + 1});
    launch(executor, "reduce", {blocks()}, {kBlock},
           Arguments(module, "reduce").pointer(values).pointer(sums).value(n));
    launch(executor, "reduce", {1}, {kBlock}, Arguments(module, "reduce").pointer(sums).pointer(total).value(blocks()));
    Verdict verdict = compare("sum", download<std::uint32_t>(executor, total, 1), {expected});
    verdict.detail += fmt::format(" ({} of {})", expected, n);
    return verdict;
  }
};

const Register<Workload, Reduction> reduction_entry{"reduction", "sum of 32M random booleans"};

}  // namespace
}  // namespace heddle::tb
