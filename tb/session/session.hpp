// A CUDA program's run-time calls, carried out on a device: what the program's library (cuda/cudart) asks for over its
// connection, in the order in which it asks; kernels of streams may be put off (stream_work.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "hw/state/launch.hpp"
#include "isa/module.hpp"
#include "ptx/compile.hpp"
#include "ptx/compiled_kernels.hpp"
#include "tb/device/device.hpp"
#include "tb/session/connection.hpp"
#include "tb/session/launch_summary.hpp"
#include "tb/session/shared_pages.hpp"
#include "tb/session/stream_clock.hpp"
#include "tb/session/stream_work.hpp"

namespace heddle::tb::session {

class Session {
 public:
  // `interrupted` as Connection has it.
  Session(int socket, hw::Machine machine, const std::atomic<bool>* interrupted);
  // The program may close its descriptors: it comes again at this process's name.
  void expect_again() { connection_.expect_again(); }
  // Faults are error codes for the program, and do not end it.
  void keep_going() { keeps_going_ = true; }

  // The program's device code, once it first wants the device; none when it ends before. Throws InputError for code
  // that cannot be read, which the program is told. It is told of a kernel that cannot be compiled when it wants that.
  [[nodiscard]] isa::Module compile(const ptx::CompileOptions& options);
  // Until the program ends; device memory's pages are shared with it from here on. A fault or a stop is told to the
  // program, to which the device is lost, and thrown when it has ended.
  void serve(Device& device);
  // For DeviceOptions::print: goes to the program's standard output.
  void print(const std::string& text) { printed_ += text; }

  [[nodiscard]] const std::vector<LaunchSummary>& launches() const { return launches_; }
  [[nodiscard]] StreamClock::Time time() const { return clock_.host(); }
  [[nodiscard]] const SimulationTime& simulation_time() const { return simulated_; }

 private:
  using Handler = void (Session::*)();
  class Kernels;
  void handle();
  // Answers the question, if it has not been answered already, or wants none: then an error is told the next time.
  void reply(const std::string& text = {});
  void hello();
  void module();
  void function();
  void symbol();
  void allocate();
  void release();
  void write();
  void read();
  void fill();
  void copy();
  void launch();
  void occupancy();
  void memory();
  [[nodiscard]] std::string no_room(std::uint64_t size) const;
  [[nodiscard]] std::uint64_t used_bytes() const;  // of the program's own memory
  [[nodiscard]] std::uint64_t free_bytes() const;  // of the device's memory
  void heap();
  void stack();
  void texture();
  void share();
  void streams();
  void events();

  // Kernels of streams (tb/session/stream_work.hpp).
  // Throw Refusal.
  void require_shape(const isa::Kernel& kernel, const isa::LaunchRequest& request) const;
  void require_shared(const isa::Kernel& kernel, const isa::LaunchRequest& request) const;
  void require_cooperation(const isa::Kernel& kernel, const isa::LaunchRequest& request) const;
  void run_alone(const isa::LaunchRequest& request, LaunchSummary& summary);
  void settle();
  [[nodiscard]] bool can_wait() const;

  // The question's text as one more unit, on its own. Throws InputError.
  [[nodiscard]] ptx::ProgramText checked_text() const;
  // Of what the program has brought once it uses the device. Throws InputError; RunStopped when it is interrupted.
  static isa::Module compiled(const std::vector<ptx::ProgramText>& texts, const ptx::CompileOptions& options,
                              std::vector<std::map<std::string, std::string>>& changed);
  void keep_code(const isa::Module& module);
  // Puts a module that begins as the present one does in its place; variables keep their values.
  void grow(isa::Module module, bool same_code = true);
  // What the bytes of the question name, of a unit, in the module.
  [[nodiscard]] std::string named(std::uint64_t unit) const;
  [[nodiscard]] const isa::Kernel& kernel(std::uint64_t id) const;
  // The kernel's code with more registers; null: it has none.
  [[nodiscard]] const isa::Kernel* roomier(std::uint64_t id) const;
  // Lets the request have that code, where a core has room for a block of it.
  void take_roomier(std::uint64_t id, isa::LaunchRequest& request) const;
  // A place in device memory or in the constant bank, which must be allocated. Throws Refusal.
  void require_memory(std::uint64_t address, std::uint64_t size) const;
  void load(std::uint64_t address, std::span<std::byte> into) const;
  void store(std::uint64_t address, std::span<const std::byte> from);
  template <class Move>  // of a piece between a place on the device and one in the program; false: cannot be done
  [[nodiscard]] bool by_address(std::uint64_t address, std::uint64_t pitch, std::uint64_t width, std::uint64_t height,
                                Move move);
  // The rows of a copy that the program makes itself: tells it where they are. False: it cannot.
  [[nodiscard]] bool tell_places(std::uint64_t address, std::uint64_t pitch, std::uint64_t width, std::uint64_t height);
  // Bytes through an engine, in cycles; afterwards the host has waited unless the question says that it does not.
  void transfer(std::uint64_t stream, Engine engine, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t stream_of(std::uint64_t number) const;
  void require_event(std::uint64_t event) const;

  Connection connection_;
  hw::Machine machine_;
  StreamClock clock_;
  StreamWork work_{clock_};
  std::map<std::size_t, isa::LaunchRequest> put_off_;  // by number in launches_
  Device* device_ = nullptr;
  std::shared_ptr<SharedPages> shared_;  // that device memory lies in; null: none
  ptx::CompiledKernels compiled_;
  ptx::CompileOptions options_;
  std::vector<ptx::RefusedKernel> refused_;  // kernels that the module lacks
  std::vector<ptx::ProgramText> texts_;      // of all units
  std::vector<std::vector<isa::InstructionWord>>
      code_;  // by kernel, as compiled: the device writes its marks into its own
  std::vector<std::map<std::string, std::string>> changed_names_;
  bool ended_ = false;  // the program
  bool keeps_going_ = false;
  SimulationTime simulated_;
  cudart::Question question_;
  std::vector<std::byte> bytes_;  // of the question
  cudart::Answer answer_;
  std::vector<std::byte> answer_bytes_;
  bool answered_ = false;          // or no answer is wanted
  std::int32_t untold_error_ = 0;  // of the first that was refused behind its answer; 0: none was
  std::string untold_text_;
  std::string printed_;
  std::vector<LaunchSummary> launches_;
  std::uint64_t buffers_ = 0;   // allocated so far, for their names
  std::uint64_t textures_ = 0;  // likewise
};

}  // namespace heddle::tb::session
