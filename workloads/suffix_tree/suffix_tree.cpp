// suffix_tree: 50,000 reads of 25 letters matched to a reference of 256K (2^18) letters by its suffix tree (MU of the
// warp-size study, after MUMmerGPU, whose reference has 1.4 million). With the variant `small_blocks` in blocks of 64
// threads, 782 of them at scale 1 (MUM of the ODGS paper's table 1). With the variant `textures` tree and reference are
// textures of linear memory, as in the original.
#include <bit>
#include <cstring>
#include <numeric>

#include "base/registry.hpp"
#include "isa/texture.hpp"
#include "workloads/reads.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

class SuffixTree final : public KernelWorkload {
 public:
  explicit SuffixTree(const tb::WorkloadOptions& options)
      : KernelWorkload("suffix_tree", options, {{kSmallBlocks}, {std::string(kTextures)}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{grid()} * block(); }
  [[nodiscard]] double demo_scale() const override { return 0.05; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::vector<std::uint8_t> reference = reads::reference(scaled(256U << 10U, 4096), 2 * options().seed);
    const std::vector<std::uint8_t> letters = reads::draw(reference, count(), 2 * options().seed + 1);
    const std::vector<Node> nodes = tree_of(reference);
    const std::uint64_t tree = upload(executor, "tree", nodes);
    const std::uint64_t device_reference = upload(executor, "reference", reference);
    const std::uint64_t device_reads = upload(executor, "reads", letters);
    const std::size_t places = std::size_t{count()} * reads::kPlaces;
    const std::uint64_t matched = allocate(executor, "matched", places * sizeof(std::uint32_t));
    executor.plan({1, grid()});
    tb::Arguments arguments(executor.module(), "match");
    if (variants().flag(kTextures)) {
      arguments
          .value(texture(executor, "texture of the tree", tree,
                         nodes.size() * sizeof(Node) / (2 * sizeof(std::uint32_t)), 2, sizeof(std::uint32_t)))
          .value(texture(executor, "texture of the reference", device_reference, reference.size(), 1, 1));
    } else {
      arguments.pointer(tree).pointer(device_reference);
    }
    launch(executor, "match", {grid()}, {block()},
           arguments.pointer(device_reads).pointer(matched).value(count()).value(reads::kLength).value(reads::kPlaces));
    return compare("lengths of matches", download<std::uint32_t>(executor, matched, places),
                   reads::matches(reference, letters));
  }

 private:
  struct Node {  // as in the kernel
    std::uint32_t begin = 0, length = 0;
    std::array<std::uint32_t, 4> children{};
  };
  static constexpr std::uint32_t kDepth = 32;  // letters of a key; deeper than any read

  [[nodiscard]] std::uint32_t count() const { return scaled(50'000, 1024); }
  static constexpr const char* kSmallBlocks = "small_blocks";
  [[nodiscard]] std::uint32_t block() const { return variants().flag(kSmallBlocks) ? 64 : kBlock; }
  [[nodiscard]] std::uint32_t grid() const { return (count() + block() - 1) / block(); }

  // The handle of linear memory of so many texels, of integers.
  [[nodiscard]] std::uint64_t texture(tb::Executor& executor, const char* name, std::uint64_t base, std::size_t texels,
                                      unsigned channels, unsigned bytes) const {
    isa::TextureDescriptor of;
    of.base = base;
    of.width = static_cast<std::uint32_t>(texels);
    of.channels = static_cast<std::uint8_t>(channels);
    of.channel_bytes = static_cast<std::uint8_t>(bytes);
    of.row_bytes = of.pitch = of.width * of.texel_bytes();
    of.kind = isa::TexelKind::unsigned_integer;
    of.zero_outside = true;
    return executor.memory().add_texture(name, of, options().address_bits == 32);
  }

  // A suffix by its first letters, two bits each.
  struct Suffix {
    std::uint64_t key = 0;
    std::uint32_t begin = 0;
    std::uint32_t length = 0;  // kDepth, or as many as there are
  };
  static std::uint32_t common(const Suffix& a, const Suffix& b) {
    return std::min({static_cast<std::uint32_t>(std::countl_zero(a.key ^ b.key)) / 2, a.length, b.length});
  }

  // The tree of all suffixes, their first kDepth letters: in the order of their letters each hangs on the path of the
  // one before, where they part.
  static std::vector<Node> tree_of(const std::vector<std::uint8_t>& text) {
    std::vector<Suffix> suffixes(text.size());
    std::uint64_t key = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
      key = key >> 2U | std::uint64_t{text[i]} << 62U;
      suffixes[i] = {key, static_cast<std::uint32_t>(i),
                     static_cast<std::uint32_t>(std::min<std::size_t>(kDepth, text.size() - i))};
    }
    std::sort(suffixes.begin(), suffixes.end(),
              [](const Suffix& a, const Suffix& b) { return a.key != b.key ? a.key < b.key : a.length < b.length; });
    std::vector<Node> tree(1);
    struct Step {
      std::uint32_t node, depth;  // letters from the root to it
    };
    std::vector<Step> path = {{0, 0}};
    for (std::size_t i = 0; i < suffixes.size(); ++i) {
      const Suffix& suffix = suffixes[i];
      const std::uint32_t shared = i == 0 ? 0 : common(suffixes[i - 1], suffix);
      if (i != 0 && shared == suffix.length) {
        continue;  // as far as it goes it is there
      }
      Step below{0, 0};
      while (path.back().depth > shared) {
        below = path.back();
        path.pop_back();
      }
      if (path.back().depth < shared) {  // on an edge: a node there
        const std::uint32_t parent = path.back().node;
        const std::uint32_t split = shared - path.back().depth;
        const auto inner = static_cast<std::uint32_t>(tree.size());
        tree.push_back({tree[below.node].begin, split, {}});
        tree[inner].children.at(text[tree[below.node].begin + split]) = below.node;
        tree[parent].children.at(text[tree[inner].begin]) = inner;
        tree[below.node].begin += split;
        tree[below.node].length -= split;
        path.push_back({inner, shared});
      }
      const auto leaf = static_cast<std::uint32_t>(tree.size());
      tree.push_back({suffix.begin + shared, suffix.length - shared, {}});
      tree[path.back().node].children.at(text[suffix.begin + shared]) = leaf;
      path.push_back({leaf, suffix.length});
    }
    return tree;
  }
};

const Register<tb::Workload, SuffixTree> suffix_tree_entry{
    "suffix_tree",
    "50,000 reads matched to a reference of 256K letters by its suffix tree; variants small_blocks, "
    "textures"};

}  // namespace
}  // namespace heddle::workloads
