// The program's side of a run: one connection to the simulator, and what the run-time API remembers besides. All calls
// are made with the lock held, which Entry takes for the API's functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <cuda_runtime_api.h>
#include "cuda/cudart/device_code.hpp"
#include "cuda/cudart/protocol.hpp"
#include "cuda/cudart/shared_memory.hpp"
#include "cuda/cudart/socket_end.hpp"

namespace heddle::cudart {

using cudart::Answer;
using cudart::Call;
using cudart::Question;

// One fat binary of the program, registered before main(): a translation unit's device code.
struct Unit {
  DeviceCode code;           // as the program brings it
  std::uint32_t target = 0;  // once the simulator has it: what the PTX is for
};

struct Parameter {
  std::uint32_t offset = 0, size = 0;
};
struct Function {
  std::size_t unit = 0;
  std::string name;
  bool known = false;  // the simulator has been asked
  std::uint64_t id = 0;
  cudaFuncAttributes attributes{};
  bool limited = false;  // the program has set attributes.maxDynamicSharedSizeBytes
  std::uint64_t parameter_bytes = 0;
  std::vector<Parameter> parameters;
};
struct Symbol {
  std::size_t unit = 0;
  std::string name;
  bool known = false;
  std::uint64_t address = 0, size = 0;
};

// A variable of nvcc's __managed__: host code finds it by a pointer.
struct ManagedVariable {
  Symbol symbol;
  void** pointer = nullptr;
};

// What an API function ends with when it cannot do what it was asked for.
struct Failure {
  cudaError_t error;
  std::string text;   // for the user; empty: the code says it all
  bool ends = false;  // the program, unless it goes on after faults: the device is lost
};

class Entry;        // cuda/cudart/entry.hpp
class Unlocked;     // likewise
class GraphMemory;  // cuda/cudart/graphs.hpp

class Runtime {
 public:
  static Runtime& instance();

  // ---- before main(), or by dlopen
  std::size_t add_unit(DeviceCode code);
  void add_function(const void* stub, Function function) { functions_[stub] = std::move(function); }
  void add_symbol(const void* variable, Symbol symbol) { symbols_[variable] = std::move(symbol); }
  void add_managed(ManagedVariable variable);

  // ---- the rest throws Failure
  // Asks the simulator, whose answer's bytes go to `into`, which is the program's, or to bytes() when it is null.
  Answer ask(const Question& question, const void* bytes = nullptr, void* into = nullptr, std::size_t capacity = 0);
  // A question of Call::launch. It waits for an answer only where that may be a refusal: the first time that so many
  // threads of this kernel are launched in this stream. CUDA_LAUNCH_BLOCKING=1: until the kernel has ended.
  void launch(Question question, const void* arguments);
  // A question of Call::write or read, whose rows lie in the program's memory so far apart.
  void move_rows(Question question, void* rows, std::size_t pitch);
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] const cudart::MachineFacts& machine();
  // One more unit, compiled now, with names of its own. Returns its number.
  std::size_t load_module(const std::string& ptx);
  Function& function(const void* stub);
  void require_function(const void* stub) const;  // that there is one, without asking the simulator
  Symbol& symbol(const void* variable);
  // Where the host has a variable, which is managed memory from now on.
  void* managed_variable(const void* shadow);
  void find(Function& function);  // asks the simulator, the first time
  void find(Symbol& symbol);
  Symbol& symbol_of_text(const void* text);
  // The simulator's streams by their numbers: the program's, the threads' default streams, and those of graphs.
  struct Stream {
    unsigned flags = 0;
    bool of_program = false;
  };
  [[nodiscard]] const Stream* stream(std::uint64_t number) const {  // null: there is none
    const auto found = streams_.find(number);
    return found == streams_.end() ? nullptr : &found->second;
  }
  void give_stream(std::uint64_t number) { streams_.at(number).of_program = true; }

  // Device memory and the host's share of it.
  struct Region {
    std::uint64_t size = 0;
    bool managed = false;
    GraphMemory* owner = nullptr;  // a graph's
    bool variable = false;         // not to be released
  };
  // The region that holds the address; null: host memory.
  [[nodiscard]] const Region* region(const void* pointer) const;
  // Of its region, from there to its end; 0: host memory.
  [[nodiscard]] std::uint64_t bytes_behind(const void* pointer) const;
  void* allocate(std::size_t size, bool managed);
  void release(void* pointer);
  void own(void* pointer, GraphMemory* owner);  // null: the program does
  void remember(std::uint64_t address, std::uint64_t size) {
    regions_.try_emplace(address, Region{size, false, nullptr, true});
  }
  // The program's pinned memory, which the device has at the same address from now on, as managed memory.
  void reach_host(void* host, std::size_t size);
  // Memory of the program's own, of which the device has a copy at an address of its own.
  void map_host(void* host, std::size_t size);
  void unmap_host(void* host);                                 // where it begins; other memory: nothing to do
  [[nodiscard]] void* device_address(const void* host) const;  // null: the device has no copy
  void to_device();    // what the host has written to managed memory and to such
  void from_device();  // what kernels have
  void show_prints();  // what kernels have printed, where the host waits for them
  void keep_print(std::string_view text) { prints_ += text; }
  // Throws Failure once a fault has been told: nothing works any more.
  void require_sound() const {
    if (fault_ != cudaSuccess) throw Failure{fault_, ""};
  }
  void end();  // of the program
  // This process is a copy of the one that has the device: fork() has made it since.
  [[nodiscard]] bool is_copy() const { return life_ != nullptr && *life_ == 0; }
  // After a Failure that ends the program: does so, unless the program goes on.
  void leave();

  std::recursive_mutex lock;

 private:
  friend class Entry;
  friend class Unlocked;
  Runtime();
  // ---- the connection: cuda/cudart/connect.cpp
  void connect();
  void start_simulator();
  [[nodiscard]] bool find_run();
  [[noreturn]] void refuse();
  void mark_life();
  void begin_anew_after_fork();
  [[nodiscard]] bool come_again(bool lost);
  void send(Question& question, const void* bytes, bool looks);
  void leave_behind();
  [[nodiscard]] bool simulator_lives() const;
  [[noreturn]] void lost(const std::string& why);
  Answer take_answer(Call call, void* into, std::size_t capacity);
  void receive_answer(Answer& answer, std::string& text);
  [[nodiscard]] bool receive_for_program(void* into, std::size_t size);
  Answer ask_for_file(int& descriptor);
  Answer exchange(Question question, const void* bytes, void* into, std::size_t capacity);
  void receive(void* data, std::size_t size);
  void tell_units();
  void begin();
  void share(ManagedVariable& variable);
  void from_device(std::uint64_t address, void* host, std::uint64_t size);
  [[nodiscard]] bool shares();
  [[nodiscard]] bool moves_itself(const Question& question, void* rows, std::size_t pitch);
  [[nodiscard]] bool lets_reach(const Question& question, void* rows);
  void settle();

  cudart::SocketEnd socket_;
  SharedMemory shared_;
  bool asked_to_share_ = false;
  bool shares_ = false;
  bool reaches_ = true;            // the simulator, the program's memory, as far as is known
  int simulator_ = -1;             // the process, where the program has started it
  int server_ = -1;                // the process, whoever has started it
  std::uint64_t asked_ = 0;        // questions so far
  std::set<std::uint64_t> left_;   // questions whose answers no call waits for any more
  bool exchanging_ = false;        // a question is being sent, or its answer is awaited
  bool broken_ = false;            // the connection
  bool taken_by_another_ = false;  // the device: another process of the run has come first
  unsigned depth_ = 0;             // calls of the API, one within the other, of the thread that has the lock
  const Entry* outermost_ = nullptr;
  volatile unsigned char* life_ = nullptr;  // not 0 in the process that has the device; a copy of the process has 0
  bool connected_ = false;
  bool begun_ = false;
  bool ended_ = false;
  bool ends_on_fault_ = true;
  cudaError_t fault_ = cudaSuccess;
  bool blocking_ = false;  // CUDA_LAUNCH_BLOCKING
  bool owed_ = false;      // the simulator, what has become of launches
  using LaunchShape = std::array<std::uint64_t, 7>;
  std::set<LaunchShape> taken_;  // launches that the simulator takes
  cudart::MachineFacts machine_;
  std::vector<Unit> units_;
  std::size_t told_ = 0;  // of them
  std::map<const void*, Function> functions_;
  std::map<const void*, Symbol> symbols_;
  std::vector<ManagedVariable> managed_;
  std::map<std::uint64_t, Region> regions_;
  struct Mapped {
    std::uint64_t address = 0, size = 0;  // of the device's copy
  };
  std::map<std::uint64_t, Mapped> mapped_;  // by the host's address
  std::set<std::uint64_t> shared_pages_;    // of managed variables
  std::unordered_map<std::uint64_t, Stream> streams_;
  std::vector<std::byte> bytes_;
  std::string prints_;
};

// The present thread's last error. A fault stays so: it cannot be taken away.
cudaError_t& last_error();
[[nodiscard]] bool is_fault(cudaError_t error);
cudaError_t report(const Failure& failure, const char* function);

// Throws Failure where the function must not be called now: after a fault of the device, or while streams record graphs
// (cuda/cudart/capture_rules.cpp).
void require_permitted(const char* function);

[[nodiscard]] inline std::uint64_t number_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
inline void require(bool holds, cudaError_t error, const char* text) {
  if (!holds) throw Failure{error, text};
}
// Pointers that a function writes to or reads at: null, and what is near it, is told.
template <class... Pointers>
void require_places(const Pointers*... pointers) {
  constexpr std::uint64_t kFirstPage = 4096;
  require(((number_of(pointers) >= kFirstPage) && ...), cudaErrorInvalidValue, "a pointer is null");
}

}  // namespace heddle::cudart

#include "cuda/cudart/entry.hpp"
