#include "tb/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <utility>

#include <driver_types.h>
#include "base/error.hpp"
#include "hw/gpu/dispatcher.hpp"
#include "hw/gpu/registers.hpp"
#include "isa/memory_map.hpp"
#include "tb/device/launch_limits.hpp"
#include "tb/session/refusal.hpp"

namespace heddle::tb::session {
namespace {

constexpr double kPollNanoseconds = 1000;

cudaError_t error_of(isa::Fault::Kind kind) {
  switch (kind) {
    case isa::Fault::Kind::out_of_bounds:
    case isa::Fault::Kind::bus_error:
    case isa::Fault::Kind::no_texture:
    case isa::Fault::Kind::bad_free:
      return cudaErrorIllegalAddress;
    case isa::Fault::Kind::misaligned:
      return cudaErrorMisalignedAddress;
    case isa::Fault::Kind::deadlock:
    case isa::Fault::Kind::livelock:
      return cudaErrorLaunchTimeout;
    case isa::Fault::Kind::heap_room:
    case isa::Fault::Kind::resources:
      return cudaErrorLaunchOutOfResources;
    case isa::Fault::Kind::invalid_instruction:
      return cudaErrorIllegalInstruction;
    case isa::Fault::Kind::assertion:
      return cudaErrorAssert;
    case isa::Fault::Kind::division_by_zero:
    case isa::Fault::Kind::trap:
    case isa::Fault::Kind::barrier_mismatch:
    case isa::Fault::Kind::dependence:
    case isa::Fault::Kind::shared_bytes:
      break;
  }
  return cudaErrorLaunchFailure;
}

StreamClock::Time cycles_of(const hw::Machine& machine, double nanoseconds) {
  return static_cast<StreamClock::Time>(std::ceil(nanoseconds * machine.gpu.clock_ghz));
}

}  // namespace

Session::Session(int socket, hw::Machine machine, const std::atomic<bool>* interrupted)
    : connection_(socket, interrupted),
      machine_(std::move(machine)),
      clock_(std::max<StreamClock::Time>(cycles_of(machine_, kPollNanoseconds), 1)) {}

isa::Module Session::compile(const ptx::CompileOptions& options) {
  options_ = options;
  options_.refused = &refused_;
  options_.known = &compiled_;
  options_.roomier = true;
  options_.notes = nullptr;  // notes on what is loaded later are not taken
  for (;;) {
    if (!connection_.next(question_, bytes_)) {
      ended_ = true;
      return {};
    }
    answer_ = {};
    answer_bytes_.clear();
    if (question_.call == cudart::Call::hello) {
      hello();
      connection_.answer(answer_, answer_bytes_);
    } else if (question_.call == cudart::Call::unit) {
      texts_.push_back({text_of(bytes_), fmt::format("device code {}", texts_.size() + 1), question_.words[0] != 0});
      connection_.answer(answer_);
    } else if (question_.call == cudart::Call::module) {
      std::string refusal;
      try {
        texts_.push_back(checked_text());
      } catch (const InputError& error) {
        answer_.error = cudaErrorInvalidPtx;
        refusal = error.what();
      }
      connection_.answer(answer_, {}, refusal);
    } else if (question_.call == cudart::Call::begin) {
      break;
    } else {
      throw InternalError("the program's library uses the device before it has brought its code");
    }
  }
  isa::Module module;  // a program without kernels has a device all the same
  try {
    if (!texts_.empty()) {
      ptx::CompileOptions with_notes = options_;
      with_notes.notes = options.notes;
      module =
          ptx::compile_program(texts_, texts_.size() == 1 ? "PTX" : "PTX of all files", with_notes, changed_names_);
    }
  } catch (const InputError&) {
    answer_.error = cudaErrorInvalidPtx;
    connection_.answer(answer_);
    throw;
  }
  connection_.answer(answer_);
  keep_code(module);
  return module;
}

ptx::ProgramText Session::checked_text() const {
  ptx::ProgramText text{text_of(bytes_), fmt::format("device code {}", texts_.size() + 1), false};
  if (text.text.empty() || text.text.back() != '\n') text.text += '\n';  // lines of all texts are counted
  std::vector<ptx::RefusedKernel> refused;
  ptx::CompileOptions options = options_;
  options.refused = &refused;
  options.known = nullptr;  // its lines have other numbers among all texts
  const isa::Module module = ptx::compile(text.text, text.file, options);
  if (module.kernels.empty() && !refused.empty()) throw InputError(refused.front().reason);
  return text;
}

isa::Module Session::compiled(const std::vector<ptx::ProgramText>& texts, const ptx::CompileOptions& options,
                              std::vector<std::map<std::string, std::string>>& changed) {
  if (texts.empty()) return {};
  try {
    return ptx::compile_program(texts, texts.size() == 1 ? "PTX" : "PTX of all files", options, changed);
  } catch (const ptx::Interrupted& interrupted) {
    throw RunStopped(interrupted.what());
  }
}

void Session::module() {
  std::vector<ptx::ProgramText> texts = texts_;
  std::vector<std::map<std::string, std::string>> changed;
  std::vector<ptx::RefusedKernel> refused;
  ptx::CompileOptions options = options_;
  options.refused = &refused;
  try {
    texts.push_back(checked_text());
    grow(compiled(texts, options, changed));
  } catch (const InputError& error) {
    throw Refusal{cudaErrorInvalidPtx, error.what()};
  }
  texts_ = std::move(texts);
  refused_ = std::move(refused);
  changed_names_ = std::move(changed);
}

void Session::keep_code(const isa::Module& module) {
  code_.clear();
  for (const isa::Kernel& kernel : module.kernels) code_.push_back(kernel.words);
}

void Session::grow(isa::Module module, bool same_code) {
  const isa::Module& old = device_->module();
  const bool begins_alike =
      module.kernels.size() >= old.kernels.size() && module.variables.size() >= old.variables.size() &&
      std::equal(old.kernels.begin(), old.kernels.end(), module.kernels.begin(),
                 [](const auto& a, const auto& b) { return a.name == b.name; }) &&
      (!same_code || std::equal(code_.begin(), code_.end(), module.kernels.begin(),
                                [](const auto& words, const isa::Kernel& kernel) { return words == kernel.words; })) &&
      std::equal(old.variables.begin(), old.variables.end(), module.variables.begin(),
                 [](const auto& a, const auto& b) {
                   return a.name == b.name && a.space == b.space && a.address == b.address && a.size == b.size;
                 });
  if (!begins_alike) {
    throw Refusal{cudaErrorNotSupported,
                  "this module would move what is loaded already: load it before the program first uses the device"};
  }
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> values;
  for (const isa::Variable& variable : old.variables) {
    if (variable.space != isa::Space::global || variable.size == 0) continue;
    values.emplace_back(variable.address, std::vector<std::byte>(variable.size));
    device_->memory().read(variable.address, values.back().second);
  }
  const std::vector<std::uint8_t> constants = old.constant_bank;
  keep_code(module);
  device_->load(std::move(module));
  for (const auto& [address, bytes] : values) device_->memory().write(address, bytes);
  if (!constants.empty()) device_->set_constants(0, std::as_bytes(std::span(constants)));
}

void Session::hello() {
  if (question_.words[0] != cudart::kProtocolVersion) {
    throw InputError({}, "the program was linked with the run-time library of another version of Heddle",
                     "link it anew: heddle nvcc");
  }
  cudart::MachineFacts facts;
  const std::string name = "Heddle " + machine_.name;
  name.copy(facts.name, sizeof facts.name - 1);
  facts.memory_bytes = machine_.gpu.memory_bytes();
  facts.shared_bytes = machine_.scratchpad.bytes;
  facts.constant_bytes = hw::kConstantWindowBytes;
  facts.cores = machine_.gpu.cores;
  facts.core_threads = machine_.core.threads;
  const isa::Dim3 block = most_block(machine_.core.threads);
  const std::uint32_t most[] = {block.x, block.y, block.z, kMostGrid.x, kMostGrid.y, kMostGrid.z};
  std::copy_n(most, 3, facts.most_block);
  std::copy_n(most + 3, 3, facts.most_grid);
  facts.core_blocks = machine_.core.blocks;
  facts.core_registers = machine_.core.registers;
  facts.thread_registers = machine_.core.registers_per_thread;
  facts.architecture = machine_.gpu.architecture();
  facts.warp_lanes = isa::kLanes;
  facts.cooperates = hw::why_no_cooperation(machine_).empty() ? 1 : 0;
  facts.keeps_going = keeps_going_ ? 1 : 0;
  facts.clock_khz = static_cast<std::uint32_t>(machine_.gpu.clock_ghz * 1e6);
  // As a bus of the machine's bandwidth at its clock would be, two transfers a cycle.
  facts.memory_khz = facts.clock_khz;
  facts.memory_bits = static_cast<std::uint32_t>(
      std::max(8.0, std::round(machine_.dram.bandwidth_gbs * 8 / (2 * machine_.gpu.clock_ghz))));
  facts.l2_bytes = machine_.l2.enabled ? static_cast<std::uint32_t>(machine_.l2.bytes) : 0;
  const auto bytes = std::as_bytes(std::span(&facts, 1));
  answer_bytes_.assign(bytes.begin(), bytes.end());
}

void Session::serve(Device& device) {
  device_ = &device;
  shared_ = SharedPages::make();
  if (shared_) device.memory().take_pages_from(shared_);
  std::exception_ptr lost;  // the fault or stop that the device was lost by
  cudaError_t lost_by = cudaSuccess;
  while (!ended_) {
    try {
      if (!connection_.next(question_, bytes_)) break;
    } catch (const RunStopped&) {
      if (!lost) lost = std::current_exception();
      break;
    } catch (const InputError& error) {  // of the connection: the run ends here
      if (!lost) lost = std::make_exception_ptr(RunStopped(error.what()));
      break;
    }
    answer_ = {};
    answer_bytes_.clear();
    answered_ = question_.call == cudart::Call::launch && (question_.flags & cudart::kUnanswered) != 0;
    if (lost) {
      if (question_.call == cudart::Call::share) connection_.send_descriptor(-1);
      answer_.error = lost_by;
      reply();
      continue;
    }
    try {
      handle();
      reply();
    } catch (const Refusal& refusal) {
      answer_.error = refusal.error;
      reply(refusal.text);
    } catch (const InputError& error) {  // a kernel that the machine cannot run, whatever is asked about it
      answer_.error = cudaErrorLaunchOutOfResources;
      reply(error.what());
    } catch (const SimulatedFault&) {
      lost = std::current_exception();
      lost_by = device.fault() != nullptr ? error_of(device.fault()->kind) : cudaErrorLaunchFailure;
      answer_.error = lost_by;
      reply();
    } catch (const RunStopped&) {
      lost = std::current_exception();
      lost_by = cudaErrorLaunchTimeout;
      answer_.error = lost_by;
      reply();
    } catch (...) {
      connection_.close();  // or the program would wait for an answer, and the run for the program
      throw;
    }
  }
  // What the program has not waited for happens even so.
  try {
    if (!lost) settle();
  } catch (const SimulatedFault&) {
    lost = std::current_exception();
  } catch (const RunStopped&) {
    lost = std::current_exception();
  }
  connection_.close();
  if (lost) std::rethrow_exception(lost);
}

void Session::reply(const std::string& text) {
  if (answered_) {
    if (answer_.error != cudaSuccess && untold_error_ == cudaSuccess) {
      untold_error_ = answer_.error;
      untold_text_ = "of an earlier launch: " + text;
    }
    return;
  }
  answered_ = true;
  const bool tells = answer_.error == cudaSuccess && untold_error_ != cudaSuccess;
  if (tells) answer_.error = std::exchange(untold_error_, cudaSuccess);
  connection_.answer(answer_, answer_bytes_, tells ? std::exchange(untold_text_, {}) : text,
                     std::exchange(printed_, {}));
}

void Session::handle() {
  if (!work_.empty() && !can_wait()) settle();
  switch (question_.call) {
    case cudart::Call::module:
      return module();
    case cudart::Call::function:
      return function();
    case cudart::Call::symbol:
      return symbol();
    case cudart::Call::allocate:
      return allocate();
    case cudart::Call::release:
      return release();
    case cudart::Call::write:
      return write();
    case cudart::Call::read:
      return read();
    case cudart::Call::fill:
      return fill();
    case cudart::Call::copy:
      return copy();
    case cudart::Call::launch:
      return launch();
    case cudart::Call::occupancy:
      return occupancy();
    case cudart::Call::memory:
      return memory();
    case cudart::Call::heap:
      return heap();
    case cudart::Call::stack:
      return stack();
    case cudart::Call::texture:
      return texture();
    case cudart::Call::share:
      return share();
    case cudart::Call::stream_create:
    case cudart::Call::stream_destroy:
    case cudart::Call::stream_synchronize:
    case cudart::Call::stream_query:
    case cudart::Call::stream_wait:
    case cudart::Call::synchronize:
      return streams();
    case cudart::Call::event_create:
    case cudart::Call::event_destroy:
    case cudart::Call::event_record:
    case cudart::Call::event_synchronize:
    case cudart::Call::event_query:
    case cudart::Call::event_elapsed:
      return events();
    case cudart::Call::hello:
    case cudart::Call::unit:
    case cudart::Call::begin:
    case cudart::Call::resume:
    case cudart::Call::end:
      break;
  }
  throw InternalError("the program's library asks what it may not");
}

// ---- streams and events

void Session::transfer(std::uint64_t stream, Engine engine, std::uint64_t bytes) {
  if (stream == cudart::kUnobserved) return;
  const std::uint64_t on = stream_of(stream);
  const double nanoseconds = static_cast<double>(bytes) / machine_.dram.bandwidth_gbs;
  clock_.run(on, engine, cycles_of(machine_, nanoseconds));
  if ((question_.flags & cudart::kAsynchronous) == 0) clock_.wait_for(on);
}

std::uint64_t Session::stream_of(std::uint64_t number) const {
  if (!clock_.knows_stream(number)) throw Refusal{cudaErrorInvalidResourceHandle, "there is no such stream"};
  return number;
}

void Session::require_event(std::uint64_t event) const {
  if (!clock_.knows_event(event)) throw Refusal{cudaErrorInvalidResourceHandle, "there is no such event"};
}

void Session::streams() {
  const std::uint64_t* const words = question_.words;
  switch (question_.call) {
    case cudart::Call::stream_create:
      answer_.words[0] = clock_.make_stream(words[0] == 0);
      break;
    case cudart::Call::stream_destroy:
      clock_.wait_for(stream_of(words[0]));
      clock_.drop_stream(words[0]);
      break;
    case cudart::Call::stream_synchronize:
      clock_.wait_for(stream_of(words[0]));
      break;
    case cudart::Call::stream_query:
      if (!clock_.poll(stream_of(words[0]))) throw Refusal{cudaErrorNotReady, {}};
      break;
    case cudart::Call::stream_wait:
      require_event(words[1]);
      if (work_.waits(stream_of(words[0])) || work_.will_record(words[1])) {
        work_.hold(words[0], words[1]);
      } else {
        clock_.hold(words[0], words[1]);
      }
      break;
    default:
      clock_.wait_for_all();
  }
}

void Session::events() {
  const std::uint64_t* const words = question_.words;
  if (question_.call == cudart::Call::event_create) {
    answer_.words[0] = clock_.make_event();
    return;
  }
  require_event(words[0]);
  switch (question_.call) {
    case cudart::Call::event_destroy:
      clock_.drop_event(words[0]);
      break;
    case cudart::Call::event_record:
      if (work_.waits(stream_of(words[1])) || work_.will_record(words[0])) {
        work_.record(words[0], words[1]);
      } else {
        clock_.record(words[0], words[1]);
      }
      break;
    case cudart::Call::event_synchronize:
      clock_.wait_for_event(words[0]);
      break;
    case cudart::Call::event_query:
      if (!clock_.poll_event(words[0])) throw Refusal{cudaErrorNotReady, {}};
      break;
    default: {
      require_event(words[1]);
      if (!clock_.recorded(words[0]) || !clock_.recorded(words[1])) {
        throw Refusal{cudaErrorInvalidResourceHandle, "an event has not been recorded"};
      }
      if (clock_.time(words[0]) > clock_.host() || clock_.time(words[1]) > clock_.host()) {
        throw Refusal{cudaErrorNotReady, {}};
      }
      const double cycles = static_cast<double>(clock_.time(words[1])) - static_cast<double>(clock_.time(words[0]));
      answer_.words[0] = std::bit_cast<std::uint64_t>(cycles / machine_.gpu.clock_ghz);
    }
  }
}

}  // namespace heddle::tb::session
