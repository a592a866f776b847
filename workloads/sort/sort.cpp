// sort: parallel bucket sort of 1M random integers (thesis table 5.2). Each thread sorts small buckets one by one: how
// long that takes depends on their lengths and on the order of their keys.
#include "base/error.hpp"
#include "base/registry.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class Sort final : public KernelWorkload {
 public:
  explicit Sort(const tb::WorkloadOptions& options) : KernelWorkload("sort", options, {{"pthreads"}}) {}
  [[nodiscard]] std::uint64_t threads() const override {
    return pthreads() ? team() : std::uint64_t{shape().tiles} * kBlock;
  }
  // The order of the atomics says where a key stands in its bucket before it is sorted.
  [[nodiscard]] bool order_dependent() const override { return pthreads(); }
  [[nodiscard]] double demo_scale() const override { return 0.1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    return pthreads() ? run_team(executor) : run_tiles(executor);
  }

 private:
  [[nodiscard]] tb::Verdict run_tiles(tb::Executor& executor) const {
    const Shape list = shape();
    Random random(options().seed);
    std::vector<std::uint32_t> keys(list.keys);
    const std::uint64_t device_keys = allocate(executor, "keys", list.keys * sizeof(std::uint32_t));
    const std::uint64_t distributed = allocate(executor, "distributed", list.keys * sizeof(std::uint32_t));
    const std::uint64_t sorted = allocate(executor, "sorted", list.keys * sizeof(std::uint32_t));
    const std::uint64_t table = std::uint64_t{list.tiles} * kBlock * sizeof(std::uint32_t);
    const std::uint64_t counts = allocate(executor, "counts", table);
    const std::uint64_t places = allocate(executor, "places", table);
    const std::uint64_t starts = allocate(executor, "starts", (kBlock + 1) * sizeof(std::uint32_t));
    const isa::Module& module = executor.module();
    executor.plan({std::uint64_t{list.lists} * 4, std::uint64_t{list.lists} * (2 * list.tiles + 1 + list.buckets)});
    tb::Verdict verdict;
    for (std::uint32_t number = 0; number < list.lists; ++number) {
      for (std::uint32_t& key : keys) {
        key = random.next32();
      }
      check_buckets(keys, list);
      executor.memory().write(device_keys, std::as_bytes(std::span(keys)));
      launch(executor, "count", {list.tiles}, {kBlock},
             tb::Arguments(module, "count")
                 .pointer(device_keys)
                 .pointer(counts)
                 .value(list.keys)
                 .value(list.tile_keys)
                 .value(list.buckets));
      launch(executor, "scan", {1}, {kBlock},
             tb::Arguments(module, "scan").pointer(counts).pointer(places).pointer(starts).value(list.tiles));
      launch(executor, "distribute", {list.tiles}, {kBlock},
             tb::Arguments(module, "distribute")
                 .pointer(device_keys)
                 .pointer(counts)
                 .pointer(places)
                 .pointer(distributed)
                 .value(list.keys)
                 .value(list.tile_keys)
                 .value(list.buckets));
      launch(executor, "sort", {list.buckets}, {kBlock},
             tb::Arguments(module, "sort").pointer(distributed).pointer(starts).pointer(sorted).value(list.buckets));
      std::sort(keys.begin(), keys.end());
      const tb::Verdict one = compare("sorted keys", download<std::uint32_t>(executor, sorted, keys.size()), keys);
      verdict = number == 0 ? one : both(verdict, one);
      if (!verdict.correct) {
        break;
      }
    }
    return verdict;
  }

  [[nodiscard]] tb::Verdict run_team(tb::Executor& executor) const {
    const Shape list = shape();
    const auto small_bits = static_cast<std::uint32_t>(std::countr_zero(team()));
    // One more than keys ask for, so that the number is no power of two: the places at which large buckets are filled
    // would lie in the same sets of the cache.
    const std::uint32_t buckets = list.keys / (kMeanOfThread * team()) + 1;
    const std::vector<std::uint32_t> zeros(buckets, 0);
    std::vector<std::uint32_t> keys(list.keys);
    const std::uint64_t device_keys = allocate(executor, "keys", list.keys * sizeof(std::uint32_t));
    const std::uint64_t distributed = allocate(executor, "distributed", list.keys * sizeof(std::uint32_t));
    const std::uint64_t sorted = allocate(executor, "sorted", list.keys * sizeof(std::uint32_t));
    const std::uint64_t counts = allocate(executor, "counts", buckets * sizeof(std::uint32_t));
    const std::uint64_t starts = allocate(executor, "starts", (std::uint64_t{buckets} + 1) * sizeof(std::uint32_t));
    const std::uint64_t filled = allocate(executor, "filled", team() * sizeof(std::uint32_t));
    const std::uint64_t sums = allocate(executor, "sums", team() * sizeof(std::uint32_t));
    const std::uint64_t slots =
        allocate(executor, "slots", std::uint64_t{kPrivateKeys} * team() * sizeof(std::uint32_t));
    executor.plan({list.lists, list.lists});
    Random random(options().seed);
    tb::Verdict verdict;
    for (std::uint32_t number = 0; number < list.lists; ++number) {
      std::vector<std::uint32_t> lengths(std::size_t{buckets} << small_bits, 0);
      for (std::uint32_t& key : keys) {
        key = random.next32();
        ++lengths[(std::uint64_t{key} * buckets) >> (32 - small_bits)];
      }
      if (const std::uint32_t longest = *std::max_element(lengths.begin(), lengths.end()); longest > kPrivateKeys) {
        throw InternalError(fmt::format("a bucket of {} keys, more than {}", longest, kPrivateKeys));
      }
      executor.memory().write(device_keys, std::as_bytes(std::span(keys)));
      executor.memory().write(counts, std::as_bytes(std::span(zeros)));
      launch_team(executor, "sort",
                  tb::Arguments(executor.module(), "sort")
                      .pointer(device_keys)
                      .pointer(distributed)
                      .pointer(sorted)
                      .pointer(counts)
                      .pointer(starts)
                      .pointer(filled)
                      .pointer(sums)
                      .pointer(slots)
                      .value(list.keys)
                      .value(buckets)
                      .value(small_bits));
      std::sort(keys.begin(), keys.end());
      const tb::Verdict one = compare("sorted keys", download<std::uint32_t>(executor, sorted, keys.size()), keys);
      verdict = number == 0 ? one : both(verdict, one);
      if (!verdict.correct) {
        break;
      }
    }
    return verdict;
  }

  static constexpr std::uint32_t kMostKeys = 28 * kBlock;  // of a large bucket: what the kernel's scratchpad holds
  // Random keys fill a bucket within some 80 of the mean: 28 rows leave room for 24.
  static constexpr std::uint32_t kTileKeys = 24 * kBlock;
  // The Pthreads form: keys of a small bucket at most, as its private memory holds, and of a thread's one on average.
  static constexpr std::uint32_t kPrivateKeys = 32;
  static constexpr std::uint32_t kMeanOfThread = 8;
  static constexpr std::uint32_t kFewestBuckets = 32;  // a round of dealing places one key per bucket at most

  struct Shape {
    std::uint32_t lists;      // sorted one after another: above scale 1 there are several
    std::uint32_t keys;       // of a list
    std::uint32_t tile_keys;  // of a tile, the last may have fewer
    std::uint32_t tiles;
    std::uint32_t buckets;
  };
  [[nodiscard]] Shape shape() const {
    Shape list{};
    list.lists = static_cast<std::uint32_t>(std::ceil(scale()));
    list.keys = scaled(1U << 20U, 8 * resident_threads()) / list.lists;
    // Smaller tiles where there would be fewer than blocks that can be resident.
    list.tile_keys = std::clamp(list.keys / blocks() / kBlock * kBlock, kBlock, kTileKeys);
    list.tiles = (list.keys + list.tile_keys - 1) / list.tile_keys;
    list.buckets = std::max(list.tiles, kFewestBuckets);
    return list;
  }
  // The host knows the keys beforehand: no bucket may be longer than the scratchpad holds.
  static void check_buckets(const std::vector<std::uint32_t>& keys, const Shape& list) {
    std::vector<std::uint32_t> lengths(list.buckets, 0);
    for (const std::uint32_t key : keys) {
      ++lengths[(std::uint64_t{key} * list.buckets) >> 32U];
    }
    const std::uint32_t longest = *std::max_element(lengths.begin(), lengths.end());
    if (longest > kMostKeys) {
      throw InternalError(fmt::format("a bucket of {} keys, more than {}", longest, kMostKeys));
    }
  }
};

const Register<tb::Workload, Sort> sort_entry{"sort", "parallel bucket sort of 1M random integers; variant pthreads"};

}  // namespace
}  // namespace heddle::workloads
