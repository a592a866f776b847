#include "hw/core/front/fetch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/set_bits.hpp"

namespace heddle::hw {

FetchStage::FetchStage(const sc_core::sc_module_name& name, CoreState& state, std::unique_ptr<WarpScheduler> scheduler)
    : sc_core::sc_module(name), icache("icache"), out("out"), state_(state) {
  icache.bind(*this);
  schedule_by(std::move(scheduler));
}

void FetchStage::schedule_by(std::unique_ptr<WarpScheduler> scheduler) {
  scheduler_ = std::move(scheduler);
  state_.groups.observe(scheduler_.get());
  requests_.assign(state_.groups.size(), {});
  arrived_.assign(state_.groups.size(), {});
  late_.set_capacity(state_.groups.size());
  held_since_.assign(state_.groups.size(), 0);
  if (queue_ != nullptr) {
    take_places_of(*queue_);
  }
}

// From the scheduler to the passage that begins, a usual fetch is in line in the stage's turn: it is a third of what a
// cycle of the core costs. What is rare is not.
void FetchStage::tick(Cycle now) {
  if (warps_ != nullptr && !state_.groups.any_ready()) {
    warps_->starving();
  }
  if (limiter_ != nullptr) [[unlikely]] {
    release_loads(now);
  }
  if (queue_ != nullptr && queue_->has_place() && state_.groups.count(GroupState::queueing) != 0) {
    offer_places(now);
  }
  IdleCause& cause = history_[now % kHistory];
  if (waiting_ != nullptr || by_lane_ != nullptr || !late_.empty()) {
    tick_with_words(now, cause);
  } else {
    fetch_next(now, cause);
  }
}

// Words are there that have been fetched before, or each lane fetches for itself.
void FetchStage::tick_with_words(Cycle now, IdleCause& cause) {
  if (waiting_ != nullptr) {
    if (!out.offer(*waiting_)) {
      cause = state_.block_cause;
      held(*waiting_);
      return;
    }
    waiting_ = nullptr;
    cause = IdleCause::pipeline;
    return;
  }
  if (by_lane_ != nullptr) [[unlikely]] {
    tick_by_lane(now, cause);
    return;
  }
  bool handed_on = false;
  while (!handed_on && !late_.empty()) {
    const LateWord late = late_.front();
    late_.pop_front();
    handed_on = hand_on(state_.groups[late.group], late.word, cause);
  }
  if (!handed_on) {
    fetch_next(now, cause);
    return;
  }
  IdleCause of_next = cause;
  GroupId id = 0;
  isa::InstructionWord word;
  if (waiting_ == nullptr && read(now, id, word, of_next)) {
    // A word that had waited here: decode takes one per cycle.
    state_.groups.set_state(state_.groups[id], GroupState::fetching);
    late_.push_back({id, word});
  }
}

// A group whose instruction has to wait leaves the cycle to another one.
inline void FetchStage::fetch_next(Cycle now, IdleCause& cause) {
  GroupId id = 0;
  isa::InstructionWord word;
  while (read(now, id, word, cause) && !hand_on(state_.groups[id], word, cause)) {
  }
}

inline bool FetchStage::read(Cycle now, GroupId& id, isa::InstructionWord& word, IdleCause& cause) {
  if (!state_.groups.any_ready()) {
    cause = idle_cause();
    return false;
  }
  const MaybeGroup picked = scheduler_->pick(now);
  if (!picked) {
    cause = IdleCause::pipeline;
    return false;
  }
  id = *picked;
  Group& group = state_.groups[id];
  if constexpr (kCheckInvariants) {
    if (state_.groups.stands(id).pc != group.pc) {
      throw InternalError(fmt::format("group {} has gone to PC {} while it could be fetched", id, group.pc));
    }
  }
  if (group.pc >= state_.launch->code_words) [[unlikely]] {
    cause = runs_past_end(group) ? cause : IdleCause::pipeline;
    return false;
  }
  cause = IdleCause::icache;
  const ::tlm::tlm_sync_enum answer = read_word(group, word);
  if (answer == ::tlm::TLM_COMPLETED) [[likely]] {
    return true;
  }
  if (answer == ::tlm::TLM_ACCEPTED) {
    waits_for_line(group);
  }
  return false;
}

// False: an earlier instruction's fault would come first.
bool FetchStage::runs_past_end(const Group& group) {
  if (!group.all_completed()) {
    return false;
  }
  state_.raise(isa::Fault::Kind::invalid_instruction, group,
               fmt::format("the kernel has {} instructions; control ran past its end", state_.launch->code_words));
  return true;
}

void FetchStage::waits_for_line(Group& group) {
  state_.groups.set_state(group, GroupState::fetching);
  state_.moved();
  if (requests_[group.id].answer != link::LineRequest::Answer::late_hit) {
    ++state_.statistics.fetch_misses;
    ArrivedWord& arrived = arrived_[group.id];
    arrived.misses = arrived.pc == group.pc ? arrived.misses + 1 : 1;
    arrived.pc = group.pc;
  }
}

bool FetchStage::waits_for_results(Group& group, const link::DecodedInstruction& next) {
  if (!issue_->holds_back(group, next)) {
    return false;
  }
  keep_word(group, next.word);
  state_.moved();
  return true;
}

// The lanes of its next operation's kind are taken: the group comes back when they are free, beside others that do.
bool FetchStage::finds_lanes(Group& group, const link::DecodedInstruction& next) {
  const Cycle free_at = lanes_.free_at(next.lanes, state_.now);
  if (free_at <= state_.now) {
    return true;
  }
  keep_word(group, next.word);
  state_.groups.set_state(group, GroupState::complex);
  state_.make_ready(group, static_cast<unsigned>(free_at - state_.now - 1));  // in cycle free_at
  state_.moved();
  return false;
}

bool FetchStage::finds_place(Group& group, const isa::InstructionWord& word) {
  if (queue_->has_place()) {
    return true;
  }
  keep_word(group, word);
  queueing_[group.id / 64] |= std::uint64_t{1} << (group.id % 64);
  queueing_since_[group.id] = state_.now;
  ++state_.statistics.queue_waits;
  state_.groups.set_state(group, GroupState::queueing);
  state_.moved();
  return false;
}

void FetchStage::take_place(const Group& taker) {
  queue_->reserve();
  queueing_[taker.id / 64] &= ~(std::uint64_t{1} << (taker.id % 64));
  if (queue_->has_place()) {
    return;
  }
  // Those that could have taken it.
  for (std::size_t word = 0; word != queueing_.size(); ++word) {
    for (const unsigned bit : set_bits(queueing_[word] & state_.groups.ready()[word])) {
      Group& group = state_.groups[static_cast<GroupId>(word * 64 + bit)];
      queueing_since_[group.id] = state_.now;
      state_.groups.set_state(group, GroupState::queueing);
    }
  }
}

void FetchStage::offer_places(Cycle now) {
  for (std::size_t word = 0; word != queueing_.size(); ++word) {
    for (const unsigned bit : set_bits(queueing_[word])) {
      Group& group = state_.groups[static_cast<GroupId>(word * 64 + bit)];
      if (group.state == GroupState::queueing) {
        state_.statistics.queue_wait_cycles += now - queueing_since_[group.id];
        state_.groups.set_state(group, GroupState::ready);
      }
    }
  }
  state_.moved();
}

bool FetchStage::hold_back(Group& group, const isa::InstructionWord& word) {
  const std::optional<isa::Instruction> instruction = isa::decode(word);
  if (!instruction || !is_limited(*instruction) || limiter_->may_load(group, state_.now)) {
    limiter_->issued(group);
    return false;
  }
  keep_word(group, word);
  held_since_[group.id] = state_.now;
  ++state_.statistics.throttled_loads;
  state_.groups.set_state(group, GroupState::throttled);
  state_.moved();
  return true;
}

void FetchStage::release_loads(Cycle now) {
  unsigned left = state_.groups.count(GroupState::throttled);
  for (GroupId id = 0; left != 0; ++id) {
    Group& group = state_.groups[id];
    if (group.state != GroupState::throttled) {
      continue;
    }
    --left;
    if (limiter_->may_load(group, now)) {
      state_.statistics.throttled_cycles += now - held_since_[id];
      state_.groups.set_state(group, GroupState::ready);
      state_.moved();
    }
  }
}

inline bool FetchStage::hand_on(Group& group, const isa::InstructionWord& word, IdleCause& cause) {
  const link::DecodedInstruction* const next = decode_ != nullptr ? decode_->look_up(group.pc, word) : nullptr;
  if (issue_ != nullptr && next != nullptr && waits_for_results(group, *next)) [[unlikely]] {
    return false;
  }
  const bool looks_at_lanes = issue_ != nullptr && next != nullptr;
  if (looks_at_lanes && !finds_lanes(group, *next)) {
    return false;
  }
  const bool queues = queue_ != nullptr && next != nullptr && next->queues;
  if (queues && !finds_place(group, word)) {
    return false;
  }
  if (limiter_ != nullptr && hold_back(group, word)) [[unlikely]] {
    cause = IdleCause::throttled;
    return true;
  }
  if (queues) {
    take_place(group);
  }
  if (looks_at_lanes) {
    lanes_.take(next->lanes, state_.now);
  }
  group.next_flight();
  if (tells_issue_ && next != nullptr) [[unlikely]] {
    issue_->issued(group, *next);
  }
  state_.groups.set_state(group, GroupState::in_flight);
  arrived_[group.id].misses = 0;
  ++group.instructions;
  if (++state_.statistics.fetched % kFetchedPerDriftSample == 0) {
    sample_drift(group.block_slot);
  }
  cause = IdleCause::pipeline;
  link::SubWarp& sub_warp = state_.pool.take();
  sub_warp.group = group.id;
  sub_warp.pc = group.pc;
  sub_warp.word = word;
  sub_warp.flight = static_cast<std::uint8_t>(group.latest);
  sub_warp.decoded = next;
  sub_warp.done = 1;
  if (state_.observer != nullptr) {
    state_.observer->fetched(state_, sub_warp);
  }
  state_.moved();
  if (!out.offer(sub_warp)) {
    waiting_ = &sub_warp;
    cause = state_.block_cause;
    held(sub_warp);
  }
  return true;
}

void FetchStage::sample_drift(unsigned block_slot) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  for (const Group& group : state_.groups.all()) {
    if (group.state != GroupState::free && group.block_slot == block_slot) {
      least = std::min(least, group.instructions);
      most = std::max(most, group.instructions);
    }
  }
  ++state_.statistics.drift_samples;
  state_.statistics.drift_instructions += most - least;
}

inline ::tlm::tlm_sync_enum FetchStage::read_word(Group& group, isa::InstructionWord& word) {
  ArrivedWord& arrived = arrived_[group.id];
  if (arrived.valid && arrived.pc == group.pc) [[unlikely]] {
    arrived.valid = false;
    word = arrived.word;
    return ::tlm::TLM_COMPLETED;
  }
  const std::uint64_t address = state_.instruction_address(group.pc);
  const std::uint64_t offset = address & (std::uint64_t{state_.machine.icache.line_bytes} - 1);
  const bool repeats_miss = arrived.misses != 0 && arrived.pc == group.pc;
  Cache* const cache = cache_.of(icache);
  const std::byte* line = cache != nullptr ? cache->load_at_once(address - offset, repeats_miss) : nullptr;
  if (L0Cache* const l0 = cache == nullptr ? l0_.of(icache) : nullptr) {
    line = l0->load_at_once(address - offset, repeats_miss);
  }
  if (line != nullptr) [[likely]] {
    word = word_at(line + offset);
    return ::tlm::TLM_COMPLETED;
  }
  return ask_for_line(group, address, offset, repeats_miss, word);
}

::tlm::tlm_sync_enum FetchStage::ask_for_line(const Group& group, std::uint64_t address, std::uint64_t offset,
                                              bool repeats_miss, isa::InstructionWord& word) {
  link::LineRequest& request = requests_[group.id];
  request.address = address - offset;
  request.core = static_cast<std::uint16_t>(state_.in_core);
  request.group = state_.in_core_number(group.id);
  request.pc = group.pc;
  request.failed = false;
  request.repeats_miss = repeats_miss;
  link::LinePhase phase = link::LinePhase::request;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const ::tlm::tlm_sync_enum answer = icache->nb_transport_fw(request, phase, delay);
  if (answer == ::tlm::TLM_COMPLETED) {
    word = word_at(request.line + offset);
  }
  return answer;
}

::tlm::tlm_sync_enum FetchStage::nb_transport_bw(link::LineRequest& request, link::LinePhase&, sc_core::sc_time&) {
  if (by_lane_ != nullptr) [[unlikely]] {
    line_by_lane(request);
    return ::tlm::TLM_COMPLETED;
  }
  Group& group = state_.groups[state_.own_number(request.group)];
  const auto word = [&] {
    const std::uint64_t address = state_.instruction_address(request.pc);
    return word_at(request.line + (address - request.address));
  };
  if (request.failed) {
    state_.raise(isa::Fault::Kind::bus_error, group, "the memory answered the instruction fetch with an error");
  } else if (request.answer == link::LineRequest::Answer::late_hit) {
    late_.push_back({group.id, word()});
    return ::tlm::TLM_COMPLETED;
  } else if (ArrivedWord& arrived = arrived_[group.id]; !state_.machine.icache.enabled || arrived.misses > 1) {
    // There is no cache, or other groups' lines drove this line out before it was read: without the word that came with
    // the line two groups could take one frame from each other for ever.
    arrived.word = word();
    arrived.valid = true;
  }
  state_.groups.set_state(group, GroupState::ready);
  return ::tlm::TLM_COMPLETED;
}

IdleCause FetchStage::idle_cause() const {
  const GroupTable& groups = state_.groups;
  const struct {
    unsigned count;
    IdleCause cause;
  } candidates[] = {{groups.count(GroupState::memory), IdleCause::memory},
                    {groups.count(GroupState::barrier), IdleCause::barrier},
                    {groups.count(GroupState::parked), IdleCause::reconvergence},
                    {groups.count(GroupState::complex), IdleCause::complex},
                    {groups.count(GroupState::throttled), IdleCause::throttled},
                    {groups.count(GroupState::queueing), IdleCause::memory_queue},
                    {groups.count(GroupState::fetching), IdleCause::icache},
                    {groups.count(GroupState::in_flight), IdleCause::pipeline}};
  unsigned most = 0;
  IdleCause cause = state_.flushing ? IdleCause::flush : IdleCause::no_work;
  for (const auto& candidate : candidates) {
    if (candidate.count > most) {
      most = candidate.count;
      cause = candidate.cause;
    }
  }
  return cause;
}

void FetchStage::reset() {
  waiting_ = nullptr;
  late_.clear();
  std::fill(queueing_.begin(), queueing_.end(), 0);
  if (by_lane_ != nullptr) {
    std::fill(by_lane_->rows.begin(), by_lane_->rows.end(), ByLane::Row{});
    by_lane_->begun.reset();
  }
  std::fill(arrived_.begin(), arrived_.end(), ArrivedWord{});
}

}  // namespace heddle::hw
