// suffix_array: 50,000 reads of 25 letters matched to a reference of 256K (2^18) letters by binary search in its suffix
// array (MP of the warp-size study, after MUMmerGPU++, whose source is not public: the form is Heddle's own).
#include <cstring>
#include <numeric>

#include "base/registry.hpp"
#include "workloads/reads.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class SuffixArray final : public KernelWorkload {
 public:
  explicit SuffixArray(const tb::WorkloadOptions& options) : KernelWorkload("suffix_array", options) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{grid()} * kBlock; }
  [[nodiscard]] double demo_scale() const override { return 0.05; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::vector<std::uint8_t> reference = reads::reference(scaled(256U << 10U, 4096), 2 * options().seed);
    const std::vector<std::uint8_t> letters = reads::draw(reference, count(), 2 * options().seed + 1);
    const auto size = static_cast<std::uint32_t>(reference.size());
    std::vector<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&reference](std::uint32_t a, std::uint32_t b) {
      return std::lexicographical_compare(reference.begin() + a, reference.end(), reference.begin() + b,
                                          reference.end());
    });
    const std::uint64_t suffixes = upload(executor, "suffixes", order);
    const std::uint64_t device_reference = upload(executor, "reference", reference);
    const std::uint64_t device_reads = upload(executor, "reads", letters);
    const std::size_t places = std::size_t{count()} * reads::kPlaces;
    const std::uint64_t matched = allocate(executor, "matched", places * sizeof(std::uint32_t));
    executor.plan({1, grid()});
    launch(executor, "match", {grid()}, {kBlock},
           tb::Arguments(executor.module(), "match")
               .pointer(suffixes)
               .pointer(device_reference)
               .value(size)
               .pointer(device_reads)
               .pointer(matched)
               .value(count())
               .value(reads::kLength)
               .value(reads::kPlaces));
    return compare("lengths of matches", download<std::uint32_t>(executor, matched, places),
                   reads::matches(reference, letters));
  }

 private:
  [[nodiscard]] std::uint32_t count() const { return scaled(50'000, 1024); }
  [[nodiscard]] std::uint32_t grid() const { return (count() + kBlock - 1) / kBlock; }
};

const Register<tb::Workload, SuffixArray> suffix_array_entry{
    "suffix_array", "50,000 reads matched to a reference of 256K letters by its suffix array"};

}  // namespace
}  // namespace heddle::workloads
