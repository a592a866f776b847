// What stands around one pipeline stage in its own test: the stage before it, the stages behind it, an L1 that answers
// as it is told, and instructions made by the kernel builder, so that every word a test uses is a valid one.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "hw/core/pipeline/stage.hpp"
#include "isa/result_form.hpp"
#include "tests/isa/kernel_builder.hpp"
#include "tlm/line_protocol.hpp"

namespace heddle::hw::test {

using isa::test::Code;

// The instruction that `emit` adds to a kernel, as the decode stage hands it on.
template <class Emit>
[[nodiscard]] std::unique_ptr<link::DecodedInstruction> decoded(Emit emit) {
  Code code;
  emit(code);
  auto out = std::make_unique<link::DecodedInstruction>();
  out->word = code.module().kernels[0].words.back();
  out->instruction = isa::decode(out->word).value();
  out->form = isa::result_form(out->instruction);
  out->sources = isa::source_predicates(out->instruction);
  out->unit = isa::info(out->instruction.op).unit;
  out->conditional_branch = out->instruction.op == isa::Op::BRA && !out->instruction.guard.always();
  return out;
}

// Offers sub-warps as the stage before does.
class StubSender : public sc_core::sc_module {
 public:
  explicit StubSender(const sc_core::sc_module_name& name) : sc_core::sc_module(name), out("out") {}
  StageOutput out;
};

// Takes sub-warps while it has room, and remembers each with the cycle in which it came.
class StubReceiver : public sc_core::sc_module, private link::NonBlockingTarget<link::WarpProtocol> {
 public:
  struct Arrival {
    const link::SubWarp* sub_warp;
    Cycle cycle;
    friend bool operator==(const Arrival&, const Arrival&) = default;
  };
  StubReceiver(const sc_core::sc_module_name& name, const CoreState& state)
      : sc_core::sc_module(name), socket("socket"), state_(state) {
    socket.bind(*this);
  }
  link::WarpTargetSocket socket;
  bool room = true;
  std::vector<Arrival> taken;
  unsigned refused = 0;

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(link::SubWarp& sub_warp, link::WarpPhase&, sc_core::sc_time&) override {
    if (!room) {
      ++refused;
      return ::tlm::TLM_UPDATED;
    }
    taken.push_back({&sub_warp, state_.now});
    return ::tlm::TLM_COMPLETED;
  }
  const CoreState& state_;
};

// An L1 with `ports` line accesses per cycle, and one per bank. Lines in `missing` are answered when the test says so,
// all others at once; while `full` it takes nothing, and says that it wants `full_of`. Memory holds word_at(address)
// everywhere.
class StubL1 : public sc_core::sc_module, public link::NonBlockingTarget<link::LineProtocol> {
 public:
  static constexpr unsigned kLineBytes = 128;
  struct Offer {
    link::LineRequest* request;
    std::uint64_t address;
    LaneMask lanes;
    Cycle cycle;
  };

  StubL1(const sc_core::sc_module_name& name, const CoreState& state)
      : sc_core::sc_module(name), socket("socket"), state_(state) {
    socket.bind(*this);
  }
  link::LineTargetSocket socket;
  unsigned ports = 1;
  unsigned banks = 0;  // 0: none
  std::set<std::uint64_t> missing;
  std::set<std::uint64_t> late;  // there, but answered by respond()
  bool full = false;
  link::LineRequest::Busy full_of = link::LineRequest::Busy::mshrs;
  std::vector<Offer> taken;
  std::vector<Offer> refused;

  [[nodiscard]] static std::uint32_t word_at(std::uint64_t address) {
    return static_cast<std::uint32_t>(address / 4 * 0x9e37'79b1U + 12345);
  }
  // The response to a line that missed or is late.
  void respond(link::LineRequest& request, bool failed = false) {
    request.failed = failed;
    answer(request);
    link::LinePhase phase = link::LinePhase::response;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(request, phase, delay);
  }

 private:
  void answer(link::LineRequest& request) {
    for (unsigned word = 0; word < kLineBytes / 4; ++word) {
      line_[word] = word_at(request.address + 4 * word);
    }
    request.line = reinterpret_cast<const std::byte*>(line_.data());
    if (request.kind == link::LineRequest::Kind::atomic) {
      link::AtomicLanes& atomic = *request.atomic;
      for (unsigned entry = 0; entry < atomic.count; ++entry) {
        const std::uint64_t at = request.address + atomic.offset[entry];
        atomic.old[entry] = word_at(at) | std::uint64_t{word_at(at + 4)} << 32U;
      }
    }
  }
  ::tlm::tlm_sync_enum nb_transport_fw(link::LineRequest& request, link::LinePhase&, sc_core::sc_time&) override {
    if (taken.empty() || taken.back().cycle != state_.now) {
      used_ = 0;
      banks_used_.clear();
    }
    const Offer offer{&request, request.address, request.lanes, state_.now};
    if (full || used_ == ports) {
      request.answer = link::LineRequest::Answer::busy;
      request.busy = full ? full_of : link::LineRequest::Busy::ports;
      refused.push_back(offer);
      return ::tlm::TLM_UPDATED;
    }
    if (banks != 0 && !banks_used_.insert(request.address / kLineBytes % banks).second) {
      request.answer = link::LineRequest::Answer::busy;
      request.busy = link::LineRequest::Busy::bank;
      refused.push_back(offer);
      return ::tlm::TLM_UPDATED;
    }
    ++used_;
    taken.push_back(offer);
    const bool misses = missing.count(request.address) != 0;
    if (misses || late.count(request.address) != 0) {
      request.answer = misses ? link::LineRequest::Answer::miss : link::LineRequest::Answer::late_hit;
      return ::tlm::TLM_ACCEPTED;
    }
    request.answer = link::LineRequest::Answer::hit;
    answer(request);
    return ::tlm::TLM_COMPLETED;
  }
  const CoreState& state_;
  unsigned used_ = 0;
  std::set<std::uint64_t> banks_used_;
  std::array<std::uint32_t, kLineBytes / 4> line_{};
};

}  // namespace heddle::hw::test
