#include "ptx/lower/memory_modifiers.hpp"

namespace heddle::ptx {

isa::Space space_modifier(Modifiers& m) {
  using isa::Space;
  return m
      .choose<Space>({{"global", Space::global},
                      {"shared", Space::shared},
                      {"shared::cta", Space::shared},
                      {"shared::cluster", Space::shared},  // a cluster is one block
                      {"local", Space::local},
                      {"const", Space::constant},
                      {"param", Space::param},
                      {"param::entry", Space::param},
                      {"param::func", Space::param}})
      .value_or(Space::generic);
}

CacheHints cache_hints(Modifiers& m, bool store) {
  CacheHints hints;
  enum class Hint { harmless, bypass, policy };
  using H = Hint;
  const auto next = [&]() -> std::optional<Hint> {
    const auto common = m.choose<Hint>({{"cg", store ? H::harmless : H::bypass},
                                        {"cs", H::harmless},
                                        {"L1::evict_normal", H::harmless},
                                        {"L1::evict_unchanged", H::harmless},
                                        {"L1::evict_first", H::harmless},
                                        {"L1::evict_last", H::harmless},
                                        {"L1::no_allocate", H::harmless},
                                        {"L2::evict_normal", H::harmless},
                                        {"L2::evict_first", H::harmless},
                                        {"L2::evict_last", H::harmless},
                                        {"L2::cache_hint", H::policy}});
    if (common) return common;
    if (store) return m.choose<Hint>({{"wb", H::harmless}, {"wt", H::harmless}});
    return m.choose<Hint>({{"ca", H::harmless},
                           {"lu", H::harmless},
                           {"cv", H::bypass},
                           {"nc", H::harmless},
                           {"L2::64B", H::harmless},
                           {"L2::128B", H::harmless},
                           {"L2::256B", H::harmless}});
  };
  while (const auto hint = next()) {
    hints.any = true;
    hints.bypass = hints.bypass || *hint == H::bypass;
    hints.policy = hints.policy || *hint == H::policy;
  }
  return hints;
}

void check_policy(Selector& s, std::size_t index) {
  (void)s.source(s.operand(index), Type::b64);
}

void emit_fence(Selector& s) {
  IrInstruction fence;
  fence.op = isa::Op::MEMBAR;
  s.write(std::move(fence));
}

}  // namespace heddle::ptx
