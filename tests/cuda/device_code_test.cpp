// What is done between clang's steps when it compiles device code: copies of 16 bytes, and loops of locks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/compiler/cuda_compiler.hpp"
#include "cuda/compiler/embedded.hpp"
#include "cuda/compiler/lock_loops.hpp"
#include "cuda/compiler/ptx_parts.hpp"
#include "cuda/compiler/whole_copies.hpp"
#include "hw/divergence/divergence.hpp"
#include "ptx/compile.hpp"
#include "tb/device/arguments.hpp"
#include "tb/device/device.hpp"
#include "tests/support/launch_folder.hpp"
#include "workloads/kernels.hpp"

namespace heddle::cuda {
namespace {

using test::LaunchFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(WholeCopies, OfTypedPointers) {
  const std::string call =
      "  tail call void @llvm.memcpy.p0i8.p0i8.i64(i8* noundef align 16 dereferenceable(16) %3, i8* align 32 %4, i64 "
      "16, "
      "i1 false), !dbg !7, !tbaa.struct !9\n";
  EXPECT_EQ(with_whole_copies("define void @k(i8* %0) {\n" + call + "  ret void\n}\n"),
            "define void @k(i8* %0) {\n"
            "  %heddle.0.0.from.at = getelementptr i8, i8* %4, i64 0, !dbg !7\n"
            "  %heddle.0.0.from.as = bitcast i8* %heddle.0.0.from.at to <4 x i32>*, !dbg !7\n"
            "  %heddle.0.0.value = load <4 x i32>, <4 x i32>* %heddle.0.0.from.as, align 16, !dbg !7\n"
            "  %heddle.0.0.to.at = getelementptr i8, i8* %3, i64 0, !dbg !7\n"
            "  %heddle.0.0.to.as = bitcast i8* %heddle.0.0.to.at to <4 x i32>*, !dbg !7\n"
            "  store <4 x i32> %heddle.0.0.value, <4 x i32>* %heddle.0.0.to.as, align 16, !dbg !7\n"
            "  ret void\n}\n");
}

TEST(WholeCopies, OfOpaquePointersAndConstants) {
  EXPECT_EQ(
      with_whole_copies("  call void @llvm.memset.p3.i64(ptr addrspace(3) align 16 @t, i8 -1, i64 20, i1 false)\n"),
      "  %heddle.0.0.to.at = getelementptr i8, ptr addrspace(3) @t, i64 0\n"
      "  store <4 x i32> <i32 -1, i32 -1, i32 -1, i32 -1>, ptr addrspace(3) %heddle.0.0.to.at, align 16\n"
      "  %heddle.0.16.to.at = getelementptr i8, ptr addrspace(3) @t, i64 16\n"
      "  store i32 -1, ptr addrspace(3) %heddle.0.16.to.at, align 4\n");
  EXPECT_THAT(
      with_whole_copies("  call void @llvm.memmove.p0.p0.i64(ptr align 16 %a, ptr align 16 getelementptr "
                        "inbounds ([4 x %v], ptr @g, i64 0, i64 1), i64 16, i1 false)\n"),
      HasSubstr("  %heddle.0.0.from.at = getelementptr i8, ptr getelementptr inbounds ([4 x %v], ptr @g, i64 0, "
                "i64 1), i64 0\n"));
}

// Local variables, found through what is derived of them, need no alignment: their copies keep them in memory.
TEST(WholeCopies, OfLocalVariables) {
  const std::string text =
      "define void @k(i8* %0) {\n  %2 = alloca %s, align 8\n"
      "  %3 = getelementptr inbounds %s, %s* %2, i64 0, i32 0\n  %4 = bitcast [3 x i32]* %3 to i8*\n"
      "  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %4, i8* align 4 %0, i64 12, i1 false)\n}\n";
  const std::string changed = with_whole_copies(text);
  EXPECT_THAT(changed, HasSubstr("load i32, i32* %heddle.0.8.from.as, align 4"));
  EXPECT_THAT(changed, ::testing::Not(HasSubstr("memcpy")));
}

// Of an int4 of which x and w are changed: y and z as one number, at an address that is no multiple of 8.
TEST(WholeCopies, OfPartsTwoAtATime) {
  EXPECT_EQ(with_whole_copies("  %9 = load i64, i64 addrspace(1)* %8, align 4, !dbg !5, !tbaa !6\n"),
            "  %heddle.half.0.low = bitcast i64 addrspace(1)* %8 to i32 addrspace(1)*, !dbg !5\n"
            "  %heddle.half.0.high = getelementptr inbounds i32, i32 addrspace(1)* %heddle.half.0.low, i64 1, !dbg !5\n"
            "  %heddle.half.0.a = load i32, i32 addrspace(1)* %heddle.half.0.low, align 4, !dbg !5\n"
            "  %heddle.half.0.b = load i32, i32 addrspace(1)* %heddle.half.0.high, align 4, !dbg !5\n"
            "  %heddle.half.0.c = zext i32 %heddle.half.0.a to i64, !dbg !5\n"
            "  %heddle.half.0.d = zext i32 %heddle.half.0.b to i64, !dbg !5\n"
            "  %heddle.half.0.e = shl nuw i64 %heddle.half.0.d, 32, !dbg !5\n"
            "  %9 = or i64 %heddle.half.0.e, %heddle.half.0.c, !dbg !5\n");
  EXPECT_EQ(with_whole_copies("  store i64 %9, ptr %8, align 4\n"),
            "  %heddle.half.0.high = getelementptr inbounds i32, ptr %8, i64 1\n"
            "  %heddle.half.0.a = trunc i64 %9 to i32\n"
            "  %heddle.half.0.c = lshr i64 %9, 32\n"
            "  %heddle.half.0.b = trunc i64 %heddle.half.0.c to i32\n"
            "  store i32 %heddle.half.0.a, ptr %8, align 4\n"
            "  store i32 %heddle.half.0.b, ptr %heddle.half.0.high, align 4\n");
  for (const std::string line : {"  %9 = load volatile i64, i64* %8, align 4\n", "  %9 = load i64, i64* %8, align 8\n",
                                 "  store atomic i64 %9, i64* %8 seq_cst, align 4\n"}) {
    EXPECT_EQ(with_whole_copies(line), line);
  }
}

TEST(WholeCopies, OfThreeWordsOfFour) {
  EXPECT_EQ(
      with_whole_copies("  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %a, ptr align 16 %b, i64 12, i1 false)\n"),
      "  %heddle.0.0.from.at = getelementptr i8, ptr %b, i64 0\n"
      "  %heddle.0.0.value = load i32, ptr %heddle.0.0.from.at, align 16\n"
      "  %heddle.0.4.from.at = getelementptr i8, ptr %b, i64 4\n"
      "  %heddle.0.4.value = load i32, ptr %heddle.0.4.from.at, align 4\n"
      "  %heddle.0.8.from.at = getelementptr i8, ptr %b, i64 8\n"
      "  %heddle.0.8.value = load i32, ptr %heddle.0.8.from.at, align 8\n"
      "  %heddle.0.0.to.at = getelementptr i8, ptr %a, i64 0\n"
      "  store i32 %heddle.0.0.value, ptr %heddle.0.0.to.at, align 16\n"
      "  %heddle.0.4.to.at = getelementptr i8, ptr %a, i64 4\n"
      "  store i32 %heddle.0.4.value, ptr %heddle.0.4.to.at, align 4\n"
      "  %heddle.0.8.to.at = getelementptr i8, ptr %a, i64 8\n"
      "  store i32 %heddle.0.8.value, ptr %heddle.0.8.to.at, align 8\n");
}

TEST(WholeCopies, LeavesTheOthers) {
  std::string text = "define void @k(ptr %a, ptr %b, i64 %n) {\n";
  for (const char* const call :
       {"memcpy.p0.p0.i64(ptr align 8 %a, ptr align 16 %b, i64 16, i1 false)",      // too little alignment
        "memcpy.p0.p0.i64(ptr align 16 %a, ptr %b, i64 16, i1 false)",              // none said
        "memcpy.p0.p0.i64(ptr align 16 %a, ptr align 16 %b, i64 16, i1 true)",      // volatile
        "memcpy.p0.p0.i64(ptr align 16 %a, ptr align 16 %b, i64 %n, i1 false)",     // of changing length
        "memcpy.p0.p0.i64(ptr align 16 %a, ptr align 16 %b, i64 528, i1 false)",    // long
        "memmove.p0.p0.i64(ptr align 16 %a, ptr align 16 %b, i64 144, i1 false)"})  // long, and may overlap
  {
    text += std::string("  call void @llvm.") + call + "\n";
  }
  text += "  uselistorder i64 %n, { 1, 0 }\n}\nuselistorder i64 16, { 2, 1, 0 }\n";
  EXPECT_EQ(with_whole_copies(text), text);
}

TEST(WholeCopies, TakesOrdersOfUsesAwayWhereTheyHaveChanged) {
  const std::string unchanged =
      "define void @a() {\n  ret void\n\n; uselistorder directives\n  uselistorder i8* %1, { 1, 0 }\n}\n";
  const std::string call = "  call void @llvm.memset.p0.i64(ptr align 16 %a, i8 0, i64 16, i1 false)\n";
  const std::string text = with_whole_copies(unchanged + "define void @b(ptr %a) {\n" + call +
                                             "  uselistorder ptr %a, { 1, 0 }\n}\nuselistorder i64 16, { 1, 0 }\n");
  EXPECT_THAT(text, HasSubstr(unchanged));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("ptr %a, {")));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("i64 16, {")));
  EXPECT_EQ(with_whole_copies("uselistorder i32 (i32)* asm \"a\", \"=r\", { 1, 0 }\nuselistorder i8 1, { 1, 0 }\n"),
            "uselistorder i8 1, { 1, 0 }\n");
}

std::string function(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + "(\n\t.param .u64 p\n)\n{\n" + body + "\tret;\n\n}\n";
}

TEST(LockLoops, AreThoseThatReleaseBehindThem) {
  const std::string take =
      "\tcvta.to.global.u64 \t%rd2, %rd1;\nL1:\n\tatom.global.cas.b32 \t%r1, [%rd2], 0, 1;\n\tsetp.ne.s32 \t%p1, %r1, "
      "0;\n";
  const std::string leave = "\t@%p1 bra \tL1;\n\tadd.s32 \t%r2, %r2, 1;\n";
  const std::string stay = "\t@%p1 bra \tL2;\n\tatom.global.exch.b32 \t%r4, [%rd2], 0;\nL2:\n\t@%p1 bra \tL1;\n";
  const std::string other =
      "L1:\n\tadd.s32 \t%r3, %r2, 1;\n\tatom.global.cas.b32 \t%r1, [%rd2], %r2, %r3;\n"
      "\tsetp.ne.s32 \t%p1, %r1, %r2;\n\tmov.u32 \t%r2, %r1;\n\t@%p1 bra \tL1;\n";
  const std::string text = ".version 6.4\n.func nothing(.param .b64 q);\n" +
                           function("exch", take + leave + "\tatom.global.exch.b32 \t%r4, [%rd2], 0;\n") +
                           function("store", take + leave + "\t{ membar.gl; st.volatile.u32 [%rd1], %r5; }\n") +
                           function("within", take + stay) +
                           function("elsewhere", take + leave + "\tst.global.u32 \t[%rd2+4], %r5;\n") +
                           function("sum", other + "\tst.global.u32 \t[%rd3], %r5;\n") +
                           function("no_loop",
                                    "\tatom.global.cas.b32 \t%r1, [%rd2], 0, 1;\n\tsetp.ne.s32 \t%p1, %r1, 0;\n"
                                    "\tatom.global.exch.b32 \t%r4, [%rd2], 0;\n");
  EXPECT_THAT(functions_that_leave_with_a_lock(text), ElementsAre("exch", "store"));
}

TEST(PtxParts, AreTakenFromAnotherText) {
  const auto text = [](const std::string& mark, const std::string& end) {
    return ".version 6.4\n" + function("a", "\tmov.u32 \t%a, " + mark + ";\n") + "// between\n" +
           function("b", "\tmov.u32 \t%b, " + mark + ";\n") + end;
  };
  EXPECT_EQ(with_functions_of(text("1", ".file 1\n"), text("2", ".file 1\n"), {"b"}),
            ".version 6.4\n" + function("a", "\tmov.u32 \t%a, 1;\n") + "// between\n" +
                function("b", "\tmov.u32 \t%b, 2;\n") + ".file 1\n");
  EXPECT_EQ(with_functions_of(text("1", ".file 1\n"), text("2", ".file 2\n"), {"b"}), text("2", ".file 2\n"));
}

// The accesses to memory of each kernel, as "ld.global.v4 st.global.v4".
std::map<std::string, std::string> accesses(const std::string& ptx) {
  std::map<std::string, std::string> found;
  std::string name;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t entry = line.find(".entry "); entry != std::string::npos) {
      name = line.substr(entry + 7, line.find('(') - entry - 7);
      found[name];
    }
    std::istringstream words(line);
    std::string word;
    words >> word;
    if ((word.starts_with("ld.") || word.starts_with("st.")) && !word.starts_with("ld.param")) {
      found[name] += (found[name].empty() ? "" : " ") + word.substr(0, word.rfind('.'));
    }
  }
  return found;
}

// As nvcc: one access of 16 bytes, whatever the form of the copy, and local variables in registers.
TEST(DeviceCode, CopiesOfSixteenBytesAreOneAccess) {
  const LaunchFolder folder;
  folder.write("k.cu", R"(
#define K extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
struct __align__(16) Aligned { float x; int n; double d; };
struct Two { float4 a, b; };
struct Large { float4 v[16]; };
__constant__ float4 table[64];
K f4(const float4* a, float4* b) { b[I] = a[I]; }
K restricted(const float4* __restrict__ a, float4* __restrict__ b) { b[I] = a[I]; }
K d2(const double2* a, double2* b) { b[I] = a[I]; }
K l2(const longlong2* a, longlong2* b) { b[I] = a[I]; }
K aligned(const Aligned* a, Aligned* b) { b[I] = a[I]; }
K two(const Two* a, Two* b) { b[I] = a[I]; }
K cast(const float* a, float* b) { reinterpret_cast<float4*>(b)[I] = reinterpret_cast<const float4*>(a)[I]; }
K constants(float4* b) { b[I] = table[threadIdx.x]; }
K filled(float4* b) { b[I] = make_float4(0, 0, 0, 0); }
K shared(const float4* a, float4* b) {
  __shared__ float4 s[64];
  s[threadIdx.x] = a[I];
  __syncthreads();
  b[I] = s[63 - threadIdx.x];
}
K swapped(float4* a) { float4 t = a[I]; a[I] = a[I + 64]; a[I + 64] = t; }
K changed(const uint4* a, uint4* b) { uint4 v = a[I]; if (v.x == 0) v = a[I + 1]; b[I] = v; }
K one(const float4* a, float* b) { float4 v = a[I]; b[I] = v.y; }
K by_value(Aligned v, Aligned* b) { v.n += 1; b[I] = v; }
K i2(const int2* a, int2* b) { b[I] = a[I]; }
K us4(const ushort4* a, ushort4* b) { b[I] = a[I]; }
K f3(const float3* a, float3* b) { b[I] = a[I]; }
K other_z(const int4* a, int4* b, int c) { int4 v = a[I]; v.z = c; b[I] = v; }
K other_w(const float4* a, float4* b) { float4 v = a[I]; v.w = 3; b[I] = v; }
K tripled_y(const float4* a, float4* b) { float4 v = a[I]; v.y *= 3; b[I] = v; }
K twice(const float4* a, float4* b, float4* c) { float4 v = a[I]; b[I] = v; v.w = 3; c[I] = v; }
K larger_x(const longlong2* a, longlong2* b) { longlong2 v = a[I]; v.x += 1; b[I] = v; }
)");
  for (const unsigned bits : {32U, 64U}) {
    const std::map<std::string, std::string> found = accesses(compile_cuda(folder.path("k.cu"), bits));
    const std::string copy = "ld.global.v4 st.global.v4";
    EXPECT_EQ(found.at("f4"), copy);
    EXPECT_EQ(found.at("restricted"), "ld.global.nc.v4 st.global.v4");
    EXPECT_EQ(found.at("d2"), copy);
    EXPECT_EQ(found.at("l2"), copy);
    EXPECT_EQ(found.at("aligned"), copy);
    EXPECT_EQ(found.at("two"), "ld.global.v4 ld.global.v4 st.global.v4 st.global.v4");
    EXPECT_EQ(found.at("cast"), copy);
    EXPECT_EQ(found.at("constants"), "ld.const.v4 st.global.v4");
    EXPECT_EQ(found.at("filled"), "st.global.v4");
    EXPECT_EQ(found.at("shared"), "ld.global.v4 st.shared.v4 ld.shared.v4 st.global.v4");
    EXPECT_EQ(found.at("swapped"), "ld.global.v4 ld.global.v4 st.global.v4 st.global.v4");
    EXPECT_EQ(found.at("changed"), "ld.global.v4 ld.global.v4 st.global.v4");
    EXPECT_EQ(found.at("one"), "ld.global st.global");
    EXPECT_EQ(found.at("by_value"), "st.global.v4");
    EXPECT_EQ(found.at("i2"), "ld.global st.global");
    EXPECT_EQ(found.at("us4"), "ld.global st.global");
    EXPECT_EQ(found.at("f3"), "ld.global st.global ld.global st.global ld.global st.global");
    EXPECT_EQ(found.at("other_z"), "ld.global.v2 ld.global st.global.v4");
    EXPECT_EQ(found.at("other_w"), "ld.global.v2 ld.global st.global.v4");
    EXPECT_EQ(found.at("tripled_y"), copy);
    EXPECT_EQ(found.at("twice"), "ld.global.v4 st.global.v4 st.global.v4");
    EXPECT_EQ(found.at("larger_x"), "ld.global.v2 st.global.v2");
  }
}

// Runs locks that the source releases within the loop, and, where threads of a warp are scheduled independently, one
// that is released behind it; every thread has counted once.
void run_locks_on(const std::string& divergence) {
  const LaunchFolder folder;
  folder.write("k.cu", R"(
#include <cuda/atomic>
#define K(name) extern "C" __global__ void name(unsigned* lock, unsigned* count)
__device__ void work(unsigned* count) {
  __threadfence();
  *(volatile unsigned*)count = *(volatile unsigned*)count + 1;
  __threadfence();
}
K(flag) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0u, 1u) == 0u) { work(count); atomicExch(lock, 0u); done = true; }
  }
}
K(do_while) {
  int waiting = 1;
  do {
    if (atomicExch(lock, 1u) == 0u) { work(count); *(volatile unsigned*)lock = 0; waiting = 0; }
  } while (waiting);
}
K(old_value) {
  unsigned old;
  do {
    old = atomicCAS(lock, 0u, 1u);
    if (old == 0u) { work(count); atomicExch(lock, 0u); }
  } while (old != 0u);
}
K(for_break) {
  for (bool done = false;;) {
    if (atomicCAS(lock, 0u, 1u) == 0u) { work(count); atomicExch(lock, 0u); done = true; }
    if (done) break;
  }
}
K(going_on) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0u, 1u) != 0u) continue;
    work(count);
    atomicExch(lock, 0u);
    done = true;
  }
}
K(two_locks) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0u, 1u) == 0u) {
      if (atomicCAS(lock + 1, 0u, 1u) == 0u) { work(count); atomicExch(lock + 1, 0u); done = true; }
      atomicExch(lock, 0u);
    }
  }
}
K(nested) {
  bool outer = false;
  while (!outer) {
    if (atomicCAS(lock, 0u, 1u) == 0u) {
      bool inner = false;
      while (!inner) {
        if (atomicCAS(lock + 1, 0u, 1u) == 0u) { work(count); atomicExch(lock + 1, 0u); inner = true; }
      }
      atomicExch(lock, 0u);
      outer = true;
    }
  }
}
__device__ bool try_once(unsigned* lock, unsigned* count) {
  if (atomicCAS(lock, 0u, 1u) != 0u) return false;
  work(count);
  atomicExch(lock, 0u);
  return true;
}
K(of_a_function) {
  while (!try_once(lock, count)) {}
}
K(back_off) {
  bool done = false;
  while (!done) {
    if (atomicOr(lock, 1u) & 1u) {
      __nanosleep(10);
    } else {
      work(count);
      atomicAnd(lock, ~1u);
      done = true;
    }
  }
}
struct Lock {
  unsigned* word;
  __device__ bool try_lock() { return atomicCAS(word, 0u, 1u) == 0u; }
  __device__ void unlock() { atomicExch(word, 0u); }
};
K(of_an_object) {
  __shared__ unsigned word;
  __shared__ Lock own;
  if (threadIdx.x == 0) own.word = &word, word = 0;
  __syncthreads();
  bool done = false;
  while (!done) {
    if (own.try_lock()) { atomicAdd(count, 1u); own.unlock(); done = true; }
  }
}
K(of_an_atomic_object) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> word(*lock);
  bool done = false;
  while (!done) {
    unsigned free = 0;
    if (word.compare_exchange_strong(free, 1)) { work(count); word.store(0); done = true; }
  }
}
K(naive) {
  while (atomicCAS(lock, 0u, 1u) != 0u) {}
  work(count);
  atomicExch(lock, 0u);
}
)");
  const std::string ptx = compile_cuda(folder.path("k.cu"), 64);
  EXPECT_THAT(functions_that_leave_with_a_lock(ptx), ElementsAre("naive"));
  hw::Machine machine;
  machine.core.divergence = divergence;
  machine.watchdog.livelock_instructions = 5000;
  tb::Device device(machine);
  device.load(ptx::compile(ptx, "k.ptx"));
  const std::uint64_t lock = device.memory().allocate("lock", 8, false);
  const std::uint64_t count = device.memory().allocate("count", 4, false);
  std::uint32_t counted = 0;
  std::vector<const char*> kernels = {
      "flag",   "do_while",      "old_value", "for_break",    "going_on",           "two_locks",
      "nested", "of_a_function", "back_off",  "of_an_object", "of_an_atomic_object"};
  if (hw::schedules_threads(machine.core)) kernels.push_back("naive");
  for (const char* const kernel : kernels) {
    tb::Arguments arguments(device.module(), kernel);
    arguments.pointer(lock);
    arguments.pointer(count);
    device.launch({kernel, {2}, {40}, 0, arguments.bytes()});
    counted += 80;
    EXPECT_EQ(device.memory().get<std::uint32_t>(count), counted) << kernel;
  }
}

// As nvcc: a loop that is not to be unrolled says so in its PTX, also where a template's argument has the one.
TEST(DeviceCode, LoopsThatAreUnrolledOnceAreKept) {
  LaunchFolder folder;
  folder.write("k.cu",
               "template <int N> __device__ int sum(const int* q, int n) {\n"
               "  int s = 0;\n"
               "#pragma unroll N\n"
               "  for (int i = 0; i < n; ++i) s += q[i] * i;\n"
               "  return s;\n"
               "}\n"
               "__global__ void kept(int* q, int n) { q[0] = sum<1>(q, n); }\n"
               "__global__ void twice(int* q, int n) { q[0] = sum<2>(q, n); }\n"
               "__global__ void free(int* q, int n) {\n"
               "  int s = 0;\n"
               "  for (int i = 0; i < n; ++i) s += q[i] * i;\n"
               "  q[0] = s;\n"
               "}\n");
  const std::string ptx = compile_cuda(folder.path("k.cu"), 64);
  const auto has_pragma = [&](const std::string& kernel) {
    const std::size_t begin = ptx.find(".entry " + kernel);
    EXPECT_NE(begin, std::string::npos) << kernel;
    return ptx.substr(begin, ptx.find("\n}\n", begin) - begin).find(".pragma \"nounroll\";") != std::string::npos;
  };
  EXPECT_TRUE(has_pragma("_Z4kept"));
  EXPECT_TRUE(has_pragma("_Z5twice")) << "has been unrolled";
  EXPECT_FALSE(has_pragma("_Z4free"));
}

TEST(DeviceCode, LocksThatAreSafeInTheSourceEndOnAStack) {
  run_locks_on("stack");
}

TEST(DeviceCode, LocksThatAreSafeInTheSourceEndWithAPcPerThread) {
  run_locks_on("per-thread-pc");
}

TEST(DeviceCode, LocksEndWhereThreadsAreScheduledIndependently) {
  run_locks_on("barriers");
}

// The kernels of the workloads are compiled at one go, which makes no difference.
TEST(DeviceCode, WorkloadsNeedNothingOfIt) {
  for (const EmbeddedFile& kernel : workloads::embedded_kernels()) {
    EXPECT_THAT(functions_that_leave_with_a_lock(kernel.text), ElementsAre()) << kernel.name;
  }
}

}  // namespace
}  // namespace heddle::cuda
