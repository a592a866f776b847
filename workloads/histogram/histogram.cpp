// histogram: how often each ASCII character occurs in a text of 16M characters (thesis table 5.2), counted in the
// scratchpad by each thread for itself.
#include <string_view>

#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Histogram final : public KernelWorkload {
 public:
  explicit Histogram(const tb::WorkloadOptions& options)
      : KernelWorkload("histogram", options, {{"pthreads"}, {"progress"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? team() : std::uint64_t{grid()} * kBlock; }
  [[nodiscard]] double demo_scale() const override { return 0.5; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t n = characters();
    const std::uint64_t text = allocate(executor, "text", n);
    // Histograms of the blocks, or of the threads.
    const std::uint64_t partial =
        allocate(executor, "partial", std::uint64_t{pthreads() ? team() : grid()} * kBins * sizeof(std::uint32_t));
    const std::uint64_t counts = allocate(executor, "counts", kBins * sizeof(std::uint32_t));

    // Written piece by piece: the host needs no copy of it all. Letters as frequent as in English prose, and now and
    // then any character.
    constexpr std::string_view kLetters =
        "                  "
        "eeeeeeeeeeeetttttttttaaaaaaaaooooooooiiiiiiinnnnnnnsssssshhhhhhrrrrrrddddllllcccuuummwwffggyyppbbvk"
        ",,..\n-'\"TAISW01";
    Random random(options().seed);
    std::vector<std::uint8_t> piece;
    std::vector<std::uint32_t> expected(kBins, 0);
    for (std::uint32_t begin = 0; begin < n; begin += static_cast<std::uint32_t>(piece.size())) {
      piece.resize(std::min<std::uint32_t>(n - begin, 65536));
      for (std::uint8_t& character : piece) {
        character = random.below(64) == 0 ? static_cast<std::uint8_t>(random.below(kBins))
                                          : static_cast<std::uint8_t>(kLetters[random.below(kLetters.size())]);
        ++expected[character];
      }
      executor.memory().write(text + begin, std::as_bytes(std::span(piece)));
    }

    const isa::Module& module = executor.module();
    if (pthreads()) {
      executor.plan({1, 1});
      launch_team(executor, "histogram",
                  tb::Arguments(module, "histogram").pointer(text).pointer(partial).pointer(counts).value(n));
    } else {
      executor.plan({2, grid() + kBins / 32});
      launch(executor, "count", {grid()}, {kBlock},
             tb::Arguments(module, "count").pointer(text).pointer(partial).value(n / 4));
      launch(executor, "merge", {kBins / 32}, {kBlock},
             tb::Arguments(module, "merge").pointer(partial).pointer(counts).value(grid()));
    }
    return compare(fmt::format("counts of {} characters", characters()),
                   download<std::uint32_t>(executor, counts, kBins), expected);
  }

 private:
  static constexpr std::uint32_t kBins = 128;
  // Words of four characters that a thread counts at most: its counters are bytes.
  static constexpr std::uint32_t kWords = 255 / 4;

  [[nodiscard]] std::uint32_t characters() const { return scaled(16U << 20U, resident_threads(), 4); }
  [[nodiscard]] std::uint32_t grid() const {
    return std::max(blocks(), (characters() / 4 + kBlock * kWords - 1) / (kBlock * kWords));
  }
};

const Register<tb::Workload, Histogram> histogram_entry{
    "histogram", "how often each character occurs in a text of 16M; variant pthreads"};

}  // namespace
}  // namespace heddle::workloads
