#include "tb/measure/trace/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/gpu/gpu.hpp"
#include "hw/state/core_state.hpp"
#include "tb/measure/trace/tap_pair.hpp"
#include "tlm/memory_extension.hpp"

namespace heddle::tb {

namespace {

using Link = hw::TapPlace::Link;

constexpr std::uint64_t kBlockTracks = 1 << 20;  // block slots' tracks come behind the groups'

// A JSON string's contents.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      out += letter;
    }
  }
  return out;
}

const char* state_name(hw::GroupState state) {
  static constexpr const char* kNames[hw::kGroupStates] = {"free",    "ready",   "fetching", "in flight", "memory",
                                                           "complex", "barrier", "parked",   "throttled", "queueing"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace

// Shows one connection's requests and responses.
class ChromeTrace::Tap final : public link::ChannelTap {
 public:
  Tap(const sc_core::sc_module_name& name, ChromeTrace& trace, const hw::TapPlace& place, link::Clock clock)
      : link::ChannelTap(name), trace_(trace), place_(place), clock_(clock) {}

 private:
  void request(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) override {
    trace_.requested(place_, payload, clock_.visible_after(delay));
  }
  void response(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) override {
    trace_.responded(place_, payload, clock_.visible_after(delay));
  }
  ChromeTrace& trace_;
  const hw::TapPlace place_;
  link::Clock clock_;
};

class ChromeTrace::Channel final : public hw::DramObserver {
 public:
  Channel(ChromeTrace& trace, unsigned channel) : trace_(trace), channel_(channel) {}
  void access(const hw::DramRequest& request, hw::Cycle now) override { trace_.accessing(channel_, request, now); }

 private:
  ChromeTrace& trace_;
  unsigned channel_;
};

ChromeTrace::ChromeTrace(std::ostream& out, const CycleWindow& window) : out_(out), window_(window) {
  out_ << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[";
}

ChromeTrace::~ChromeTrace() = default;

hw::MakeTap ChromeTrace::taps(hw::MakeTap other) {
  return [this, other = std::move(other)](const hw::TapPlace& place, link::Clock clock) -> std::unique_ptr<link::Tap> {
    std::unique_ptr<link::Tap> theirs = other ? other(place, clock) : nullptr;
    if (place.link == Link::control || place.link == Link::memory) {
      return theirs;
    }
    auto ours = std::make_unique<Tap>(("pipeline_" + place.text()).c_str(), *this, place, clock);
    if (!theirs) {
      return ours;
    }
    return std::make_unique<TapPair>(("pair_" + place.text()).c_str(), std::move(ours), std::move(theirs));
  };
}

void ChromeTrace::event(const std::string& members) {
  out_ << (first_ ? "\n{" : ",\n{") << members << '}';
  first_ = false;
}

void ChromeTrace::name_track(unsigned process, std::uint64_t track, const std::string& name) {
  event(fmt::format(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}})", process, track,
                    escaped(name)));
}

void ChromeTrace::attached(hw::Gpu& gpu) {
  clock_ = gpu.clock();
  cores_ = static_cast<unsigned>(gpu.sub_cores().size());
  const auto process = [this](unsigned number, const std::string& name) {
    event(fmt::format(R"("ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}})", number, name));
    event(fmt::format(R"("ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}})", number, number));
  };
  process(0, "GPU");
  for (unsigned core = 0; core < cores_; ++core) {
    const hw::CoreState& state = gpu.sub_cores()[core]->state();
    process(core + 1, state.machine.core.sub_cores == 1 ? fmt::format("core {}", core)
                                                        : fmt::format("core {}.{}", state.in_core, state.sub_core));
  }
  process(memory_process(), "memory");
  name_track(0, 0, "launches");
}

hw::DramObserver* ChromeTrace::dram(unsigned channel) {
  channels_.push_back(std::make_unique<Channel>(*this, channel));
  return channels_.back().get();
}

// ------------------------------------------------------------------------------------------------- tracks

// Writes a slice, as much of it as lies within the window.
void ChromeTrace::close(unsigned process, std::uint64_t track, Slice& slice, hw::Cycle end) {
  if (!std::exchange(slice.open, false)) {
    return;
  }
  const hw::Cycle from = std::max(slice.since, window_.from);
  const hw::Cycle to = window_.to == link::kNever ? end : std::min(end, window_.to + 1);
  if (to > from) {
    event(fmt::format(R"("ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}})", escaped(slice.name),
                      process, track, from, to - from, slice.arguments));
  }
}

// Launches side by side are below one another.
std::uint64_t ChromeTrace::free_launch_track() const {
  const auto taken = [this](std::uint64_t track) {
    return std::any_of(launches_.begin(), launches_.end(), [&](const auto& one) { return one.second.first == track; });
  };
  std::uint64_t track = 0;
  while (taken(track)) {
    ++track;
  }
  return track;
}

void ChromeTrace::launching(const LaunchInfo& launch) {
  const isa::LaunchRequest& request = launch.request;
  const std::uint64_t track = free_launch_track();
  launches_[launch.id] = {
      track,
      {launch.cycle, true, launch.kernel.name,
       fmt::format(R"("grid":"{}x{}x{}","block":"{}x{}x{}","warp size":{})", request.grid.x, request.grid.y,
                   request.grid.z, request.block.x, request.block.y, request.block.z, launch.warp_size)}};
}

void ChromeTrace::launched(const LaunchInfo& launch, bool complete) {
  const hw::Cycle now = clock_->now();
  if (launches_.size() == 1) {
    close_all();
  }
  auto& [track, slice] = launches_.at(launch.id);
  if (!complete) {
    slice.arguments += R"(,"complete":false)";
  }
  close(0, track, slice, now);
  launches_.erase(launch.id);
}

void ChromeTrace::close_all() {
  const hw::Cycle now = clock_->now();
  for (auto& [track, slice] : tracks_) {
    close(track.first, track.second, slice, now);
  }
}

void ChromeTrace::block_started(const hw::CoreState& core, unsigned block_slot) {
  const std::uint64_t track = kBlockTracks + block_slot;
  const auto [found, fresh] = tracks_.try_emplace({core.index + 1, track});
  if (fresh) {
    name_track(core.index + 1, track, fmt::format("block slot {}", block_slot));
  }
  const isa::Dim3& index = core.block(block_slot).index;
  found->second = {core.now, true, fmt::format("block ({}, {}, {})", index.x, index.y, index.z),
                   fmt::format(R"("linear":{})", core.block(block_slot).linear)};
}

void ChromeTrace::block_finished(const hw::CoreState& core, unsigned block_slot) {
  const std::uint64_t track = kBlockTracks + block_slot;
  close(core.index + 1, track, tracks_[{core.index + 1, track}], core.now);
}

void ChromeTrace::group_changed(const hw::CoreState& core, const hw::Group& group, hw::GroupState /*before*/) {
  const std::uint64_t track = group.id + 1;
  const auto [found, fresh] = tracks_.try_emplace({core.index + 1, track});
  if (fresh) {
    name_track(core.index + 1, track, fmt::format("group {}", group.id));
  }
  Slice& slice = found->second;
  close(core.index + 1, track, slice, core.now);
  std::string& instruction = instructions_[{core.index, group.id}];
  if (group.state == hw::GroupState::free) {
    instruction.clear();
    return;
  }
  slice = {core.now, true, state_name(group.state),
           fmt::format(R"("pc":{},"block":{},"warp":{},"threads":{})", group.pc, core.block(group.block_slot).linear,
                       group.warp_in_block, group.active_threads())};
  if (!instruction.empty()) {
    slice.arguments += fmt::format(R"(,"instruction":"{}")", escaped(instruction));
  }
}

// The group is in flight with this instruction.
void ChromeTrace::fetched(const hw::CoreState& core, const link::SubWarp& sub_warp) {
  std::string& instruction = instructions_[{core.index, sub_warp.group}];
  instruction = texts_.of(sub_warp.word);
  Slice& slice = tracks_[{core.index + 1, sub_warp.group + 1}];
  if (slice.open) {
    slice.name = instruction;
  }
}

// ------------------------------------------------------------------------------------------------- requests

void ChromeTrace::mark(const Request& request, char phase, const std::string& name, hw::Cycle at,
                       const std::string& arguments) {
  if (request.shown) {
    event(fmt::format(R"("ph":"{}","cat":"memory","id":{},"name":"{}","pid":{},"tid":0,"ts":{},"args":{{{}}})", phase,
                      request.id, name, memory_process(), at, arguments));
  }
}

void ChromeTrace::begin_request(const hw::TapPlace& place, const ::tlm::tlm_generic_payload& payload, hw::Cycle at) {
  Request request;
  request.id = next_request_++;
  request.origin = place.link;
  request.shown = window_.contains(at);
  const char* const kind = payload.is_read() ? "read" : payload.is_write() ? "write" : "atomic";
  request.name = fmt::format("{}{} {:#x}",
                             place.link == Link::instruction ? "instruction "
                             : place.link == Link::texture   ? "texture "
                             : place.link == Link::constants ? "constants "
                             : place.link == Link::channel   ? "L2 "
                                                             : "",
                             kind, payload.get_address());
  std::string arguments = fmt::format(R"("bytes":{})", payload.get_data_length());
  if (const auto* const extension = payload.get_extension<link::MemoryExtension>()) {
    arguments += fmt::format(R"(,"core":{},"group":{},"pc":{},"lanes":"{:#010x}","row hint":{})", extension->core,
                             extension->group, extension->pc, extension->lanes, extension->row_hint);
  }
  mark(request, 'b', request.name, at, arguments);
  requests_[&payload] = std::move(request);
}

void ChromeTrace::go(Request& request, const std::string& stage, hw::Cycle at, const std::string& arguments) {
  if (!request.stage.empty()) {
    mark(request, 'e', request.stage, at);
  }
  request.stage = stage;
  if (!stage.empty()) {
    mark(request, 'b', stage, at, arguments);
  }
}

void ChromeTrace::end_request(const ::tlm::tlm_generic_payload* payload, hw::Cycle at) {
  const auto found = requests_.find(payload);
  if (found == requests_.end()) {
    return;
  }
  go(found->second, {}, at);
  mark(found->second, 'e', found->second.name, at);
  requests_.erase(found);
}

void ChromeTrace::requested(const hw::TapPlace& place, const ::tlm::tlm_generic_payload& payload, hw::Cycle at) {
  if (place.link == Link::data || place.link == Link::instruction || place.link == Link::texture ||
      place.link == Link::constants) {
    begin_request(place, payload, at);
    go(requests_[&payload], "interconnect", at);
    return;
  }
  if (place.link == Link::channel && requests_.find(&payload) == requests_.end()) {
    begin_request(place, payload, at);
  }
  if (const auto found = requests_.find(&payload); found != requests_.end()) {
    go(found->second, place.link == Link::l2 ? "L2" : "DRAM queue", at, fmt::format(R"("channel":{})", place.index));
  }
}

void ChromeTrace::accessing(unsigned /*channel*/, const hw::DramRequest& request, hw::Cycle now) {
  const auto found = requests_.find(request.payload);
  if (found != requests_.end()) {
    go(found->second, "DRAM access", now,
       fmt::format(R"("bank":{},"row":{},"row hit":{})", request.location.bank, request.location.row, request.row_hit));
  }
}

void ChromeTrace::responded(const hw::TapPlace& place, const ::tlm::tlm_generic_payload& payload, hw::Cycle at) {
  const auto found = requests_.find(&payload);
  if (found == requests_.end()) {
    return;
  }
  if (place.link == found->second.origin) {
    end_request(&payload, at);
  } else {
    go(found->second, "return", at);
  }
}

void ChromeTrace::finish() {
  if (std::exchange(finished_, true)) {
    return;
  }
  if (clock_) {
    close_all();
    for (auto& [id, launch] : launches_) {
      close(0, launch.first, launch.second, clock_->now());
    }
    // What memory still owes, in the order in which it was asked.
    std::vector<std::pair<std::uint64_t, const ::tlm::tlm_generic_payload*>> left;
    for (const auto& [payload, request] : requests_) {
      left.emplace_back(request.id, payload);
    }
    std::sort(left.begin(), left.end());
    for (const auto& [id, payload] : left) {
      end_request(payload, clock_->now());
    }
  }
  out_ << "\n]}\n";
  out_.flush();
}

}  // namespace heddle::tb
