#include "hw/core/share/bulk_copies.hpp"

#include <algorithm>
#include <cstring>

#include "isa/barrier_object.hpp"

namespace heddle::hw {

BulkCopies::BulkCopies(const sc_core::sc_module_name& name, const BulkCopyParameters& parameters, unsigned line_bytes,
                       unsigned ports, link::Clock clock)
    : sc_core::sc_module(name),
      in("in", ports),
      lines("lines"),
      scratchpad("scratchpad"),
      parameters_(parameters),
      line_bytes_(line_bytes),
      clock_(clock),
      port_(scratchpad, clock) {
  for (unsigned port = 0; port != ports; ++port) {
    ports_.push_back(std::make_unique<Port>(*this, static_cast<std::uint8_t>(port)));
    in[port].bind(*ports_.back());
  }
  lines.bind(*this);
}

::tlm::tlm_sync_enum BulkCopies::Port::nb_transport_fw(BulkCopy& copy, BulkCopyPhase&, sc_core::sc_time&) {
  if (unit.waiting_.size() >= unit.parameters_.queue) {
    ++unit.statistics_.full;
    return ::tlm::TLM_UPDATED;
  }
  copy.failed = false;
  copy.port = number;
  copy.begins = unit.clock_.now() + unit.parameters_.latency;
  copy.asked = copy.under_way = 0;
  unit.waiting_.push_back(&copy);
  ++unit.under_way_;
  unit.tell_observer();
  return ::tlm::TLM_ACCEPTED;
}

link::Cycle BulkCopies::advance(link::Cycle now) {
  if (waiting_.empty() || now < waiting_.front()->begins) {
    return next(now);
  }
  BulkCopy& copy = *waiting_.front();
  if (copy.asked != copy.request.bytes && !ask_for_line(copy)) {
    ++statistics_.refused;
    return now + 1;
  }
  if (copy.asked == copy.request.bytes) {
    waiting_.pop_front();
    look(copy);
  }
  tell_observer();
  return next(now);
}

bool BulkCopies::ask_for_line(BulkCopy& copy) {
  if (free_.empty()) {
    free_.push_back(all_.emplace_back(std::make_unique<Line>()).get());
  }
  Line& line = *free_.back();
  line.copy = &copy;
  line.from = copy.request.from + copy.asked;
  const std::uint64_t offset = line.from % line_bytes_;
  line.bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(line_bytes_ - offset, copy.request.bytes - copy.asked));
  line.address = line.from - offset;
  line.bypass = true;
  const std::uint64_t first = offset / link::kPartBytes;
  const std::uint64_t last = (offset + line.bytes - 1) / link::kPartBytes;
  line.parts = static_cast<std::uint8_t>((2U << last) - (1U << first));
  line.core = copy.core;
  line.group = copy.group;
  line.pc = copy.pc;
  line.failed = false;
  link::LinePhase phase = link::LinePhase::request;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const ::tlm::tlm_sync_enum answer = lines->nb_transport_fw(line, phase, delay);
  if (answer == ::tlm::TLM_UPDATED) {
    return false;
  }
  ++statistics_.lines;
  if (observer_ != nullptr) {
    observer_->asked(line.address);
  }
  copy.asked += line.bytes;
  if (answer == ::tlm::TLM_COMPLETED) {
    write(line);
    return true;
  }
  free_.pop_back();
  ++copy.under_way;
  return true;
}

::tlm::tlm_sync_enum BulkCopies::nb_transport_bw(link::LineRequest& request, link::LinePhase&, sc_core::sc_time&) {
  Line& line = static_cast<Line&>(request);
  BulkCopy& copy = *line.copy;
  write(line);
  free_.push_back(&line);
  --copy.under_way;
  if (copy.asked == copy.request.bytes) {
    look(copy);
  }
  tell_observer();
  return ::tlm::TLM_COMPLETED;
}

void BulkCopies::write(const Line& line) {
  BulkCopy& copy = *line.copy;
  copy.failed = copy.failed || line.failed;
  if (line.failed) {
    return;
  }
  const std::uint32_t to = copy.request.to + static_cast<std::uint32_t>(line.from - copy.request.from);
  const std::uint32_t words = line.bytes / 4;
  for (std::uint32_t first = 0; first < words; first += isa::kLanes) {
    const std::uint32_t lanes = std::min<std::uint32_t>(words - first, isa::kLanes);
    access_.lanes = ~isa::LaneMask{0} >> (isa::kLanes - lanes);
    access_.bytes = 4;
    access_.atomic = false;
    for (std::uint32_t lane = 0; lane != lanes; ++lane) {
      access_.address[lane] = to + 4 * (first + lane);
    }
    static_cast<void>(port_.cycles(access_));
  }
  if (!copy.timed_only) {
    std::memcpy(port_.data() + to, line.line + line.from % line_bytes_, line.bytes);
  }
}

void BulkCopies::count(const BulkCopy& copy) {
  access_.lanes = 1;
  access_.bytes = sizeof(std::uint64_t);
  access_.atomic = true;
  access_.address[0] = copy.request.barrier;
  static_cast<void>(port_.cycles(access_));
  if (!copy.timed_only) {
    std::byte* const at = port_.data() + copy.request.barrier;
    std::uint64_t object = 0;
    std::memcpy(&object, at, sizeof object);
    object = isa::barrier_object::after(object, isa::barrier_object::bytes_come(copy.request.bytes));
    std::memcpy(at, &object, sizeof object);
  }
}

void BulkCopies::look(BulkCopy& copy) {
  if (copy.under_way != 0) {
    return;
  }
  if (!copy.failed) {
    count(copy);
    ++statistics_.copies;
    statistics_.bytes += copy.request.bytes;
  }
  --under_way_;
  const unsigned port = copy.port;
  answered(port);
  BulkCopyPhase phase = BulkCopyPhase::response;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  in[port]->nb_transport_bw(copy, phase, delay);
}

}  // namespace heddle::hw
