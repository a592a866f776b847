// atom and red (PTX ISA, sections 9.7.13.5 and 9.7.13.7): every operation and type on global, shared and generic
// addresses; one thread per address (old value and new one), and many threads on one address.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/ptx_ops/host_float.hpp"
#include "tests/ptx_ops/program.hpp"

namespace heddle::ptx_ops {
namespace {

struct Operation {
  const char* name;
  const char* type;
  u64 (*of)(u64 old, u64 b, u64 c);
  bool reduction = true;  // red has it too
  bool commutative = true;
};

template <class T>
u64 minimum(u64 a, u64 b, u64) {
  return to_slot(std::min(from_slot<T>(a), from_slot<T>(b)));
}
template <class T>
u64 maximum(u64 a, u64 b, u64) {
  return to_slot(std::max(from_slot<T>(a), from_slot<T>(b)));
}
template <class F>
u64 real_sum(u64 a, u64 b, u64) {
  return to_slot(from_slot<F>(a) + from_slot<F>(b));
}
u64 sum(u64 a, u64 b, u64) {
  return a + b;
}
u64 conjunction(u64 a, u64 b, u64) {
  return a & b;
}
u64 disjunction(u64 a, u64 b, u64) {
  return a | b;
}
u64 difference(u64 a, u64 b, u64) {
  return a ^ b;
}
u64 exchange(u64, u64 b, u64) {
  return b;
}
// The operands are small numbers for the 32-bit forms, so that the comparison hits.
u64 compare_and_swap(u64 a, u64 b, u64 c) {
  return a == b ? c : a;
}
u64 increment(u64 a, u64 b, u64) {
  return a >= b ? 0 : a + 1;
}
u64 decrement(u64 a, u64 b, u64) {
  return a == 0 || a > b ? b : a - 1;
}

constexpr Operation kOperations[] = {
    {"add", "u32", sum},
    {"add", "s32", sum},
    {"add", "u64", sum},
    {"add", "s64", sum},
    {"add", "f32", real_sum<float>, true, false},
    {"add", "f64", real_sum<double>, true, false},
    {"min", "u32", minimum<u32>},
    {"min", "s32", minimum<s32>},
    {"min", "u64", minimum<u64>},
    {"min", "s64", minimum<s64>},
    {"max", "u32", maximum<u32>},
    {"max", "s32", maximum<s32>},
    {"max", "u64", maximum<u64>},
    {"max", "s64", maximum<s64>},
    {"and", "b32", conjunction},
    {"and", "b64", conjunction},
    {"or", "b32", disjunction},
    {"or", "b64", disjunction},
    {"xor", "b32", difference},
    {"xor", "b64", difference},
    {"inc", "u32", increment, true, false},
    {"dec", "u32", decrement, true, false},
    {"exch", "b32", exchange, false, false},
    {"exch", "b64", exchange, false, false},
    {"cas", "b32", compare_and_swap, false, false},
    {"cas", "b64", compare_and_swap, false, false},
};

constexpr unsigned kLanesHere = 96;
enum class Where { global, shared, generic_global, generic_shared };
constexpr Where kPlaces[] = {Where::global, Where::shared, Where::generic_global, Where::generic_shared};

// Operands whose comparisons hit often, with the ends of the types among them; floats that add exactly.
std::vector<u64> operands(const std::string& type, unsigned salt) {
  std::vector<u64> values;
  for (unsigned i = 0; i < kLanesHere; ++i) {
    const u64 mixed = (i + 1 + salt * 1000) * 0x9e3779b97f4a7c15ULL >> 7U;
    u64 value = mixed % 4;
    if (i % 4 == 1) value = mixed;
    if (i % 4 == 2) value = ~(mixed % 3);
    if (i % 4 == 3) value = u64{1} << (type.back() == '2' ? 31U : 63U);
    if (type == "f32") value = to_slot(static_cast<float>(static_cast<s32>(mixed % 4096) - 2048) / 8);
    if (type == "f64") value = to_slot(static_cast<double>(static_cast<s64>(mixed % 65536) - 32768) / 16);
    values.push_back(type.back() == '2' ? value & 0xffffffffU : value);
  }
  return values;
}

bool is_wide(const Operation& operation) {
  return std::string(operation.type).back() == '4';
}

// Each thread's 8-byte operands: a (old value), b, c. Results: old value, then the place afterwards, 8 bytes each.
Program program_for(const Operation& operation, Where where, bool reduction, bool one_address) {
  const bool shared = where == Where::shared || where == Where::generic_shared;
  const std::string bits = is_wide(operation) ? "64" : "32";
  Program program;
  program.block = kLanesHere;
  for (const unsigned salt : {1U, 2U, 3U}) {
    std::vector<u64> values = operands(operation.type, salt);
    if (one_address && salt == 1) std::fill(values.begin(), values.end(), values[5]);
    for (const u64 value : values) {
      program.input.push_back(static_cast<u32>(value));
      program.input.push_back(static_cast<u32>(value >> 32U));
    }
  }
  program.output_words = kLanesHere * 6;
  std::string& body = program.body;
  const std::string column = std::to_string(kLanesHere * 8);
  body = "  .shared .align 8 .b64 place[" + std::to_string(kLanesHere) + "];\n  .reg .u$p %o, %at;\n  .reg .";
  body += std::string(operation.type) + " %d, %b, %c;\n  .reg .b" + bits + " %w;\n";
  body += "  cvt.u$p.u32 %o, %tid0;\n  shl.b$p %o, %o, 3;\n  add.u$p %in, %in, %o;\n";
  body += shared ? "  mov.u$p %at, place;\n" : "  add.u$p %at, %out, " + std::to_string(kLanesHere * 16) + ";\n";
  if (!one_address) body += "  add.u$p %at, %at, %o;\n";
  body += "  add.u$p %out, %out, %o;\n  ld.global.b" + bits + " %w, [%in];\n";
  const std::string space = shared ? "shared" : "global";
  body += "  st." + space + ".b" + bits + " [%at], %w;\n  bar.sync 0;\n";
  if (where == Where::generic_shared) body += "  cvta.shared.u$p %at, %at;\n";
  const std::string named = where == Where::global ? ".global" : where == Where::shared ? ".shared" : "";
  const std::string load = "  ld.global.b" + bits;
  body += load + " %b, [%in+" + column + "];\n" + load + " %c, [%in+" + std::to_string(kLanesHere * 16) + "];\n";
  body += std::string("  ") + (reduction ? "red" : "atom") + named + "." + operation.name + "." + operation.type;
  body += std::string(reduction ? " " : " %d, ") + "[%at], %b" + (operation.name == std::string("cas") ? ", %c" : "") +
          ";\n  bar.sync 0;\n";
  if (!reduction) body += "  st.global.b" + bits + " [%out], %d;\n";
  body += std::string("  ld") + (where == Where::generic_shared ? "" : "." + space) + ".b" + bits + " %w, [%at];\n";
  body += "  st.global.b" + bits + " [%out+" + column + "], %w;";
  return program;
}

u64 slot_of(const std::vector<u32>& words, std::size_t slot, bool wide) {
  return words[2 * slot] | (wide ? u64{words[2 * slot + 1]} << 32U : 0);
}

// Sums of subnormals (PTX ISA, "atom" and "red"): zero of their sign in global memory, kept in shared memory, by
// whatever address. The old value comes back as it was.
TEST(PtxAtomic, SubnormalSumsOfFloats) {
  const Operation operation = {"add", "f32", real_sum<float>};
  for (const Where where : kPlaces) {
    const bool global = where == Where::global || where == Where::generic_global;
    for (const bool reduction : {false, true}) {
      SCOPED_TRACE(std::string(reduction ? "red" : "atom") + " place " + std::to_string(static_cast<int>(where)));
      Program program = program_for(operation, where, reduction, false);
      constexpr u32 kValues[] = {0,           0x80000000U, 0x00012345U, 0x80012345U, 0x00400000U,
                                 0x00800000U, 0x80800001U, 0x007fffffU, 0x807fffffU};
      const auto value = [&](unsigned i) { return kValues[i % std::size(kValues)]; };
      for (unsigned i = 0; i < kLanesHere; ++i) {
        program.input[2 * i] = value(i);
        program.input[2 * (kLanesHere + i)] = value(i / std::size(kValues));
      }
      const std::vector<u32> output = run(program);
      for (unsigned i = 0; i < kLanesHere && !testing::Test::HasFailure(); ++i) {
        const u32 old = value(i), b = value(i / std::size(kValues));
        const float sum = flush(std::bit_cast<float>(old), global) + flush(std::bit_cast<float>(b), global);
        EXPECT_EQ(slot_of(output, i, false), reduction ? 0 : old) << "thread " << i;
        EXPECT_EQ(slot_of(output, kLanesHere + i, false), to_slot(flush(sum, global)))
            << "thread " << i << std::hex << " operands " << old << " " << b;
      }
    }
  }
}

TEST(PtxAtomic, OneThreadPerAddress) {
  for (const Operation& operation : kOperations) {
    for (const Where where : kPlaces) {
      for (const bool reduction : {false, true}) {
        if (reduction && !operation.reduction) continue;
        SCOPED_TRACE(std::string(reduction ? "red." : "atom.") + operation.name + "." + operation.type + " place " +
                     std::to_string(static_cast<int>(where)));
        const bool wide = is_wide(operation);
        const Program program = program_for(operation, where, reduction, false);
        const std::vector<u32> output = run(program);
        for (unsigned i = 0; i < kLanesHere && !testing::Test::HasFailure(); ++i) {
          const u64 old = slot_of(program.input, i, wide);
          const u64 b = slot_of(program.input, kLanesHere + i, wide);
          const u64 c = slot_of(program.input, 2 * kLanesHere + i, wide);
          const u64 expected = operation.of(old, b, c) & (wide ? ~u64{0} : 0xffffffffU);
          EXPECT_EQ(slot_of(output, i, wide), reduction ? 0 : old) << "thread " << i;
          EXPECT_EQ(slot_of(output, kLanesHere + i, wide), expected)
              << "thread " << i << " operands " << old << " " << b;
        }
      }
    }
  }
}

TEST(PtxAtomic, ManyThreadsOnOneAddress) {
  for (const Operation& operation : kOperations) {
    // Sums of the chosen floats are exact in any order.
    const bool any_order = operation.commutative || std::string(operation.type)[0] == 'f';
    if (!any_order) continue;
    for (const Where where : kPlaces) {
      for (const bool reduction : {false, true}) {
        SCOPED_TRACE(std::string(reduction ? "red." : "atom.") + operation.name + "." + operation.type);
        const bool wide = is_wide(operation);
        Program program = program_for(operation, where, reduction, true);
        if (!reduction) program.ours_alone = "the order of atomics";
        const std::vector<u32> output = run(program);
        u64 expected = slot_of(program.input, 5, wide);
        for (unsigned i = 0; i < kLanesHere; ++i) {
          expected = operation.of(expected, slot_of(program.input, kLanesHere + i, wide), 0);
          if (!wide) expected &= 0xffffffffU;
        }
        EXPECT_EQ(slot_of(output, kLanesHere, wide), expected);
      }
    }
  }
}

// Each thread of a grid sees another old value; the place wraps at the bound. The exchanged values are all handed on.
TEST(PtxAtomic, OrderedOperationsHandEveryValueOutOnce) {
  Program program;
  program.ours_alone = "the order of atomics";
  program.grid = 3;
  program.block = 50;
  program.module = ".global .u32 up, down = 99, chain = 1000, taken;";
  program.output_words = 3 * 150 + 4;
  program.body = R"(
  .reg .u$p %o; .reg .u32 %v; .reg .pred %p;
  cvt.u$p.u32 %o, %tid0; shl.b$p %o, %o, 2; add.u$p %o, %o, %out;
  atom.global.inc.u32 %v, [up], 99;        st.global.u32 [%o], %v;
  atom.global.dec.u32 %v, [down], 199;     st.global.u32 [%o+600], %v;
  atom.global.exch.b32 %v, [chain], %tid0; st.global.u32 [%o+1200], %v;
  atom.global.cas.b32 %v, [taken], 0, 77;
  setp.eq.u32 %p, %v, 0;
  @%p st.global.u32 [%out+1800], %tid0;
  @%p red.global.add.u32 [%out+1804], 1;
)";
  const std::vector<u32> output = run(program);
  const auto sorted = [&](unsigned column) {
    std::vector<u32> values(output.begin() + column * 150, output.begin() + (column + 1) * 150);
    std::sort(values.begin(), values.end());
    return values;
  };
  std::vector<u32> up, down, chain;
  for (u32 i = 0; i < 150; ++i) up.push_back(i < 100 ? i / 2 : i - 50);  // 0..99 then 0..49
  for (u32 i = 0; i < 100; ++i) down.push_back(i);                       // 99..0, then 199..150
  for (u32 i = 150; i < 200; ++i) down.push_back(i);
  for (u32 i = 0; i < 150; ++i) chain.push_back(i);
  EXPECT_EQ(sorted(0), up);
  EXPECT_EQ(sorted(1), down);
  const std::vector<u32> exchanged = sorted(2);  // all numbers and 1000, but the last one, which stays in place
  EXPECT_EQ(exchanged.back(), 1000U);
  EXPECT_EQ(std::adjacent_find(exchanged.begin(), exchanged.end()), exchanged.end());
  std::vector<u32> missing;
  std::set_difference(chain.begin(), chain.end(), exchanged.begin(), exchanged.end(), std::back_inserter(missing));
  EXPECT_EQ(missing.size(), 1U);
  EXPECT_EQ(output[451], 1U);
}

}  // namespace
}  // namespace heddle::ptx_ops
