// Caches that keep their lines from launch to launch (l2.kept, icache.kept): what the host writes and loads between
// launches counts, whatever they keep, and what has not changed is found there.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "ptx/compile.hpp"
#include "tb/config/config.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"

namespace heddle::kept_caches_test {
namespace {

// out[i] = in[i] * `by` + the parameter `more`.
std::string text_of(const char* by) {
  return std::string(R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 more)
{
  .reg .b32 %r<8>; .reg .b64 %a<6>;
  ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; ld.param.u32 %r5, [more];
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  mul.wide.u32 %a2, %r3, 4; add.u64 %a3, %a2, %a0; add.u64 %a4, %a2, %a1;
  ld.global.u32 %r4, [%a3]; mad.lo.u32 %r4, %r4, )") +
         by + R"(, %r5;
  st.global.u32 [%a4], %r4;
  ret;
}
)";
}

constexpr std::uint32_t kBlock = 32;
constexpr std::uint32_t kThreads = 512;  // some of each core

class KeptCaches : public ::testing::Test {
 protected:
  static hw::Machine machine() { return tb::read_machine("h100-8sm", {"gpu.kernels=4"}); }
  void load(const char* by) {
    device.load(ptx::compile(text_of(by), "k.ptx", ptx::CompileOptions(tb::code_options(device.machine()))));
  }
  void write(std::uint32_t first) {
    for (std::uint32_t i = 0; i != kThreads; ++i) {
      device.memory().put<std::uint32_t>(in + 4 * i, first + i);
    }
  }
  [[nodiscard]] isa::LaunchRequest request(std::uint64_t to, std::uint32_t more) const {
    isa::LaunchRequest request;
    request.kernel = "k";
    request.block = {kBlock, 1, 1};
    request.grid = {kThreads / kBlock, 1, 1};
    request.parameters.resize(20);
    std::memcpy(request.parameters.data(), &in, 8);
    std::memcpy(request.parameters.data() + 8, &to, 8);
    std::memcpy(request.parameters.data() + 16, &more, 4);
    return request;
  }
  void expect(std::uint64_t at, std::uint32_t first, std::uint32_t by, std::uint32_t more) {
    for (std::uint32_t i = 0; i != kThreads; ++i) {
      ASSERT_EQ(device.memory().get<std::uint32_t>(at + 4 * i), (first + i) * by + more) << i;
    }
  }

  tb::Device device{machine()};
  const std::uint64_t in = device.memory().allocate("in", 4 * kThreads);
  const std::uint64_t out = device.memory().allocate("out", 4 * kThreads + 4);
};

TEST_F(KeptCaches, WhatTheHostWritesCounts) {
  load("3");
  write(10);
  device.launch(request(out, 1));
  expect(out, 10, 3, 1);
  write(20);
  device.memory().put<std::uint32_t>(out, 99);  // over what a kernel has stored
  device.launch(request(out + 4, 2));
  EXPECT_EQ(device.memory().get<std::uint32_t>(out), 99U);
  expect(out + 4, 20, 3, 2);
}

TEST_F(KeptCaches, CodeIsFoundUntilOtherCodeIsLoaded) {
  load("3");
  write(10);
  device.launch(request(out, 1));
  const hw::Totals first = device.totals();
  EXPECT_GT(first.icache.misses, 0U);
  device.launch(request(out, 1));
  const hw::Totals second = device.totals();
  EXPECT_EQ(second.icache.misses, first.icache.misses);
  EXPECT_EQ(second.l0i.misses, first.l0i.misses);
  EXPECT_EQ(second.l2.misses - first.l2.misses, 0U) << "nothing that the launch reads is new to the L2";
  load("5");
  device.launch(request(out, 1));
  expect(out, 10, 5, 1);
  EXPECT_GT(device.totals().icache.misses, second.icache.misses);
}

// Launches side by side have their parameters in memory, where those of earlier launches were.
TEST_F(KeptCaches, LaunchesSideBySideHaveTheirOwnParameters) {
  load("3");
  write(10);
  std::vector<std::uint64_t> outs;
  for (unsigned i = 0; i != 4; ++i) {
    outs.push_back(device.memory().allocate("out", 4 * kThreads));
  }
  for (std::uint32_t round = 0; round != 3; ++round) {
    unsigned together = 0;
    for (std::uint32_t i = 0; i != 4; ++i) {
      while (!device.can_begin()) {
        static_cast<void>(device.proceed(device.now() + 10));
      }
      together += device.running() ? 1 : 0;
      device.begin(request(outs[i], 100 * round + i));
      static_cast<void>(device.proceed(device.now() + 10));
    }
    EXPECT_GT(together, 0U);
    while (device.running()) {
      static_cast<void>(device.proceed(link::kNever));
    }
    for (std::uint32_t i = 0; i != 4; ++i) {
      expect(outs[i], 10, 3, 100 * round + i);
    }
  }
}

}  // namespace
}  // namespace heddle::kept_caches_test
