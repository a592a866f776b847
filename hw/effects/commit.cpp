#include "hw/effects/commit.hpp"

#include <array>
#include <bit>
#include <iterator>

#include "base/set_bits.hpp"
#include "hw/effects/each_row.hpp"
#include "hw/issue/discipline.hpp"

namespace heddle::hw {

namespace {

void blend(LaneMask& into, LaneMask from, LaneMask where) {
  into = (from & where) | (into & ~where);
}

// fold() for a sub-warp of several rows; false: some row is not a home's alone, and nothing has happened. Each row's
// hashes are folded where they are: to gather them first, and scatter them then, takes as long for four rows and longer
// for fewer.
bool fold_rows(const std::vector<RowThreads>& rows, const link::SubWarp& sub_warp, LaneMask lanes) {
  std::array<std::uint32_t*, link::SubWarp::kMostRows> of_row;
  for (unsigned index = 0; index != sub_warp.row_count; ++index) {
    const ThreadHome* const home = rows[sub_warp.rows[index].row].whole();
    if (home == nullptr || home->threads != isa::kLanes) {
      return false;
    }
    of_row[index] = home->hashes;
  }
  for (unsigned index = 0; index != sub_warp.row_count; ++index) {
    isa::retire(sub_warp.decoded->form, sub_warp.pc, sub_warp.rows[index].lanes & lanes, sub_warp.values,
                sub_warp.address_low, of_row[index]);
  }
  return true;
}

// fold() for threads of any home: thread_of(lane) says which.
template <class ThreadOf>
void fold_each(ThreadOf thread_of, const link::DecodedInstruction& decoded, std::uint32_t pc, LaneMask lanes,
               const isa::LaneValues& values, const isa::LaneWord& address) {
  alignas(64) isa::LaneWord hashes;
  for (const unsigned lane : set_bits(lanes)) {
    hashes[lane] = thread_of(lane).hash();
  }
  isa::retire(decoded.form, pc, lanes, values, address, hashes);
  for (const unsigned lane : set_bits(lanes)) {
    thread_of(lane).hash() = hashes[lane];
  }
}

}  // namespace

void write_results(RegisterArray& registers, const link::SubWarp& sub_warp, LaneMask lanes) {
  const isa::ResultForm& form = sub_warp.decoded->form;
  const isa::LaneValues& values = sub_warp.values;
  if (sub_warp.uniform) {
    registers.write_row(sub_warp.first_row, form, values, lanes);
    return;
  }
  if (sub_warp.row_count != 0) {
    for (unsigned index = 0; index != sub_warp.row_count; ++index) {
      registers.write_row(sub_warp.rows[index].row, form, values, sub_warp.rows[index].lanes & lanes);
    }
    return;
  }
  for (const unsigned lane : set_bits(lanes)) {
    const unsigned home = sub_warp.home_of(lane);
    const unsigned row = sub_warp.row[lane];
    for (unsigned word = 0; word < form.words; ++word) {
      registers.word(row, form.dst + word)[home] = values.result[word][lane];
    }
    if (form.p != isa::kPT) {
      blend(registers.predicate(row, form.p), ((values.p >> lane) & 1U) << home, LaneMask{1} << home);
    }
    if (form.q != isa::kPT) {
      blend(registers.predicate(row, form.q), ((values.q >> lane) & 1U) << home, LaneMask{1} << home);
    }
  }
}

void fold_few(const ThreadHome& home, const link::DecodedInstruction& decoded, std::uint32_t pc, LaneMask lanes,
              const isa::LaneValues& values, const isa::LaneWord& address) {
  if (home.hashes != nullptr) {
    alignas(64) isa::LaneWord hashes;
    std::copy_n(home.hashes, home.threads, hashes.begin());
    isa::retire(decoded.form, pc, lanes, values, address, hashes);
    std::copy_n(hashes.begin(), home.threads, home.hashes);
  }
}

Retirement::Retirement(CoreState& state)
    : state_(state),
      overlaps_(about<IssueDiscipline>(state.core.issue).traits.overlaps),
      out_of_order_(stalls_on_use(state.core)) {}

void Retirement::results(const link::SubWarp& sub_warp, RegisterArray* registers) {
  // In a replay there are no values, and forwarded ones are there already.
  if (registers != nullptr && state_.replay == nullptr && !sub_warp.forwarded) {
    write_results(*registers, sub_warp, sub_warp.executing);
  }
  hash(sub_warp, sub_warp.executing);
}

void Retirement::results_for_warp(link::SubWarp& sub_warp, RegisterArray& registers) {
  const Group& group = state_.groups[sub_warp.group];
  const auto lane = static_cast<unsigned>(std::countr_zero(sub_warp.executing));
  isa::LaneValues& values = sub_warp.values;
  for (unsigned word = 0; word < sub_warp.decoded->form.words; ++word) {
    const std::uint32_t value = values.result[word][lane];
    values.result[word].fill(value);
  }
  values.p = 0U - ((values.p >> lane) & 1U);
  values.q = 0U - ((values.q >> lane) & 1U);
  const std::uint16_t own_row = sub_warp.first_row;
  for (unsigned row = 0; row < group.rows(); ++row) {
    sub_warp.first_row = static_cast<std::uint16_t>(group.first_row + row);
    write_results(registers, sub_warp, group.active[row]);
    hash(sub_warp, group.active[row]);
  }
  sub_warp.first_row = own_row;
}

void Retirement::count(const link::SubWarp& sub_warp) {
  const auto working = static_cast<unsigned>(std::popcount(working_lanes(sub_warp)));
  count(*sub_warp.decoded, working);
  if (sub_warp.whole && working != 0) {
    state_.statistics.thread_instructions += state_.groups[sub_warp.group].active_threads() - working;
  }
}

namespace {

// Copies what fold_in() reads of a sub-warp, which is much less than all of it.
void keep(link::SubWarp& kept, const link::SubWarp& of) {
  kept.group = of.group;
  kept.pc = of.pc;
  kept.decoded = of.decoded;
  kept.lanes = of.lanes;
  kept.whole = of.whole;
  kept.scalar = of.scalar;
  kept.uniform = of.uniform;
  kept.first_row = of.first_row;
  kept.displaced = of.displaced;
  kept.row_count = of.row_count;
  if (!of.uniform) {
    kept.row = of.row;
    kept.rows = of.rows;
    kept.home = of.home;
  }
  const isa::ResultForm& form = of.decoded->form;
  for (unsigned word = 0; word < static_cast<unsigned>(form.words + form.stored); ++word) {
    kept.values.result[word] = of.values.result[word];
  }
  kept.values.p = of.values.p;
  kept.values.q = of.values.q;
  if (form.address) {
    kept.address_low = of.address_low;
  }
}

// The number of the group's oldest instruction that has not completed; none: above all of its instructions'.
std::uint64_t oldest_under_way(const Group& group) {
  std::uint64_t oldest = ~std::uint64_t{0};
  for (const unsigned flight : set_bits(group.under_way)) {
    oldest = std::min(oldest, group.flights[flight].number);
  }
  return oldest;
}

}  // namespace

void Retirement::hash(const link::SubWarp& sub_warp, LaneMask lanes) {
  if (state_.launch->hashes == nullptr || lanes == 0) {
    return;
  }
  const Group& group = state_.groups[sub_warp.group];
  const std::uint64_t number = group.flights[sub_warp.flight].number;
  if (out_of_order_ && oldest_under_way(group) < number) {
    if (held_.size() <= group.id) {
      held_.resize(state_.groups.size());
    }
    // In program order; most come in it.
    std::vector<std::unique_ptr<Held>>& held = held_[group.id];
    auto at = held.end();
    while (at != held.begin() && (*std::prev(at))->number > number) {
      --at;
    }
    if (spare_.empty()) {
      spare_.push_back(std::make_unique<Held>());
    }
    Held& kept = **held.insert(at, std::move(spare_.back()));
    spare_.pop_back();
    keep(kept.sub_warp, sub_warp);
    kept.number = number;
    kept.lanes = lanes;
    kept.active = group.active;
    return;
  }
  fold_in(sub_warp, lanes, group.active);
}

void Retirement::fold_held(GroupId id) {
  const Group& group = state_.groups[id];
  std::vector<std::unique_ptr<Held>>& held = held_[id];
  const std::uint64_t under_way = oldest_under_way(group);
  auto next = held.begin();
  for (; next != held.end() && (*next)->number <= under_way; ++next) {
    fold_in((*next)->sub_warp, (*next)->lanes, (*next)->active);
    spare_.push_back(std::move(*next));
  }
  held.erase(held.begin(), next);
}

// `active`: the group's threads when the instruction retired.
void Retirement::fold_in(const link::SubWarp& sub_warp, LaneMask lanes, const std::vector<LaneMask>& active) {
  if (sub_warp.whole && !sub_warp.scalar) {
    hash_group(state_.groups[sub_warp.group], active, sub_warp);
    return;
  }
  if (const ThreadHome* const home = sub_warp.uniform ? state_.rows[sub_warp.first_row].whole() : nullptr) {
    fold(*home, *sub_warp.decoded, sub_warp.pc, lanes, sub_warp.values, sub_warp.address_low);
    return;
  }
  if (sub_warp.row_count != 0 && fold_rows(state_.rows, sub_warp, lanes)) {
    return;
  }
  fold_each([&](unsigned lane) { return state_.thread_at(sub_warp, lane); }, *sub_warp.decoded, sub_warp.pc, lanes,
            sub_warp.values, sub_warp.address_low);
}

// An unconditional branch that was taken once for the whole warp retires in each of its threads; it has no result. A
// thread that is still in flight with an earlier instruction (relaxed issue) retires the branch after that one.
void Retirement::hash_group(const Group& group, const std::vector<LaneMask>& group_active,
                            const link::SubWarp& sub_warp) {
  in_flight_.assign(group.rows(), 0);
  bool any_late = false;
  if (overlaps_) {
    std::copy(group.busy.begin(), group.busy.end(), in_flight_.begin());
    each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) { in_flight_[row] &= ~lanes; });
  }
  for (unsigned row = 0; row < group.rows(); ++row) {
    const LaneMask active = group_active[row];
    if (const LaneMask now = active & ~in_flight_[row]; now != 0) {
      hash_jump(group, row, now, *sub_warp.decoded, sub_warp.pc);
    }
    in_flight_[row] &= active;
    any_late = any_late || in_flight_[row] != 0;
  }
  if (any_late) {
    late_jumps_.push_back({group.id, sub_warp.decoded, sub_warp.pc, in_flight_});
  }
}

void Retirement::hash_jump(const Group& group, unsigned row, LaneMask lanes, const link::DecodedInstruction& decoded,
                           std::uint32_t pc) {
  static const isa::LaneValues kNoValues{};
  static const isa::LaneWord kNoAddress{};
  const RowThreads& threads = state_.rows[group.first_row + row];
  if (const ThreadHome* const home = group.dynamic ? nullptr : threads.whole()) {
    fold(*home, decoded, pc, lanes, kNoValues, kNoAddress);
    return;
  }
  fold_each([&](unsigned lane) { return state_.thread_at(group.row_of(row, lane), group.home_of(lane)); }, decoded, pc,
            lanes, kNoValues, kNoAddress);
}

void Retirement::retire_late_jumps(const link::SubWarp& sub_warp) {
  const Group& group = state_.groups[sub_warp.group];
  each_row(group, sub_warp, sub_warp.lanes, [&](unsigned row, LaneMask lanes) {
    for (LateJump& late : late_jumps_) {
      if (late.group == group.id && (late.rows[row] & lanes) != 0) {
        hash_jump(group, row, late.rows[row] & lanes, *late.decoded, late.pc);
        late.rows[row] &= ~lanes;
      }
    }
  });
  std::erase_if(late_jumps_, [](const LateJump& late) { return late.done(); });
}

}  // namespace heddle::hw
