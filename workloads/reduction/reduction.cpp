// reduction: the sum of 32M random booleans held as integers (thesis table 5.2; "a large vector of integers" in the LWM
// report's table 2). The values stream in from memory; the tree at the end is short.
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Reduction final : public KernelWorkload {
 public:
  explicit Reduction(const tb::WorkloadOptions& options)
      : KernelWorkload("reduction", options, {{"pthreads"}, {"progress"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? team() : resident_threads(); }
  [[nodiscard]] double demo_scale() const override { return 0.25; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = scaled(32U << 20U, resident_threads());
    const std::size_t size = pthreads() ? sizeof(std::uint8_t) : sizeof(std::uint32_t);  // of a value
    const std::uint64_t values = allocate(executor, "values", n * size);
    const std::uint64_t sums = allocate(executor, "sums", (pthreads() ? team() : blocks()) * sizeof(std::uint32_t));
    const std::uint64_t total = allocate(executor, "total", sizeof(std::uint32_t));
    const std::uint32_t expected =
        pthreads() ? write_values<std::uint8_t>(executor, values, n) : write_values<std::uint32_t>(executor, values, n);

    const isa::Module& module = executor.module();
    if (pthreads()) {
      executor.plan({1, 1});
      launch_team(executor, "reduction",
                  tb::Arguments(module, "reduction").pointer(values).pointer(sums).pointer(total).value(n));
    } else {
      executor.plan({2, blocks() + 1});
      launch(executor, "reduce", {blocks()}, {kBlock},
             tb::Arguments(module, "reduce").pointer(values).pointer(sums).value(n));
      launch(executor, "reduce", {1}, {kBlock},
             tb::Arguments(module, "reduce").pointer(sums).pointer(total).value(blocks()));
    }
    tb::Verdict verdict = compare("sum", download<std::uint32_t>(executor, total, 1), {expected});
    verdict.detail += fmt::format(" ({} of {})", expected, n);
    return verdict;
  }

 private:
  // Writes n random booleans and returns their sum. Piece by piece: the host needs no copy of them all.
  template <class T>
  [[nodiscard]] std::uint32_t write_values(tb::Executor& executor, std::uint64_t address, std::uint32_t n) const {
    Random random(options().seed);
    std::vector<T> piece;
    std::uint32_t sum = 0;
    for (std::uint32_t begin = 0; begin < n; begin += static_cast<std::uint32_t>(piece.size())) {
      piece.assign(std::min<std::uint32_t>(n - begin, 16384), 0);
      for (std::size_t i = 0; i < piece.size(); i += 64) {
        const std::uint64_t bits = random.next();
        for (std::size_t k = 0; k < 64 && i + k < piece.size(); ++k) {
          piece[i + k] = static_cast<T>((bits >> k) & 1U);
          sum += piece[i + k];
        }
      }
      executor.memory().write(address + std::uint64_t{begin} * sizeof(T), std::as_bytes(std::span(piece)));
    }
    return sum;
  }
};

const Register<tb::Workload, Reduction> reduction_entry{"reduction", "sum of 32M random booleans; variant pthreads"};

}  // namespace
}  // namespace heddle::workloads
