// index_insert: 64K new keys for the index tree of thesis 6.2.3.2, whose leaves have room, in four batches
// (thesis 9.2.3 names the problem and leaves the method open).
//
//   tree_traverse, row_hints    as in index_search, when the leaves of the new keys are looked for
//   levels=N                    2 (692,880 keys; below scale 0.05 that part of them) or 1 (720 keys, and a 961st of the
//                               inserts); inner nodes are full
//   slack=N                     percentage of a leaf that is free at first; the usual is 25
#include <set>

#include "base/registry.hpp"
#include "workloads/index_search/index_workload.hpp"

namespace heddle::workloads {
namespace {

// The tree on the host: places keys in it before the inserts, and walks and searches it after them. The layout is
// written down here anew: this judges what the kernels do with theirs.
class HostTree {
 public:
  HostTree(std::uint32_t leaves, std::uint32_t leaf_keys)
      : first_leaf_(leaves == 1 ? 0 : 1), leaves_(leaves), words_((first_leaf_ + leaves_) * 1024, kNone) {
    std::uint32_t rank = 0;
    for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf) {
      for (std::uint32_t i = 0; i < leaf_keys; ++i) {
        words_[word(first_leaf_ + leaf, i)] = key(rank++);
      }
      if (leaf + 1 < leaves_) {
        words_[word(0, leaf)] = key(rank);
        inner_.push_back(key(rank++));
      }
    }
    limit_ = key(rank);
  }

  [[nodiscard]] std::uint32_t first_leaf() const { return first_leaf_; }
  [[nodiscard]] std::uint32_t leaves() const { return leaves_; }
  [[nodiscard]] std::uint32_t limit() const { return limit_; }  // above every key of the start
  [[nodiscard]] std::vector<std::uint32_t>& words() { return words_; }
  // In which leaf a key belongs.
  [[nodiscard]] std::uint32_t leaf_of(std::uint32_t key) const {
    return static_cast<std::uint32_t>(std::upper_bound(inner_.begin(), inner_.end(), key) - inner_.begin());
  }

  // All keys in the order of the tree.
  [[nodiscard]] std::vector<std::uint32_t> walk() const {
    std::vector<std::uint32_t> keys;
    for (std::uint32_t leaf = 0; leaf < leaves_; ++leaf) {
      for (std::uint32_t i = 0; i < 960; ++i) {
        if (const std::uint32_t key = words_[word(first_leaf_ + leaf, i)]; key != kNone) {
          keys.push_back(key);
        }
      }
      if (leaf + 1 < leaves_) {
        keys.push_back(words_[word(0, leaf)]);
      }
    }
    return keys;
  }

  // Line by line, as a search goes.
  [[nodiscard]] bool contains(std::uint32_t key) const {
    for (std::uint32_t node = 0; node < first_leaf_ + leaves_;) {
      const std::uint32_t* const line = words_.data() + node * 1024;
      const auto first = static_cast<std::uint32_t>(std::lower_bound(line, line + 30, key) - line);
      const std::uint32_t* const next = line + (first + 1) * 32;
      const auto second = static_cast<std::uint32_t>(std::lower_bound(next, next + 30, key) - next);
      if ((first < 30 && line[first] == key) || (second < 30 && next[second] == key)) {
        return true;
      }
      node = node * 961 + 1 + first * 31 + second;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  [[nodiscard]] static std::uint32_t key(std::uint32_t rank) { return 64 * rank + rank % 61; }
  [[nodiscard]] static std::uint32_t word(std::uint32_t node, std::uint32_t rank) {
    const bool top = rank % 31 == 30;
    return node * 1024 + (top ? rank / 31 : 32 + rank / 31 * 32 + rank % 31);
  }

  std::uint32_t first_leaf_;
  std::uint32_t leaves_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> inner_;
  std::uint32_t limit_ = 0;
};

class IndexInsert final : public IndexWorkload {
 public:
  explicit IndexInsert(const tb::WorkloadOptions& options)
      : IndexWorkload("index_insert", options, 2, 2, {{"slack", 25, 0, 50}}) {}
  [[nodiscard]] std::uint64_t threads() const override {
    return std::max<std::uint64_t>(resident_threads(), std::uint64_t{leaves()} * kBlock);
  }
  // The order of the atomics says in which order a leaf's new keys wait.
  [[nodiscard]] bool order_dependent() const override { return true; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t leaf_keys = kRowKeys - kRowKeys * variants().number("slack") / 100;
    HostTree tree(leaves(), leaf_keys);
    const std::vector<std::uint32_t> old = tree.walk();
    const std::uint32_t inserts = scaled((64U << 10U) / (levels() == 1 ? 961 : 1), kBatches, kBatches);
    // New keys anywhere, also above the largest; with few gaps in a small tree some come twice, and some are there.
    Random random(options().seed + 1);
    std::vector<std::uint32_t> keys(inserts);
    std::generate(keys.begin(), keys.end(), [&] {
      return random.below(16) == 0 ? old[random.below(static_cast<std::uint32_t>(old.size()))]
                                   : random.below(tree.limit() + tree.limit() / 1024);
    });
    for (std::uint32_t i = 32; i < inserts; i += 32) {
      keys[i] = keys[i - 32];
    }
    const Expected expected = insert(tree, old, keys);

    const std::uint64_t words = upload(executor, "tree", tree.words());
    const std::uint64_t key_buffer = upload(executor, "keys", keys);
    const std::vector<std::uint32_t> none(tree.leaves(), 0);
    const std::uint64_t counts = upload(executor, "counts", none);
    const std::uint64_t refused = upload(executor, "refused", none);
    const std::uint64_t pending =
        allocate(executor, "pending", std::uint64_t{tree.leaves()} * kMostPending * sizeof(std::uint32_t));
    const std::uint64_t sizes = upload(executor, "sizes", std::vector<std::uint32_t>(tree.leaves(), leaf_keys));
    const isa::Module& module = executor.module();
    const std::string name = kernel("locate");
    executor.plan({2 * kBatches, kBatches * (blocks() + tree.leaves())});
    const std::uint32_t batch = inserts / kBatches;
    for (std::uint32_t i = 0; i < kBatches; ++i) {
      launch(executor, name, {blocks()}, {kBlock},
             tb::Arguments(module, name)
                 .pointer(words)
                 .value(levels())
                 .pointer(key_buffer + std::uint64_t{i} * batch * sizeof(std::uint32_t))
                 .value(batch)
                 .value(tree.first_leaf())
                 .pointer(counts)
                 .pointer(pending));
      launch(executor, "merge", {tree.leaves()}, {kBlock},
             tb::Arguments(module, "merge")
                 .pointer(words + tree.first_leaf() * 4096)
                 .pointer(sizes)
                 .pointer(counts)
                 .pointer(pending)
                 .pointer(refused));
    }
    tree.words() = download<std::uint32_t>(executor, words, tree.words().size());
    tb::Verdict verdict = compare("keys of the walk", tree.walk(), expected.keys);
    verdict = both(verdict, compare("leaves' refusals", download<std::uint32_t>(executor, refused, tree.leaves()),
                                    expected.refused));
    verdict = both(verdict, look_up(tree, old, keys, expected.keys));
    verdict.detail += fmt::format("; {} of {} new keys are inserted, {} were there, {} refused by full leaves",
                                  expected.keys.size() - old.size(), inserts, expected.there, expected.full);
    return verdict;
  }

 private:
  static constexpr std::uint32_t kBatches = 4;
  static constexpr std::uint32_t kRowKeys = IndexTree::kRowKeys;
  static constexpr std::uint32_t kMostPending = 480;

  // Row nodes of the last level: of a small input as large a part of them as of the inserts.
  [[nodiscard]] std::uint32_t leaves() const {
    return levels() == 1 ? 1 : scale() < kSmall ? scaled(IndexTree::kRowWays, 2) : IndexTree::kRowWays;
  }

  struct Expected {
    std::vector<std::uint32_t> keys;     // ascending
    std::vector<std::uint32_t> refused;  // by leaf
    std::size_t there = 0, full = 0;
  };

  // What sets of keys, one per leaf, make of the batches.
  [[nodiscard]] static Expected insert(const HostTree& tree, const std::vector<std::uint32_t>& old,
                                       const std::vector<std::uint32_t>& keys) {
    std::set<std::uint32_t> all(old.begin(), old.end());
    std::vector<std::size_t> sizes(tree.leaves(), 0);
    for (const std::uint32_t key : old) {
      ++sizes[tree.leaf_of(key)];
    }
    for (std::size_t leaf = 1; leaf < sizes.size(); ++leaf) {
      --sizes[leaf];  // the key above it belongs to the root
    }
    Expected expected;
    expected.refused.assign(tree.leaves(), 0);
    const std::size_t batch = keys.size() / kBatches;
    for (std::size_t begin = 0; begin < keys.size(); begin += batch) {
      std::vector<std::vector<std::uint32_t>> waiting(tree.leaves());
      for (std::size_t i = begin; i < begin + batch; ++i) {
        if (all.count(keys[i]) != 0) {
          ++expected.there;
        } else {
          waiting[tree.leaf_of(keys[i])].push_back(keys[i]);
        }
      }
      for (std::size_t leaf = 0; leaf < waiting.size(); ++leaf) {
        if (waiting[leaf].size() > kMostPending || sizes[leaf] + waiting[leaf].size() > kRowKeys) {
          expected.refused[leaf] += static_cast<std::uint32_t>(waiting[leaf].size());
          expected.full += waiting[leaf].size();
          continue;
        }
        for (const std::uint32_t key : waiting[leaf]) {
          sizes[leaf] += all.insert(key).second ? 1 : 0;
        }
      }
    }
    expected.keys.assign(all.begin(), all.end());
    return expected;
  }

  // Every old and new key and its neighbours, of which most are in neither.
  [[nodiscard]] static tb::Verdict look_up(const HostTree& tree, const std::vector<std::uint32_t>& old,
                                           const std::vector<std::uint32_t>& keys,
                                           const std::vector<std::uint32_t>& expected) {
    std::size_t present = 0;
    std::size_t asked = 0;
    for (const std::vector<std::uint32_t>* some : {&old, &keys}) {
      for (const std::uint32_t key : *some) {
        for (const std::uint32_t one : {key, key + 1}) {
          const bool there = std::binary_search(expected.begin(), expected.end(), one);
          if (tree.contains(one) != there) {
            return {false, fmt::format("the search for key {} {}", one, there ? "does not find it" : "finds it")};
          }
          ++asked;
          present += there ? 1 : 0;
        }
      }
    }
    return {true, fmt::format("{} look-ups are right, {} of them find nothing", asked, asked - present)};
  }
};

const Register<tb::Workload, IndexInsert> index_insert_entry{
    "index_insert", "inserts into the leaves of an index; variants tree_traverse, row_hints, levels=2, slack=25"};

}  // namespace
}  // namespace heddle::workloads
