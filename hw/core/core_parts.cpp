// How a core is put together: its sub-cores, what they share, and what joins them.
#include "hw/core/core.hpp"

#include "hw/coherence/protocol.hpp"
#include "hw/parameters/bulk_copies.hpp"

namespace heddle::hw {

Core::Core(const sc_core::sc_module_name& name, const Machine& machine, unsigned index, link::Clock clock,
           const isa::DeviceMemory* bounds, const CoreExtension& extension)
    : link::ClockedModule(name, clock),
      launches("launches"),
      blocks("blocks"),
      instruction("instruction"),
      data("data"),
      texture("texels"),
      copies("copies"),
      probes("probes"),
      index_(index),
      machine_(machine),
      of_sub_core_(machine.core.sub_cores == 1 ? nullptr
                                               : std::make_unique<const Machine>(machine_of_sub_core(machine))),
      taps_(index, this->name(), clock),
      scratchpad_("scratchpad", machine.scratchpad, clock),
      private_memory_(
          machine.private_memory.bytes == 0
              ? nullptr
              : std::make_unique<PrivateMemory>("private_memory", machine.private_memory, machine.core.threads, clock)),
      icache_("icache", machine.icache, clock, index, *this, machine.gpu.coherence),
      l1d_("l1d", machine.l1d, clock, index, *this, machine.gpu.coherence),
      texture_("texture", machine.texture, machine.l1d.line_bytes, clock, index, *this, machine.gpu.coherence),
      constant_cache_(machine.constant_cache.bytes == 0
                          ? nullptr
                          : std::make_unique<ConstantCache>("constant_cache", machine.constant_cache, clock, index,
                                                            *this, machine.gpu.coherence)),
      slots_(machine.lsu.interval),
      indexed_constants_(machine.constant_cache.interval) {
  launches.bind(*this);
  blocks.bind(*this);
  copies.bind(*this);
  probes.bind(l1d_.probes);
  icache_.memory.bind(instruction);
  l1d_.memory.bind(data);
  texture_.memory.bind(texture);
  if (constant_cache_) {
    constants = std::make_unique<::tlm::tlm_initiator_socket<>>("constants");
    constant_cache_->memory.bind(*constants);
  }
  make_sub_cores(bounds, extension);
  join_sub_cores(extension);
  first().limiter_made = [this](LoadLimiter* limiter) { l1d_.tell(limiter); };
  if (first().limiter() != nullptr) {
    l1d_.tell(first().limiter());
  }
  first().scratchpad_taken = [this](std::uint32_t base) {
    scratchpad_.clear(base, first().state().launch->shared_bytes);
  };
  first().warps().block_finished = [this](unsigned slot) { finish_block(slot); };
  first().warps().block_at_grid = [this](unsigned slot) { block_at_grid(slot); };
  open_to_others();
}

void Core::make_sub_cores(const isa::DeviceMemory* bounds, const CoreExtension& extension) {
  if (of_sub_core_ == nullptr) {
    only_ = std::make_unique<SubCore>(machine_, index_, 0U, clock(), bounds, taps_, extension);
    sub_cores_.push_back(only_.get());
  }
  for (unsigned number = 0; of_sub_core_ != nullptr && number != machine_.core.sub_cores; ++number) {
    several_.push_back(std::make_unique<SubCoreModule>(("sub" + std::to_string(number)).c_str(), *of_sub_core_, index_,
                                                       number, clock(), bounds, taps_, extension));
    sub_cores_.push_back(&several_.back()->sub_core);
  }
  const Divergence::Traits& mechanism = about<Divergence>(machine_.core.divergence).traits;
  if (machine_.gpu.cores > 1 && !machine_.gpu.perfect_memory && machine_.l1d.write_policy == "write-back" &&
      about<CoherenceProtocol>(machine_.gpu.coherence).traits.meets_at_end) {
    launch_bytes_ = std::make_shared<LaunchBytes>();
  }
  for (SubCore* const sub_core : sub_cores_) {
    CoreState& state = sub_core->state();
    state.launch_bytes = launch_bytes_;
    state.local_memories = local_memories(machine_);
    state.moved_read_memory = mechanism.global_pool != nullptr && machine_.gpu.cores > 1 && machine_.l1d.enabled &&
                              !machine_.gpu.perfect_memory &&
                              !about<CoherenceProtocol>(machine_.gpu.coherence).traits.coherent;
    sub_core->memory().slots = &slots_;
    sub_core->memory().read_constants_at(indexed_constants_);
    sub_core->memory().stores_visible = [this] { return l1d_.stores_visible(); };
    sub_core->memory().drop_old_copies = [this] { drop_old_copies(); };
  }
}

void Core::join_sub_cores(const CoreExtension& extension) {
  if (only_ != nullptr) {
    taps_.bind(extension.lines, only_->icache(), icache_.cpu);
    taps_.bind(extension.lines, only_->l1d(), l1d_.cpu);
    taps_.bind(extension.lines, only_->texture(), texture_.cpu);
    if (constant_cache_) {
      taps_.bind(extension.lines, *only_->constants(), constant_cache_->cpu);
    }
    taps_.bind(extension.scratchpad, only_->scratchpad(), scratchpad_.access);
    if (private_memory_) {
      taps_.bind(extension.private_memory, *only_->private_memory(), private_memory_->access);
    }
    return;
  }
  const auto count = static_cast<unsigned>(sub_cores_.size());
  if (copies_in_bulk(machine_)) {
    bulk_copies_ =
        std::make_unique<BulkCopies>("bulk_copies", machine_.bulk_copy, machine_.l1d.line_bytes, count, clock());
    bulk_copies_->answered = [this](unsigned port) { sub_cores_[port]->wake(); };
    for (unsigned number = 0; number != count; ++number) {
      taps_.bind(extension.bulk_copies, *sub_cores_[number]->memory().bulk_copies(), bulk_copies_->in[number]);
    }
  }
  // `more`: ports of others than sub-cores, behind these.
  const auto share = [&](const char* name, Cache& cache, auto socket_of, unsigned more = 0) {
    LinePorts& ports = *line_ports_.emplace_back(std::make_unique<LinePorts>(name, count + more));
    ports.answered = [this](unsigned port) {
      if (port < sub_cores_.size()) {
        sub_cores_[port]->wake();
      }
    };
    for (unsigned number = 0; number != count; ++number) {
      taps_.bind(extension.lines, socket_of(*sub_cores_[number]), ports.in[number]);
    }
    taps_.bind(extension.lines, ports.out, cache.cpu);
  };
  share("icache_ports", icache_, [](SubCore& of) -> link::LineInitiatorSocket& { return of.icache(); });
  const unsigned more = bulk_copies_ ? 1 : 0;
  share(
      "l1d_ports", l1d_, [](SubCore& of) -> link::LineInitiatorSocket& { return of.l1d(); }, more);
  if (bulk_copies_) {
    taps_.bind(extension.lines, bulk_copies_->lines, line_ports_.back()->in[count]);
  }
  share("texture_ports", texture_, [](SubCore& of) -> link::LineInitiatorSocket& { return of.texture(); });
  if (constant_cache_) {
    share("constant_cache_ports", *constant_cache_,
          [](SubCore& of) -> link::LineInitiatorSocket& { return *of.constants(); });
  }
  scratchpad_ports_ = std::make_unique<ScratchpadPorts>("scratchpad_ports", count + more, clock());
  if (bulk_copies_) {
    taps_.bind(extension.scratchpad, bulk_copies_->scratchpad, scratchpad_ports_->in[count]);
  }
  for (unsigned number = 0; number != count; ++number) {
    taps_.bind(extension.scratchpad, sub_cores_[number]->scratchpad(), scratchpad_ports_->in[number]);
    sub_cores_[number]->performer().printed_by_guest = [](const Performer::Printed& said) { said.put(); };
    sub_cores_[number]->warps().tell = [this](HomeMessage& message) {
      sub_cores_[message.to % sub_cores_.size()]->tell(first().state().now, std::move(message));
    };
  }
  taps_.bind(extension.scratchpad, scratchpad_ports_->out, scratchpad_.access);
}

void Core::open_to_others() {
  const Divergence::Traits& mechanism = about<Divergence>(machine_.core.divergence).traits;
  if ((machine_.gpu.cores == 1 || !mechanism.changes_cores) && mechanism.global_pool == nullptr) {
    return;
  }
  others = std::make_unique<HomeInitiatorSocket>("others");
  others->bind(*this);
  first().performer().printed_by_guest = [this](const Performer::Printed& said) {
    this->clock().tell([said] { said.put(); });
  };
  first().warps().tell = [this](HomeMessage& message) {
    HomePhase phase = HomePhase::message;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    (*others)->nb_transport_fw(message, phase, delay);
  };
}

}  // namespace heddle::hw
