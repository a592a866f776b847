#include "tb/measure/trace/kanata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/set_bits.hpp"
#include "hw/core/memory/memory_access.hpp"
#include "hw/state/core_state.hpp"

namespace heddle::tb {

namespace {

const char* stage_name(hw::CoreStage stage) {
  static constexpr const char* kNames[] = {"F", "D", "R", "X", "M", "W", "W", "A"};
  return kNames[static_cast<std::size_t>(stage)];
}

template <class... Values>
void put(std::string& to, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(to), format, std::forward<Values>(values)...);
}

std::string rows_text(const link::SubWarp& sub_warp) {
  if (sub_warp.uniform) {
    return fmt::format("row {}", sub_warp.first_row);
  }
  std::vector<unsigned> rows;
  for (const unsigned lane : set_bits(sub_warp.lanes)) {
    rows.push_back(sub_warp.row[lane]);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return fmt::format("rows {}", fmt::join(rows, " "));
}

std::uint64_t thread_number(const hw::CoreState& core, hw::GroupId group) {
  return core.index * std::uint64_t{65536} + group;
}

// Of a core of several sub-cores with which of them.
std::string core_name(const hw::CoreState& core) {
  return core.machine.core.sub_cores == 1 ? fmt::format("{}", core.in_core)
                                          : fmt::format("{}.{}", core.in_core, core.sub_core);
}

std::string_view cause_name(hw::IdleCause cause) {
  return hw::kIdleCauses[static_cast<std::size_t>(cause)].name;
}

}  // namespace

KanataLog::KanataLog(std::ostream& out, const CycleWindow& window) : out_(out), window_(window) {
  out_ << "Kanata\t0004\n";
}

void KanataLog::write_cycle() {
  const bool others = !held_.empty();
  for (const auto& [core, resting] : resting_) {
    if (resting.cycle <= cycle_) {
      held_.insert(resting.holds.begin(), resting.holds.end());
    }
  }
  std::string text;
  for (const auto& [id, cause] : held_before_) {
    const auto still = held_.find(id);
    if (still == held_.end() || still->second != cause) {
      put(text, "E\t{}\t1\t{}\n", id, cause_name(cause));
    }
  }
  text += due_;
  text += now_;
  for (const auto& [id, cause] : held_) {
    const auto before = held_before_.find(id);
    if (before == held_before_.end() || before->second != cause) {
      put(text, "S\t{}\t1\t{}\n", id, cause_name(cause));
    }
  }
  steady_ = text.empty() && !others;
  if (!text.empty()) {
    if (!begun_) {
      out_ << "C=\t" << cycle_ << '\n';
      begun_ = true;
    } else if (cycle_ != written_) {
      out_ << "C\t" << cycle_ - written_ << '\n';
    }
    written_ = cycle_;
    out_ << text;
  }
  due_ = std::move(next_);
  next_.clear();
  now_.clear();
  held_before_ = std::move(held_);
  held_.clear();
  ++cycle_;
}

bool KanataLog::advance(hw::Cycle now) {
  if (over_) {
    return false;
  }
  const hw::Cycle until = std::min(now, window_.to == link::kNever ? link::kNever : window_.to + 1);
  while (cycle_ < until) {
    const bool nothing = held_before_.empty() && resting_.empty();
    if (now_.empty() && due_.empty() && held_.empty() && next_.empty() && (nothing || steady_)) {
      cycle_ = until;
      break;
    }
    write_cycle();
  }
  if (now > window_.to) {
    flush_rows();
    write_cycle();
    over_ = true;
    return false;
  }
  return now >= window_.from;
}

// Rows that nothing more is known of leave the picture, in the order of their numbers.
void KanataLog::flush_rows() {
  std::vector<Row> left;
  left.reserve(rows_.size() + splits_.size());
  resting_.clear();
  steady_ = false;
  for (const auto& [sub_warp, row] : rows_) {
    left.push_back(row);
  }
  for (const auto& [thread, row] : splits_) {
    left.push_back(row);
  }
  std::sort(left.begin(), left.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
  for (const Row& row : left) {
    put(now_, "E\t{}\t0\t{}\nR\t{}\t{}\t1\n", row.id, row.next, row.id, next_retired_++);
  }
  rows_.clear();
  splits_.clear();
}

void KanataLog::finish() {
  advance(latest_rest_);
  if (!over_) {
    // What is due in the next cycle, then the rows that are left.
    if (!next_.empty() || !held_.empty() || !now_.empty() || !due_.empty() || !held_before_.empty()) {
      write_cycle();
    }
    flush_rows();
    write_cycle();
    over_ = true;
  }
  out_.flush();
}

KanataLog::Row* KanataLog::find(const link::SubWarp& sub_warp) {
  const auto found = rows_.find(&sub_warp);
  return found == rows_.end() ? nullptr : &found->second;
}

KanataLog::Row KanataLog::open_row(std::uint64_t thread, const char* stage) {
  const Row row{next_id_++, stage};
  put(now_, "I\t{}\t{}\t{}\n", row.id, row.id, thread);
  return row;
}

// It leaves after this cycle.
void KanataLog::close(const Row& row) {
  put(next_, "E\t{}\t0\t{}\nR\t{}\t{}\t0\n", row.id, row.next, row.id, next_retired_++);
}

void KanataLog::describe_block(const Row& row, const hw::CoreState& core, const hw::Group& group) {
  const isa::Dim3& block = core.block(group.block_slot).index;
  put(now_, "L\t{}\t1\t{}, block ({}, {}, {}), warp {} of it\\n\n", row.id, kernels_[core.launch->id], block.x, block.y,
      block.z, group.warp_in_block);
}

KanataLog::Row& KanataLog::add_row(const hw::CoreState& core, const link::SubWarp& sub_warp, const char* stage) {
  Row& row = rows_[&sub_warp] = open_row(thread_number(core, sub_warp.group), stage);
  const hw::Group& group = core.groups[sub_warp.group];
  put(now_, "L\t{}\t0\tc{} g{} {:4}: {}\n", row.id, core_name(core), sub_warp.group, sub_warp.pc,
      texts_.of(sub_warp.word));
  describe_block(row, core, group);
  put(now_, "S\t{}\t0\t{}\n", row.id, stage);
  return row;
}

// The row is in another stage from the next cycle on.
void KanataLog::go(Row& row, const char* stage) {
  if (std::string_view(row.next) == stage) {
    return;
  }
  put(next_, "E\t{}\t0\t{}\nS\t{}\t0\t{}\n", row.id, row.next, row.id, stage);
  row.next = stage;
}

void KanataLog::launching(const LaunchInfo& launch) {
  kernels_[launch.id] = launch.kernel.name;
}

void KanataLog::launched(const LaunchInfo& launch, bool /*complete*/) {
  kernels_.erase(launch.id);
  advance(latest_rest_);
  if (kernels_.empty() && !over_ && !(rows_.empty() && splits_.empty())) {
    write_cycle();
    flush_rows();
  }
}

void KanataLog::split_made(const hw::CoreState& core, const hw::Group& made, const hw::Group& rest,
                           hw::SplitCause cause) {
  if (!advance(core.now)) {
    return;
  }
  const std::uint64_t thread = thread_number(core, made.id);
  const Row& row = splits_[thread] = open_row(thread, "Sp");
  put(now_, "L\t{}\t0\tc{} g{} split of g{}: {} [{:08x}]\n", row.id, core_name(core), made.id, rest.id,
      hw::name_of(cause), made.active[0]);
  describe_block(row, core, made);
  put(now_, "L\t{}\t1\tsplit in cycle {} ({}): lanes {:08x} at PC {}, leaving {:08x} at PC {} in g{}\\n\n", row.id,
      core.now, hw::name_of(cause), made.active[0], made.pc, rest.active[0], rest.pc, rest.id);
  put(now_, "S\t{}\t0\t{}\n", row.id, row.next);
}

void KanataLog::split_ended(const hw::CoreState& core, const hw::Group& split, const hw::Group& into,
                            hw::SplitEnd end) {
  if (!advance(core.now)) {
    return;
  }
  const auto found = splits_.find(thread_number(core, split.id));
  if (found == splits_.end()) {
    return;  // made before the window, or the group that its splits had left
  }
  const Row& row = found->second;
  put(now_, "L\t{}\t1\tended in cycle {} at PC {} ({})", row.id, core.now, split.pc, hw::name_of(end));
  if (into.id != split.id) {
    put(now_, ", joins g{} of lanes {:08x}", into.id, into.active[0]);
  }
  now_ += "\\n\n";
  close(row);
  splits_.erase(found);
}

void KanataLog::fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  if (advance(core.now)) {
    add_row(core, sub_warp, "F");
  }
}

void KanataLog::formed(const hw::CoreState& core, const link::SubWarp& sub_warp, const link::SubWarp& instruction) {
  if (!advance(core.now)) {
    return;
  }
  const Row* const of = find(instruction);
  if (of == nullptr) {
    return;  // fetched before the window
  }
  const std::uint64_t producer = of->id;
  const Row& row = &sub_warp == &instruction ? *of : add_row(core, sub_warp, "D");
  put(now_, "L\t{}\t0\t  [{:08x}]{}\n", row.id, sub_warp.lanes, sub_warp.scalar ? " scalar" : "");
  put(now_, "L\t{}\t1\tlanes {:08x}, register {}{}{}\\n\n", row.id, sub_warp.lanes, rows_text(sub_warp),
      sub_warp.last ? ", the last of its instruction" : "",
      sub_warp.scalar ? ", one lane for all threads of the warp" : "");
  if (row.id != producer) {
    put(now_, "W\t{}\t{}\t0\n", row.id, producer);
  }
}

void KanataLog::entered(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage stage) {
  if (advance(core.now)) {
    if (Row* const row = find(sub_warp)) {
      go(*row, stage_name(stage));
    }
  }
}

void KanataLog::put_aside(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  if (advance(core.now)) {
    if (Row* const row = find(sub_warp)) {
      go(*row, "Mw");
    }
  }
}

void KanataLog::gathered(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  if (advance(core.now)) {
    if (Row* const row = find(sub_warp)) {
      go(*row, "Mg");
    }
  }
}

void KanataLog::held(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::CoreStage /*stage*/,
                     hw::IdleCause cause, hw::Cycle first, hw::Cycle cycles) {
  if (resting_.contains(core.index)) {  // which shows it; it may be the last that is told of a run
    latest_rest_ = std::max(latest_rest_, first + cycles - 1);
    return;
  }
  if (first != core.now || !advance(core.now)) {
    return;
  }
  if (const Row* const row = find(sub_warp)) {
    HoldsOfCore& latest = latest_[core.index];
    if (latest.cycle != core.now) {
      latest = {core.now, {}};
    }
    latest.holds[row->id] = held_[row->id] = cause;
  }
}

void KanataLog::rests(const hw::CoreState& core) {
  const HoldsOfCore& latest = latest_[core.index];
  const bool within = advance(core.now) && latest.cycle == core.now;
  resting_[core.index] = {core.now + 1, within ? latest.holds : Holds()};
  steady_ = false;
}

void KanataLog::rested(const hw::CoreState& core, hw::Cycle now) {
  advance(now);
  resting_.erase(core.index);
  steady_ = false;
}

void KanataLog::issued(const hw::CoreState& core, const link::SubWarp& sub_warp, hw::Cycle /*last*/) {
  if (advance(core.now)) {
    if (const Row* const row = find(sub_warp); row != nullptr && sub_warp.executing != sub_warp.lanes) {
      put(now_, "L\t{}\t1\tguard true in {:08x}\\n\n", row->id, sub_warp.executing);
    }
  }
}

void KanataLog::accessed(const hw::CoreState& core, const hw::MemoryAccess& access, hw::Cycle scratchpad_last) {
  if (!advance(core.now)) {
    return;
  }
  const Row* const row = find(*access.sub_warp);
  if (row == nullptr) {
    return;
  }
  if (access.shared != 0) {
    put(now_, "L\t{}\t1\tscratchpad: {} cycles\\n\n", row->id, scratchpad_last - core.now + 1);
  }
  if (access.on_chip != 0) {
    put(now_, "L\t{}\t1\tprivate memory: {} cycles\\n\n", row->id, scratchpad_last - core.now + 1);
  }
  if (access.count == 0) {
    return;
  }
  constexpr unsigned kShown = 4;
  put(now_, "L\t{}\t1\t{} lines:", row->id, access.count);
  for (unsigned i = 0; i < std::min(access.count, kShown); ++i) {
    put(now_, " {:#x}", access.lines[i].address);
  }
  now_ += access.count > kShown ? " ...\\n\n" : "\\n\n";
}

// A row of its own, that begins where the threads leave the sub-warp which goes on waiting.
void KanataLog::parted(const hw::CoreState& core, const link::SubWarp& part, const link::SubWarp& rest) {
  if (!advance(core.now)) {
    return;
  }
  const Row* const of = find(rest);
  if (of == nullptr) {
    return;  // fetched before the window
  }
  const std::uint64_t producer = of->id;
  put(now_, "L\t{}\t1\tlanes {:08x} leave\\n\n", producer, part.lanes);
  const Row& row = add_row(core, part, "Mw");
  put(now_, "L\t{}\t0\t  [{:08x}]\n", row.id, part.lanes);
  put(now_, "W\t{}\t{}\t0\n", row.id, producer);
}

void KanataLog::retired(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  if (!advance(core.now)) {
    return;
  }
  if (const Row* const row = find(sub_warp)) {
    close(*row);
    rows_.erase(&sub_warp);
  }
}

}  // namespace heddle::tb
