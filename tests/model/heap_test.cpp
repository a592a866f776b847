// malloc and free in kernels, as clang and nvcc call them, on machines that differ in everything but results: the same
// addresses, values and faults as on the reference interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "isa/device_heap.hpp"
#include "isa/memory_map.hpp"
#include "machines.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Machines/HeapOnMachine.*")

namespace heddle {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kHeapData = isa::kGlobalBase;  // a word of an address for each thread, then one of 32 bits
constexpr std::uint32_t kHeapBlocks = 6;
constexpr std::uint32_t kHeapThreads = 48;  // of a block
constexpr std::uint64_t kHeapAll = std::uint64_t{kHeapBlocks} * kHeapThreads;

// @A: bits of an address, @B: its bytes.
constexpr const char* kHeapKernels = R"(
.version 7.0
.target sm_60
.address_size @A
.file 1 "heap.cu"
.extern .func (.param .b@A r) malloc(.param .b@A n);
.extern .func free(.param .b@A p);

// A list of 1 to 5 nodes for each thread, a third of which give a block back that they got between.
.visible .entry build(.param .u@A data) {
  .reg .b32 %r<12>;
  .reg .b@A %a<12>;
  .reg .pred %p<4>;
  ld.param.u@A %a1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, @THREADS, %r1;
  cvt.u@A.u32 %a2, %r1;
  mad.lo.u@A %a3, %a2, @B, %a1;
  mov.u@A %a4, 0;
  rem.u32 %r3, %r1, 5;
  rem.u32 %r4, %r1, 3;
NEXT:
  mad.lo.u32 %r5, %r3, 24, %r4;
  add.u32 %r5, %r5, 16;
  cvt.u@A.u32 %a5, %r5;
  call.uni (%a6), malloc, (%a5);
  call.uni (%a7), malloc, (100);
  st.u@A [%a6], %a4;
  mad.lo.u32 %r6, %r1, 8, %r3;
  st.u32 [%a6+8], %r6;
  mov.u@A %a4, %a6;
  st.u32 [%a7+96], %r6;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra KEEP;
  call.uni free, (%a7);
  mov.u@A %a7, 0;
KEEP:
  st.u32 [%a6+12], 0;
  setp.eq.u@A %p2, %a7, 0;
  @%p2 bra GONE;
  ld.u32 %r7, [%a7+96];
  st.u32 [%a6+12], %r7;
  call.uni free, (%a7);
GONE:
  sub.u32 %r3, %r3, 1;
  setp.ge.s32 %p3, %r3, 0;
  @%p3 bra NEXT;
  st.global.u@A [%a3], %a4;
  ret;
}

// Another thread's list: its sum into a block of one's own, and the list is freed.
.visible .entry walk(.param .u@A data) {
  .reg .b32 %r<12>;
  .reg .b@A %a<12>;
  .reg .pred %p<4>;
  ld.param.u@A %a1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, @THREADS, %r1;
  mov.u32 %r3, @LAST;
  sub.u32 %r1, %r3, %r1;
  cvt.u@A.u32 %a2, %r1;
  mad.lo.u@A %a3, %a2, @B, %a1;
  ld.global.u@A %a4, [%a3];
  mov.u32 %r4, 0;
NEXT:
  setp.eq.u@A %p1, %a4, 0;
  @%p1 bra DONE;
  ld.u32 %r5, [%a4+8];
  add.u32 %r4, %r4, %r5;
  ld.u32 %r5, [%a4+12];
  add.u32 %r4, %r4, %r5;
  mov.u@A %a5, %a4;
  ld.u@A %a4, [%a4];
  call.uni free, (%a5);
  bra NEXT;
DONE:
  call.uni (%a6), malloc, (40);
  st.u32 [%a6+36], %r4;
  st.global.u@A [%a3], %a6;
  ret;
}

// A neighbour's block.
.visible .entry collect(.param .u@A data) {
  .reg .b32 %r<12>;
  .reg .b@A %a<12>;
  ld.param.u@A %a1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, @THREADS, %r1;
  xor.b32 %r1, %r1, 1;
  cvt.u@A.u32 %a2, %r1;
  mad.lo.u@A %a3, %a2, @B, %a1;
  ld.global.u@A %a4, [%a3];
  ld.u32 %r3, [%a4+36];
  call.uni free, (%a4);
  mad.lo.u@A %a5, %a2, 4, %a1;
  st.global.u32 [%a5+@OUT], %r3;
  ret;
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

isa::Module heap_module(unsigned bits) {
  std::string text = replaced(kHeapKernels, "@THREADS", std::to_string(kHeapThreads));
  text = replaced(text, "@LAST", std::to_string(kHeapAll - 1));
  text = replaced(text, "@OUT", std::to_string(kHeapAll * 8));
  text = replaced(text, "@A", std::to_string(bits));
  return ptx::compile(replaced(text, "@B", std::to_string(bits / 8)), "heap.ptx");
}

isa::LaunchRequest heap_request(const char* kernel, unsigned bits, std::uint32_t blocks, std::uint32_t threads) {
  isa::LaunchRequest request;
  request.kernel = kernel;
  request.grid = {blocks, 1, 1};
  request.block = {threads, 1, 1};
  request.parameters = {0, 0, 0, 0x10};
  request.parameters.resize(bits / 8);
  return request;
}

struct HeapResult {
  std::uint64_t hash = 0;
  std::vector<std::uint64_t> addresses;  // of lists, of sums
  std::vector<std::uint32_t> sums;
  friend bool operator==(const HeapResult&, const HeapResult&) = default;
};

HeapResult run_heap(tb::Executor& executor, unsigned bits) {
  HeapResult result;
  executor.load(heap_module(bits));
  executor.memory().place("data", kHeapData, kHeapAll * 12);
  for (const char* const kernel : {"build", "walk", "collect"}) {
    executor.launch(heap_request(kernel, bits, kHeapBlocks, kHeapThreads));
    for (std::uint64_t i = 0; i < kHeapAll; ++i) {
      const std::uint64_t at = kHeapData + i * (bits / 8);
      result.addresses.push_back(bits == 64 ? executor.memory().get<std::uint64_t>(at)
                                            : executor.memory().get<std::uint32_t>(at));
    }
  }
  for (std::uint64_t i = 0; i < kHeapAll; ++i) {
    result.sums.push_back(executor.memory().get<std::uint32_t>(kHeapData + kHeapAll * 8 + i * 4));
  }
  result.hash = executor.retirement().total();
  EXPECT_EQ(executor.memory().heap().live_blocks(), 0U);
  return result;
}

HeapResult heap_on_reference(unsigned bits, unsigned warp_size = 32) {
  isa::InterpreterOptions options;
  options.warp_size = warp_size;
  tb::ReferenceExecutor reference(options);
  return run_heap(reference, bits);
}

TEST(HeapOnReference, ListsAreAsTheHostWouldMakeThem) {
  const HeapResult result = heap_on_reference(64);
  for (std::uint32_t i = 0; i < kHeapAll; ++i) {
    std::uint32_t sum = 0;
    for (std::uint32_t k = 0; k <= i % 5; ++k) sum += (i * 8 + k) * (i % 3 == 0 ? 1 : 2);
    EXPECT_EQ(result.sums[i], sum) << i;
  }
  EXPECT_EQ(heap_on_reference(64, 7), result);
}

class HeapOnMachine : public ::testing::TestWithParam<hw::Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, HeapOnMachine, ::testing::ValuesIn([] {
                           std::vector<hw::Machine> chosen;
                           for (const hw::Machine& machine : test::make_machines()) {
                             for (const char* const name :
                                  {"baseline",        "predicated",    "simd8",    "warp64",        "packed1024relaxed",
                                   "scalarrows",      "freely",        "tbcsimd8", "tbcparts",      "dwfanylane",
                                   "pcsticky",        "splits",        "dwsstack", "slip",          "mimd",
                                   "wholewarppacked", "odgs",          "odgslast", "throughcores4", "mesicores4",
                                   "l2inclusive",     "scoreboarddeep"}) {
                               if (machine.name == name) chosen.push_back(machine);
                             }
                           }
                           return chosen;
                         }()),
                         [](const auto& info) { return info.param.name; });

TEST_P(HeapOnMachine, AddressesAndValuesAreTheReferences) {
  tb::DeviceOptions options;
  options.shuffle = GetParam().gpu.cores > 1 ? 7 : 0;
  tb::Device device(GetParam(), options);
  EXPECT_EQ(run_heap(device, 64), heap_on_reference(64));
  const hw::Totals totals = device.totals();
  EXPECT_EQ(totals.core.heap_refusals, 0U);
  EXPECT_EQ(totals.core.heap_allocations, totals.core.heap_frees);
  std::uint64_t nodes = 0;
  for (std::uint32_t i = 0; i < kHeapAll; ++i) nodes += i % 5 + 1;
  EXPECT_EQ(totals.core.heap_allocations, 2 * nodes + kHeapAll);
}

TEST(Heap, NarrowAddressesToo) {
  hw::Machine machine;
  machine.core.registers_per_thread = 63;
  tb::Device device(machine);
  const HeapResult result = run_heap(device, 32);
  EXPECT_EQ(result, heap_on_reference(32));
  EXPECT_GE(result.addresses.front(), isa::DeviceHeap::kNarrowHeapBase);
}

// ---- faults

constexpr const char* kHeapFaults = R"(
.version 7.0
.target sm_60
.address_size 64
.file 1 "heap.cu"
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 data) {
  .reg .b32 %r<9>;
  .reg .b64 %a<9>;
  .reg .pred %p<4>;
  ld.param.u64 %a1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, 0;
  setp.eq.u32 %p1, %r1, 37;
  setp.eq.and.u32 %p1, %r2, 1, %p1;
  call.uni (%a2), malloc, (24);
  mul.wide.u32 %a3, %r1, 8;
  add.u64 %a3, %a3, %a1;
  .loc 1 7 3
)";

std::string heap_fault_on(tb::Executor& executor, const isa::Module& module) {
  executor.load(module);
  executor.memory().place("data", kHeapData, 1024);
  try {
    executor.launch(heap_request("k", 64, 2, 64));
  } catch (const SimulatedFault& fault) {
    return fault.what();
  }
  return "no fault";
}

struct HeapFault {
  const char* name;
  const char* body;
  std::vector<const char*> says;
};
void PrintTo(const HeapFault& fault, std::ostream* out) {
  *out << fault.name;
}
class HeapFaults : public ::testing::TestWithParam<HeapFault> {};

TEST_P(HeapFaults, AreToldAsTheInterpreterTellsThem) {
  const isa::Module module =
      ptx::compile(std::string(kHeapFaults) + GetParam().body + "\nst.global.u32 [%a1], %r3;\nret;\n}\n", "heap.ptx");
  hw::Machine machine;
  machine.core.registers_per_thread = 63;
  tb::Device device(machine);
  const std::string text = heap_fault_on(device, module);
  tb::ReferenceExecutor reference;
  EXPECT_EQ(text, heap_fault_on(reference, module));
  for (const char* const part : GetParam().says) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, HeapFaults,
    ::testing::Values(
        HeapFault{"none", "@%p1 st.u32 [%a2+20], %r1;", {"no fault"}},
        HeapFault{"past_the_end",
                  "@%p1 st.u32 [%a2+24], %r1;",
                  {"out-of-bounds access in kernel 'k'", "(heap.cu:7), block (1, 0, 0), thread (37, 0, 0)",
                   "store, just past the end of a heap block (", "24 bytes)"}},
        HeapFault{"after_free",
                  "@!%p1 bra SKIP; call.uni free, (%a2); ld.u32 %r3, [%a2+4]; SKIP:",
                  {"out-of-bounds access", "thread (37, 0, 0)", "4 bytes at address", "that this thread has freed"}},
        HeapFault{"twice",
                  "@!%p1 bra SKIP; call.uni free, (%a2); call.uni free, (%a2); SKIP:",
                  {"bad free in kernel 'k'", "(heap.cu:7), block (1, 0, 0), thread (37, 0, 0)", "free of 0x8",
                   "which this thread has freed already"}},
        HeapFault{"inside", "add.u64 %a2, %a2, 8; @%p1 call.uni free, (%a2);", {"where no heap block begins"}},
        HeapFault{"no_heap", "@%p1 call.uni free, (%a1);", {"free of 0x10000000, which is not on the device heap"}},
        HeapFault{"null", "@%p1 call.uni free, (0);", {"no fault"}},
        HeapFault{"by_two_threads",
                  "setp.eq.u32 %p3, %r2, 1; @%p3 st.global.u64 [%a3], %a2; bar.sync 0;\n"
                  "setp.ne.u32 %p2, %r1, 37; setp.eq.or.u32 %p2, %r2, 0, %p2; @%p2 bra SKIP;\n"
                  "ld.global.u64 %a4, [%a1+288]; call.uni free, (%a4); call.uni free, (%a2); SKIP: bar.sync 0;\n"
                  "setp.ne.u32 %p2, %r1, 36; setp.eq.or.u32 %p2, %r2, 0, %p2; @%p2 bra END; call.uni free, (%a2); END:",
                  {"bad free", "block (1, 0, 0), thread (37, 0, 0)", "or has freed itself"}},
        HeapFault{"all_too_much",
                  "call.uni (%a4), malloc, (100000); st.u32 [%a4], %r1;",
                  {"resources exceeded in kernel 'k'", "the device heap holds 12804096 bytes at the launch's end"}},
        HeapFault{"null_is_used",
                  "@!%p1 bra SKIP; call.uni (%a4), malloc, (9000000); st.u32 [%a4+8], %r1; SKIP:",
                  {"thread (37, 0, 0)", "in the null page"}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace heddle
