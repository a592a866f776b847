// What the calls of a CUDA program cost: this process calls the run-time library as a compiled program does, a copy of
// it simulates, and the processor time of both counts. No compiler takes part: the kernel is PTX.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/error.hpp"
#include "cuda/cudart/fat_binary.hpp"
#include "cuda/cudart/shared_memory.hpp"
#include "os/files/temporary_folder.hpp"
#include "os/process/child_process.hpp"
#include "studies/bench/bench.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/host_cost.hpp"
#include "tb/session/session.hpp"

namespace heddle::studies {
namespace {

// One more for each launch.
constexpr std::string_view kCount = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry count(.param .u64 counter)
{
  .reg .b64 %at;
  .reg .b32 %n;
  .reg .pred %other;
  mov.u32 %n, %tid.x;
  setp.ne.u32 %other, %n, 0;
  @%other bra done;
  ld.param.u64 %at, [counter];
  ld.global.u32 %n, [%at];
  add.u32 %n, %n, 1;
  st.global.u32 [%at], %n;
done:
  ret;
}
)";

// The run-time library beside this program, and the API's functions that are measured, as CUDA declares them.
class Library {
 public:
  Library() {
    namespace fs = std::filesystem;
    const fs::path here = fs::path(os::own_program()).parent_path();
    for (const char* const place : {".", "../lib", "../lib/x86_64-linux-gnu", "../lib64"}) {
      const fs::path file = here / place / "libheddle_cudart.so";
      if (library_ == nullptr && fs::exists(file)) library_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (library_ == nullptr) throw InternalError("the run-time library of CUDA programs is not beside the program");
  }
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const int error = reinterpret_cast<int (*)(Arguments...)>(address(name))(arguments...);
    if (error != 0) throw InternalError(fmt::format("{} failed: {}", name, error));
  }
  // As what a compiler writes does before main(). The names of its kernels on the host are addresses.
  void register_kernel(const std::string& binary, const void* stub, const char* name) const {
    static struct {
      std::uint32_t magic = cudart::kWrapperMagic, version = 1;
      const void* data = nullptr;
      void* further = nullptr;
    } wrapper;
    wrapper.data = binary.data();
    void** const handle = reinterpret_cast<void** (*)(void*)>(address("__cudaRegisterFatBinary"))(&wrapper);
    using Register = void (*)(void**, const void*, char*, const char*, int, void*, void*, void*, void*, int*);
    reinterpret_cast<Register>(address("__cudaRegisterFunction"))(handle, stub, nullptr, name, -1, nullptr, nullptr,
                                                                  nullptr, nullptr, nullptr);
  }

 private:
  void* address(const char* name) const {
    void* const found = ::dlsym(library_, name);
    if (found == nullptr) throw InternalError(fmt::format("the run-time library has no {}", name));
    return found;
  }
  void* library_ = nullptr;
};

// The simulator, in a process of its own, and this process as its program.
class Simulated {
 public:
  Simulated() {
    const std::string path = (folder_.path() / "device").string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw InternalError("TMPDIR is too long a name for a socket");
    path.copy(address.sun_path, path.size());
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener, 1) != 0) {
      throw InternalError(fmt::format("no socket can be made: {}", std::strerror(errno)));
    }
    os::ProcessSetup setup;
    setup.dies_with_parent = true;
    simulator_.emplace(os::ChildProcess::copy([listener] { return simulate(listener); }, setup));
    ::close(listener);
    ::setenv(cudart::kSocketVariable, path.c_str(), 1);
    ::prctl(PR_SET_PTRACER, simulator_->id(), 0, 0, 0);  // as a program that starts its simulator does
    library.register_kernel(binary_, &kCount, "count");
  }
  // Of both processes.
  [[nodiscard]] double cpu_seconds() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(simulator_->id(), &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
      throw InternalError("the simulator's processor time is not known");
    }
    return tb::cpu_clock() + static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  const Library library;

 private:
  static int simulate(int listener) {
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return 1;
    const hw::Machine machine = tb::read_machine("baseline");
    tb::session::Session session(connection, machine, nullptr);
    isa::Module module = session.compile({});
    tb::Device device(machine);
    device.load(std::move(module));
    session.serve(device);
    return 0;
  }
  os::TemporaryFolder folder_;
  std::string binary_ = cudart::fat_binary(cudart::fat_binary_entry(kCount, 60, false));
  std::optional<os::ChildProcess> simulator_;
};

struct Extent {  // dim3
  unsigned x = 1, y = 1, z = 1;
};
constexpr int kToDevice = 1;
constexpr int kToHost = 2;

Sample launches(std::uint64_t times) {
  const Simulated simulated;
  const Library& library = simulated.library;
  void* counter = nullptr;
  library.call("cudaMalloc", &counter, sizeof(std::uint32_t));
  library.call("cudaMemset", counter, 0, sizeof(std::uint32_t));
  void* arguments[] = {&counter};
  const auto launch = [&] {
    library.call("cudaLaunchKernel", static_cast<const void*>(&kCount), Extent{}, Extent{32, 1, 1},
                 static_cast<void**>(arguments), std::size_t{0}, static_cast<void*>(nullptr));
  };
  launch();
  const double begin = simulated.cpu_seconds();
  for (std::uint64_t i = 0; i < times; ++i) launch();
  library.call("cudaDeviceSynchronize");
  const double seconds = simulated.cpu_seconds() - begin;
  std::uint32_t counted = 0;
  library.call("cudaMemcpy", static_cast<void*>(&counted), static_cast<const void*>(counter), sizeof counted, kToHost);
  if (counted != times + 1) throw InternalError("not every launch has run");
  return {static_cast<double>(times), seconds, 0};
}

Sample copies_of_a_word(std::uint64_t times) {
  const Simulated simulated;
  const Library& library = simulated.library;
  void* memory = nullptr;
  library.call("cudaMalloc", &memory, sizeof(std::uint64_t));
  std::uint64_t value = 0;
  const double begin = simulated.cpu_seconds();
  for (std::uint64_t i = 1; i <= times; ++i) {
    library.call("cudaMemcpy", memory, static_cast<const void*>(&i), sizeof i, kToDevice);
    library.call("cudaMemcpy", static_cast<void*>(&value), static_cast<const void*>(memory), sizeof value, kToHost);
    if (value != i) throw InternalError("a copy brings another value");
  }
  return {2 * static_cast<double>(times), simulated.cpu_seconds() - begin, 0};
}

constexpr std::size_t kLarge = std::size_t{64} << 20U;  // bytes

Sample large_copies(std::uint64_t times, bool to_device) {
  const Simulated simulated;
  const Library& library = simulated.library;
  std::vector<char> from(kLarge, 1);
  std::vector<char> to(kLarge, 2);
  void* memory = nullptr;
  library.call("cudaMalloc", &memory, kLarge);
  const auto send = [&] {
    library.call("cudaMemcpy", memory, static_cast<const void*>(from.data()), kLarge, kToDevice);
  };
  const auto fetch = [&] {
    library.call("cudaMemcpy", static_cast<void*>(to.data()), static_cast<const void*>(memory), kLarge, kToHost);
  };
  // The library maps what is copied often (cuda/cudart/shared_memory.hpp), and the pages of the mapping are touched
  // first.
  for (std::uint64_t i = 0; i < cudart::SharedMemory::kTimes; ++i) {
    send();
    fetch();
  }
  const double begin = simulated.cpu_seconds();
  for (std::uint64_t i = 0; i < times; ++i) {
    if (to_device) {
      send();
    } else {
      fetch();
    }
  }
  const double seconds = simulated.cpu_seconds() - begin;
  fetch();
  if (from != to) throw InternalError("a copy brings other bytes");
  return {static_cast<double>(times * kLarge), seconds, 0};
}

Sample plain_copies(std::uint64_t times) {
  std::vector<char> from(kLarge, 1);
  std::vector<char> to(kLarge, 2);
  const double begin = tb::cpu_clock();
  for (std::uint64_t i = 0; i < times; ++i) {
    from[i] = static_cast<char>(i);
    std::memcpy(to.data(), from.data(), kLarge);
  }
  const double seconds = tb::cpu_clock() - begin;
  if (from != to) throw InternalError("a copy brings other bytes");
  return {static_cast<double>(times * kLarge), seconds, 0};
}

}  // namespace

std::vector<Benchmark> call_benchmarks(double effort) {
  constexpr double kCalls = 20e3;  // a second: 50 microseconds each
  const auto times = [&](double count) { return static_cast<std::uint64_t>(std::max(1.0, count * effort)); };
  const std::string both = "processor time of program and simulator";
  return {{"calls-launch", "calls/s", fmt::format("{} launches of one warp, simulated; {}", times(10e3), both), kCalls,
           [n = times(10e3)] { return launches(n); }},
          {"calls-copy", "calls/s", fmt::format("{} copies of 8 bytes to the device and back; {}", times(10e3), both),
           kCalls, [n = times(10e3)] { return copies_of_a_word(n); }},
          {"copy-to-device", "bytes/s", fmt::format("{} times 64 MiB to the device; {}", times(20), both), std::nullopt,
           [n = times(20)] { return large_copies(n, true); }},
          {"copy-from-device", "bytes/s", fmt::format("{} times 64 MiB from the device; {}", times(20), both),
           std::nullopt, [n = times(20)] { return large_copies(n, false); }},
          {"copy-plain", "bytes/s", fmt::format("{} times 64 MiB by memcpy, to compare with", times(20)), std::nullopt,
           [n = times(20)] { return plain_copies(n); }}};
}

}  // namespace heddle::studies
