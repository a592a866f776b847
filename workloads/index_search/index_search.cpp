// index_search: 128K searches in an index of a billion 32-bit keys, of which one in 1024 finds nothing (thesis 6.2.3,
// 8.1; kernel of its appendix).
//
//   pthreads         1024 threads of one block, as the appendix has them
//   tree_traverse    steps by the tree traverse instruction instead of ballot, popc and shift
//   row_hints        the load that opens a row of the tree has the row-buffer locality hint
//   levels=N         levels of row nodes: 3 (the thesis's tree: 888 million keys, 3.8 GB), 2 (4 MB) or 1 (4 KB).
//                    Without it 3, but 2 for inputs of less than a twentieth of the searches.
#include "base/registry.hpp"
#include "workloads/index_search/index_workload.hpp"

namespace heddle::workloads {
namespace {

class IndexSearch final : public IndexWorkload {
 public:
  explicit IndexSearch(const tb::WorkloadOptions& options)
      : IndexWorkload("index_search", options, IndexTree::kMostLevels, 2, {{"pthreads"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? kMostTeam : resident_threads(); }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const IndexTree tree(levels(), options().seed);
    const std::uint32_t searches = scaled(128U << 10U, resident_threads() / 32);
    const std::uint64_t nodes = place(executor, tree);
    Random random(options().seed + 1);
    std::vector<std::uint32_t> keys(searches);
    std::vector<bool> absent(searches);
    for (std::uint32_t i = 0; i < searches; ++i) {
      const std::uint32_t rank = random.below(tree.keys());
      absent[i] = random.below(1024) == 0;
      keys[i] = absent[i] ? tree.absent(rank) : tree.key(rank);
    }
    const std::uint64_t key_buffer = upload(executor, "keys", keys);
    const std::uint64_t places = upload(executor, "places", std::vector<std::uint32_t>(searches, kNowhere));

    const std::string name = kernel("search");
    const std::uint32_t grid = pthreads() ? 1 : blocks();
    executor.plan({1, grid});
    launch(executor, name, {grid}, {pthreads() ? kMostTeam : kBlock},
           tb::Arguments(executor.module(), name)
               .pointer(nodes)
               .pointer(key_buffer)
               .pointer(places)
               .value(searches)
               .value(levels()));

    // A place is right when the key stands there: keys are unique.
    const std::vector<std::uint32_t> found = download<std::uint32_t>(executor, places, searches);
    std::uint32_t missing = 0;
    for (std::uint32_t i = 0; i < searches; ++i) {
      const bool right = absent[i] ? found[i] == kNowhere : found[i] < tree.words() && tree.word(found[i]) == keys[i];
      if (!right) {
        return {false,
                fmt::format("search {} for {}key {} ends at {:#x}", i, absent[i] ? "absent " : "", keys[i], found[i])};
      }
      missing += absent[i] ? 1 : 0;
    }
    return {true, fmt::format("{} searches among {} keys are right, {} of them find nothing", searches, tree.keys(),
                              missing)};
  }
};

const Register<tb::Workload, IndexSearch> index_search_entry{
    "index_search", "searches in an index of a billion keys; variants pthreads, tree_traverse, row_hints, levels=3"};

}  // namespace
}  // namespace heddle::workloads
