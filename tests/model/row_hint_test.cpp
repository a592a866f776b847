// The row-buffer locality hint (thesis 7.2) from `.pragma "row_hint"` to the memory controller: which requests carry
// the bit on every connection beyond the core, and that rows are held for them. A request that a cache answers carries
// none.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/workload_cases.hpp"
#include "tlm/memory_extension.hpp"

namespace heddle {
namespace {

// Hands everything on and notes the reads of data: address and hint bit, in order.
class Witness final : public link::Tap, private ::tlm::tlm_fw_transport_if<>, private ::tlm::tlm_bw_transport_if<> {
 public:
  explicit Witness(const sc_core::sc_module_name& name) : link::Tap(name), target_("target"), initiator_("initiator") {
    target_.bind(*this);
    initiator_.bind(*this);
  }
  [[nodiscard]] ::tlm::tlm_target_socket<>& target_end() override { return target_; }
  [[nodiscard]] ::tlm::tlm_initiator_socket<>& initiator_end() override { return initiator_; }
  std::vector<std::pair<std::uint64_t, bool>> reads;

 private:
  using Payload = ::tlm::tlm_generic_payload;
  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    link::MemoryExtension* extension = nullptr;
    payload.get_extension(extension);
    if (phase == ::tlm::BEGIN_REQ && payload.is_read() && extension != nullptr && !extension->instruction) {
      reads.emplace_back(payload.get_address(), extension->row_hint);
    }
    return initiator_->nb_transport_fw(payload, phase, delay);
  }
  ::tlm::tlm_sync_enum nb_transport_bw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    return target_->nb_transport_bw(payload, phase, delay);
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override { initiator_->b_transport(payload, delay); }
  bool get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) override {
    return initiator_->get_direct_mem_ptr(payload, dmi);
  }
  unsigned transport_dbg(Payload& payload) override { return initiator_->transport_dbg(payload); }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    target_->invalidate_direct_mem_ptr(start, end);
  }

  ::tlm::tlm_target_socket<> target_;
  ::tlm::tlm_initiator_socket<> initiator_;
};

// One warp: a hinted load of row 0, its hit without a hint, a load of row 8 (of the same bank) without one, a hinted
// load of row 16, and once more the first line with a hint.
const char* const kKernel = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 data) {
.reg .b32 %r<9>; .reg .b64 %d<4>;
ld.param.u64 %d1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
.pragma "row_hint";
ld.global.u32 %r2, [%d1];
ld.global.u32 %r3, [%d1+128];
ld.global.u32 %r4, [%d1+32768];
.pragma "row_hint";
ld.u32 %r5, [%d1+65536];
.pragma "row_hint";
ld.global.u32 %r6, [%d1];
add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6;
st.global.u32 [%d1], %r2;
exit; }
)";

struct Witnessed {
  std::map<std::string, std::vector<std::pair<std::uint64_t, bool>>> reads;  // by place, offsets into the buffer
  std::uint64_t holds = 0;
};

Witnessed witness(const hw::Machine& machine) {
  std::map<std::string, const Witness*> witnesses;
  tb::DeviceOptions options;
  options.make_tap = [&](const hw::TapPlace& place, link::Clock) {
    auto tap = std::make_unique<Witness>(("witness_" + place.text()).c_str());
    witnesses[place.text()] = tap.get();
    return tap;
  };
  tb::Device device(machine, options);
  device.load(ptx::compile(kKernel, "k.ptx"));
  const std::uint64_t data = device.memory().allocate("data", 1 << 17, false);
  EXPECT_EQ(data % 32768, 0U);
  isa::LaunchRequest request;
  request.kernel = "k";
  request.block = {32, 1, 1};
  for (unsigned byte = 0; byte < 8; ++byte) {
    request.parameters.push_back(static_cast<std::uint8_t>(data >> (8 * byte)));
  }
  device.launch(request);
  Witnessed observed;
  for (const auto& [place, witness] : witnesses) {
    for (const auto& [address, hint] : witness->reads) {
      observed.reads[place].emplace_back(address - data, hint);
    }
  }
  for (const StatisticsRegistry::Scalar& scalar : device.statistics().scalars()) {
    if (std::string(scalar.declaration.name) == "row_holds") {
      observed.holds += *scalar.value;
    }
  }
  return observed;
}

using Reads = std::vector<std::pair<std::uint64_t, bool>>;

TEST(RowHint, ReachesTheControllerWithTheLoadsThatMiss) {
  hw::Machine machine;
  machine.core.registers_per_thread = 63;
  const Witnessed observed = witness(machine);
  const Reads expected = {{0, true}, {128, false}, {32768, false}, {65536, true}};
  EXPECT_EQ(observed.reads.at("data0"), expected);
  EXPECT_EQ(observed.reads.at("channel0"), expected);
  EXPECT_EQ(observed.holds, 2U);  // the last load hits the cache
}

TEST(RowHint, PassesTheL2) {
  hw::Machine machine;
  machine.core.registers_per_thread = 63;
  machine.l2.enabled = true;
  const Witnessed observed = witness(machine);
  const Reads expected = {{0, true}, {128, false}, {32768, false}, {65536, true}};
  EXPECT_EQ(observed.reads.at("l2_0"), expected);
  EXPECT_EQ(observed.reads.at("channel0"), expected);
  EXPECT_EQ(observed.holds, 2U);
}

// Without caches every load is a request, the last one too.
TEST(RowHint, IsOnEveryHintedLoadWithoutCaches) {
  hw::Machine machine;
  machine.core.registers_per_thread = 63;
  machine.l1d.enabled = false;
  const Witnessed observed = witness(machine);
  const Reads expected = {{0, true}, {128, false}, {32768, false}, {65536, true}, {0, true}};
  EXPECT_EQ(observed.reads.at("channel0"), expected);
  EXPECT_EQ(observed.holds, 3U);
}

TEST(RowHint, HoldsNothingWhereHintsAreOff) {
  hw::Machine machine;
  machine.core.registers_per_thread = 63;
  machine.dram.hints = false;
  const Witnessed observed = witness(machine);
  EXPECT_EQ(observed.reads.at("channel0").front(), std::pair(std::uint64_t{0}, true));
  EXPECT_EQ(observed.holds, 0U);
}

}  // namespace
}  // namespace heddle
