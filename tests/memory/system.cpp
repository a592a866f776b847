#include "system.hpp"

#include <algorithm>

namespace heddle::hw::test {

namespace {
ExpectedReports* expected = nullptr;
}

void fail_on_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  if (report.get_severity() == sc_core::SC_INFO) {
    return;
  }
  if (expected != nullptr && report.get_severity() == sc_core::SC_ERROR) {
    expected->messages.emplace_back(report.get_msg());
    return;
  }
  ADD_FAILURE() << report.get_msg_type() << ": " << report.get_msg();
  if (report.get_severity() == sc_core::SC_FATAL) {
    sc_core::sc_report_handler::default_handler(report, actions);
  }
}

ExpectedReports::ExpectedReports() {
  expected = this;
}
ExpectedReports::~ExpectedReports() {
  expected = nullptr;
}

ScriptCore::ScriptCore(const sc_core::sc_module_name& name, link::Clock clock, unsigned line_bytes)
    : ClockedModule(name, clock), socket("socket"), copies("copies"), line_bytes_(line_bytes) {
  socket.bind(*this);
  copies.bind(*this);
}

Access& ScriptCore::load(Cycle at, std::uint64_t line, bool bypass) {
  Access& access = script_.emplace_back();
  access.at = at;
  access.request.kind = LineRequest::Kind::load;
  access.request.bypass = bypass;
  access.request.address = line;
  return access;
}

Access& ScriptCore::store_word(Cycle at, std::uint64_t address, std::uint32_t value) {
  Access& access = store_line(at, address / line_bytes_ * line_bytes_, 0);
  const std::size_t offset = address % line_bytes_;
  std::fill(access.enable.begin(), access.enable.end(), std::uint8_t{0});
  std::memcpy(access.store.data() + offset, &value, 4);
  std::fill_n(access.enable.begin() + static_cast<std::ptrdiff_t>(offset), 4, std::uint8_t{0xff});
  return access;
}

Access& ScriptCore::store_line(Cycle at, std::uint64_t line, std::uint32_t value) {
  Access& access = script_.emplace_back();
  access.at = at;
  access.request.kind = LineRequest::Kind::store;
  access.request.address = line;
  access.store.resize(line_bytes_);
  access.enable.assign(line_bytes_, 0xff);
  for (unsigned i = 0; i != line_bytes_; i += 4) {
    std::memcpy(&access.store[i], &value, 4);
  }
  return access;
}

Access& ScriptCore::atomic_add(Cycle at, std::uint64_t line, const std::vector<std::uint32_t>& values, bool same_word) {
  Access& access = script_.emplace_back();
  access.at = at;
  access.request.kind = LineRequest::Kind::atomic;
  access.request.address = line;
  for (const std::uint32_t value : values) {
    const unsigned lane = access.lanes.count++;
    access.lanes.lane[lane] = static_cast<std::uint8_t>(lane);
    access.lanes.offset[lane] = same_word ? 0 : 4 * lane;
    access.lanes.b[lane] = value;
  }
  return access;
}

bool ScriptCore::offer(Access& access, Cycle now) {
  access.request.store_data = access.store.data();
  access.request.byte_enable = access.enable.data();
  access.request.atomic = &access.lanes;
  link::LinePhase phase = link::LinePhase::request;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  // The answer finds its access through the request: it is the access's first member.
  switch (socket->nb_transport_fw(access.request, phase, delay)) {
    case ::tlm::TLM_UPDATED:
      ++access.refusals;
      return false;
    case ::tlm::TLM_ACCEPTED:
      access.accepted = now;
      ++outstanding_;
      return true;
    case ::tlm::TLM_COMPLETED:
      access.accepted = now;
      access.answered = now;
      if (access.request.kind == LineRequest::Kind::load) {
        access.line.assign(access.request.line, access.request.line + line_bytes_);
      }
      if (on_answer) {
        on_answer(access);
      }
      return true;
  }
  return false;
}

::tlm::tlm_sync_enum ScriptCore::nb_transport_bw(LineRequest& request, link::LinePhase& /*phase*/,
                                                 sc_core::sc_time& /*delay*/) {
  auto& access = reinterpret_cast<Access&>(request);
  EXPECT_EQ(access.answered, kNever) << "answered twice";
  access.answered = clock().now();
  access.failed = request.failed;
  if (request.kind == LineRequest::Kind::load && !request.failed) {
    access.line.assign(request.line, request.line + line_bytes_);
  }
  --outstanding_;
  if (on_answer) {
    on_answer(access);
  }
  return ::tlm::TLM_COMPLETED;
}

::tlm::tlm_sync_enum ScriptCore::nb_transport_fw(link::Invalidation& line, link::InvalidationPhase& /*phase*/,
                                                 sc_core::sc_time& delay) {
  for (unsigned offset = 0; offset < line.bytes; offset += line_bytes_) {
    cache_->invalidate_line(line.address + offset, clock().visible_after(delay));
  }
  return ::tlm::TLM_COMPLETED;
}

Cycle ScriptCore::advance(Cycle now) {
  Cycle next = cache_->advance(now);
  if (each_cycle) {
    next = std::min(next, each_cycle(now));
  }
  while (next_ != script_.size()) {
    Access& access = script_[next_];
    if (access.at > now) {
      return std::min(next, access.at);
    }
    if (!offer(access, now)) {
      return now + 1;
    }
    ++next_;
  }
  return next;
}

MemorySystem::MemorySystem(const SystemParameters& parameters)
    : clock(sc_core::sc_time(1, sc_core::SC_NS)), prefix_(parameters.prefix) {
  const SliceOfAddress map(parameters.dram,
                           parameters.l2.enabled ? parameters.l2.line_bytes : parameters.cache.line_bytes,
                           parameters.l2.enabled ? parameters.l2.slices : 1, parameters.l2.slice_hash);
  if (parameters.reversed) {
    make_channels(parameters, map);
    make_cores(parameters);
  } else {
    make_cores(parameters);
    make_channels(parameters, map);
  }
  for (unsigned i = 0; i != parameters.cores; ++i) {
    connect(caches_[i]->memory, noc_->data[i], parameters.checked);
    if (probes_) {
      connect(probes_->channel[i], caches_[i]->probes, parameters.checked);
    }
  }
  for (unsigned i = 0; i != parameters.dram.channels; ++i) {
    connect_channel(parameters, i);
  }
}

void MemorySystem::connect_channel(const SystemParameters& parameters, unsigned index) {
  if (parameters.l2.enabled) {
    const unsigned slices = parameters.l2.slices;
    for (unsigned i = 0; i != slices; ++i) {
      L2Slice& slice = *slices_[index * slices + i];
      connect(noc_->channel[index * slices + i], slice.target, parameters.checked);
      if (slices == 1) {
        connect(slice.memory(), controllers_[index]->target, parameters.checked);
      } else {
        connect(slice.memory(), ways_[index]->data[i], parameters.checked);
      }
      if (probes_) {
        connect(slice.home()->probes, probes_->data[index * slices + i], parameters.checked);
      }
      for (unsigned core = 0; core != slice.copies.size(); ++core) {
        slice.copies[core].bind(cores_[core]->copies);
      }
    }
    if (slices != 1) {
      connect(ways_[index]->channel[0], controllers_[index]->target, parameters.checked);
    }
  } else {
    connect(noc_->channel[index], controllers_[index]->target, parameters.checked);
  }
  if (!parameters.storage) {
    connect(controllers_[index]->storage, target_->channel[index], parameters.checked);
    return;
  }
  checkers_.push_back(
      std::make_unique<link::ProtocolChecker>((prefix_ + "checker" + std::to_string(checkers_.size())).c_str()));
  controllers_[index]->storage.bind(checkers_.back()->target);
  parameters.storage(index, checkers_.back()->initiator);
}

void MemorySystem::make_cores(const SystemParameters& parameters) {
  for (unsigned i = 0; i != parameters.cores; ++i) {
    const std::string index = std::to_string(i);
    cores_.push_back(
        std::make_unique<ScriptCore>((prefix_ + "core" + index).c_str(), clock, parameters.cache.line_bytes));
    caches_.push_back(std::make_unique<L1Cache>((prefix_ + "cache" + index).c_str(), parameters.cache, clock, i,
                                                *cores_.back(), parameters.coherence));
    cores_.back()->attach(*caches_.back());
    cores_.back()->socket.bind(caches_.back()->cpu);
  }
}

void MemorySystem::make_channels(const SystemParameters& parameters, const SliceOfAddress& map) {
  target_ = std::make_unique<MemoryTarget>((prefix_ + "memory").c_str(), memory, parameters.dram.channels);
  const auto name = [this](const char* what, unsigned i) { return prefix_ + what + std::to_string(i); };
  Machine machine;
  machine.gpu.cores = parameters.cores;
  machine.gpu.coherence = parameters.coherence;
  machine.noc = parameters.noc;
  machine.l2 = parameters.l2;
  machine.dram = parameters.dram;
  machine.l1d = parameters.cache;
  for (unsigned i = 0; i != parameters.dram.channels; ++i) {
    controllers_.push_back(std::make_unique<DramController>(
        name("dram", i).c_str(), parameters.dram, memory_line_bytes(machine), clock, memory_sector_bytes(machine)));
    for (unsigned slice = 0; parameters.l2.enabled && slice != parameters.l2.slices; ++slice) {
      const auto number = static_cast<unsigned>(slices_.size());
      slices_.push_back(std::make_unique<L2Slice>(name("l2_", number).c_str(), machine, number, clock));
      flushers_.push_back(std::make_unique<SliceFlusher>(name("flusher", number).c_str()));
      flushers_.back()->socket.bind(slices_.back()->flushes);
    }
    if (parameters.l2.enabled && parameters.l2.slices != 1) {
      ways_.push_back(std::make_unique<Interconnect>(name("way", i).c_str(), NocParameters{},
                                                     SliceOfAddress(DramParameters{}, memory_line_bytes(machine)),
                                                     parameters.l2.slices, clock));
    }
  }
  noc_ = std::make_unique<Interconnect>((prefix_ + "noc").c_str(), parameters.noc, map, parameters.cores, clock,
                                        noc_edges(machine), parameters.cache.sector_bytes,
                                        parameters.l2.partitions > 1 ? &parameters.l2 : nullptr);
  if (home_table_of(parameters.coherence)) {
    probes_ = std::make_unique<Interconnect>((prefix_ + "probes").c_str(), parameters.noc, memory_slices(machine),
                                             parameters.cores, clock, noc_edges(machine));
  }
}

MemorySystem::~MemorySystem() = default;

template <class Initiator, class Target>
void MemorySystem::connect(Initiator& initiator, Target& target, bool checked) {
  if (!checked) {
    initiator.bind(target);
    return;
  }
  checkers_.push_back(
      std::make_unique<link::ProtocolChecker>((prefix_ + "checker" + std::to_string(checkers_.size())).c_str()));
  initiator.bind(checkers_.back()->target);
  checkers_.back()->initiator.bind(target);
}

void MemorySystem::run(Cycle limit) {
  const auto finished = [this] {
    for (std::size_t i = 0; i != cores_.size(); ++i) {
      if (!cores_[i]->done() || !caches_[i]->quiet()) {
        return false;
      }
    }
    return std::all_of(slices_.begin(), slices_.end(), [](const auto& slice) { return slice->quiet(); });
  };
  const Cycle end = clock.now() + limit;
  do {
    sc_core::sc_start(clock.cycles(100));
  } while (!finished() && clock.now() < end);
  EXPECT_TRUE(finished()) << "still busy after " << limit << " cycles";
  for (const auto& checker : checkers_) {
    EXPECT_EQ(checker->outstanding(), 0U) << checker->name();
    EXPECT_EQ(checker->violations(), 0U) << checker->name();
  }
}

void MemorySystem::flush() {
  for (const auto& cache : caches_) {
    cache->flush();
  }
  run();
  for (const auto& flusher : flushers_) {
    flusher->flush();
  }
  run();
}

void MemorySystem::changed() {
  for (const auto& flusher : flushers_) {
    flusher->changed();
  }
}

void MemorySystem::declare(StatisticsRegistry& counters) {
  const auto add = [this, &counters](auto& module) {
    counters.add(std::string_view(module.basename()).substr(prefix_.size()), module.statistics());
  };
  for (const auto& cache : caches_) {
    add(*cache);
  }
  add(*noc_);
  for (const auto& slice : slices_) {
    add(*slice);
    counters.add(std::string(slice->basename()).substr(prefix_.size()) + ".store", slice->store().statistics());
    counters.add(std::string(slice->basename()).substr(prefix_.size()) + ".sectors",
                 slice->store().sector_statistics());
  }
  for (const auto& controller : controllers_) {
    add(*controller);
  }
}

}  // namespace heddle::hw::test
