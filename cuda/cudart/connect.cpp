// The runtime's connection to the simulator: how it is found, what goes over it, and what becomes of it when the
// program closes its descriptors, makes a copy of itself, or leaves a call in its middle.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>

#include "cuda/cudart/device_address.hpp"
#include "cuda/cudart/environment.hpp"
#include "cuda/cudart/host_memory.hpp"
#include "cuda/cudart/runtime.hpp"

extern char** environ;

namespace heddle::cudart {
namespace {

constexpr int kFaultExit = 3;  // as `heddle run` ends
constexpr const char* kBroken =
    "the connection to the simulator is broken: something in the program has closed it or written to it";

bool is_program(const std::string& path) {
  struct stat found {};  // a folder may have the name
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// The simulator: named by the environment, beside this library, where an installation has it, or on the PATH.
std::string simulator_path() {
  if (const std::string named = environment(cudart::kProgramVariable); !named.empty()) return named;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&simulator_path), &info) != 0 && info.dli_fname != nullptr) {
    char* const file = ::realpath(info.dli_fname, nullptr);  // a toolkit's folder has a link
    std::string folder = file == nullptr ? info.dli_fname : file;
    std::free(file);
    folder.erase(std::min(folder.rfind('/'), folder.size()));
    for (const char* const place : {"/heddle", "/../bin/heddle", "/../../bin/heddle"}) {
      if (is_program(folder + place)) return folder + place;
    }
  }
  return "heddle";
}

// A connection to a socket of the process; -1: it has none there.
int connect_to(pid_t simulator, cudart::Coming coming) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const cudart::DeviceAddress address = cudart::device_address(simulator, coming);
  if (socket >= 0 && ::connect(socket, address.get(), address.size) == 0 && cudart::peer_of(socket) == simulator) {
    return socket;
  }
  if (socket >= 0) ::close(socket);
  return -1;
}

// Whether the process is a run, of another process or one that is over. No connection is taken.
bool runs(pid_t simulator) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const cudart::DeviceAddress address = cudart::device_address(simulator, cudart::Coming::behind);
  const bool there = socket >= 0 && (::connect(socket, address.get(), address.size) == 0 || errno == EAGAIN);
  if (socket >= 0) ::close(socket);
  return there;
}

// The descriptor by another number, which programs seldom have among the numbers that they close or write to without
// having opened them.
int out_of_the_way(int descriptor) {
  constexpr rlim_t kMost = 4096;  // the system keeps a table up to the largest number
  constexpr rlim_t kBelow = 32;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t most = std::min(limit.rlim_cur, kMost);
  const int other = ::fcntl(descriptor, F_DUPFD_CLOEXEC, most > 2 * kBelow ? static_cast<int>(most - kBelow) : 3);
  if (other < 0) return descriptor;
  ::close(descriptor);
  return other;
}

}  // namespace

Runtime::Runtime() {
  ::pthread_atfork(nullptr, nullptr, [] { instance().begin_anew_after_fork(); });
}

// The child of a fork() has its parent's connection as its own descriptors, and a lock that a thread may hold which it
// does not have.
void Runtime::begin_anew_after_fork() {
  new (&lock) std::recursive_mutex;
  depth_ = 0;
  outermost_ = nullptr;
  if (life_ == nullptr) return;  // nothing has been asked yet: it may be the one that does
  *life_ = 0;
  if (socket_.still_open()) {
    socket_.close();
  } else {
    socket_.forget();
  }
}

// A page that the system empties in copies of the process, however they are made.
void Runtime::mark_life() {
  void* const page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  ::madvise(page, kPage, MADV_WIPEONFORK);
  life_ = static_cast<unsigned char*>(page);
  *life_ = 1;
}

// The run that has started this process or one that it descends from, whatever has become of the environment.
bool Runtime::find_run() {
  constexpr int kMost = 1000;  // generations
  pid_t process = ::getppid();
  for (int i = 0; i != kMost && process > 0; ++i, process = cudart::parent_of(process)) {
    if (const int socket = connect_to(process, cudart::Coming::first); socket >= 0) {
      socket_.take(out_of_the_way(socket));
      return true;
    }
    if (runs(process)) refuse();
  }
  return false;
}

void Runtime::refuse() {
  ended_ = true;
  std::fprintf(stderr, "heddle: this process cannot use the simulated GPU: a run is of one process\n");
  std::exit(kFaultExit);
}

void Runtime::start_simulator() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Failure{cudaErrorInitializationError, "no socket can be made"};
  }
  const std::string path = simulator_path();
  std::string config = environment(cudart::kConfigVariable);
  if (config.empty()) config = "baseline";
  std::vector<std::string> words = {path, "exec", "--attach", "0", "--config", config};
  std::istringstream further(environment(cudart::kOptionsVariable));
  for (std::string word; further >> word;) words.push_back(word);
  words.insert(words.end(), {"--", program_invocation_name});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, path.c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    throw Failure{cudaErrorInitializationError, "the simulator '" + path + "' cannot be started: " +
                                                    std::strerror(error) + "; name it in " + cudart::kProgramVariable};
  }
  simulator_ = child;
  socket_.take(out_of_the_way(ends[0]));
  ::prctl(PR_SET_PTRACER, child, 0, 0, 0);  // it copies large blocks itself; where it may not, they are sent
}

void Runtime::connect() {
  if (ended_) throw Failure{cudaErrorCudartUnloading, ""};
  require(!is_copy(), cudaErrorInitializationError, "");
  if (connected_) return;
  connected_ = true;
  ends_on_fault_ = environment(cudart::kErrorsVariable) != "return";
  blocking_ = std::atoi(environment(cudart::kBlockingVariable).c_str()) != 0;
  if (const std::string path = environment(cudart::kSocketVariable); !path.empty()) {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (socket < 0 || ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) refuse();
    socket_.take(out_of_the_way(socket));
  } else if (!find_run()) {
    start_simulator();
  }
  server_ = simulator_ >= 0 ? simulator_ : cudart::peer_of(socket_.number());
  mark_life();
  std::atexit([] { instance().end(); });
  Question hello{Call::hello, 0, {cudart::kProtocolVersion}, 0};
  try {
    ask(hello);
  } catch (const Failure& failure) {
    if (taken_by_another_) refuse();
    throw;
  }
  require(bytes_.size() == sizeof machine_, cudaErrorInitializationError, "the simulator is of another version");
  std::memcpy(&machine_, bytes_.data(), sizeof machine_);
  if (machine_.keeps_going != 0) ends_on_fault_ = false;
}

// Over a new connection, when the old one is the program's no more. False: no simulator is there. A question or an
// answer that was lost is told, and ends the run.
bool Runtime::come_again(bool lost) {
  if (socket_.still_open()) {
    socket_.close();
  } else {
    socket_.forget();
  }
  const int socket = server_ > 0 ? connect_to(server_, cudart::Coming::again) : -1;
  if (socket < 0) return false;
  socket_.take(out_of_the_way(socket));
  Question question{Call::resume, 0, {asked_, lost ? 1U : 0U}, 0};
  question.mark = cudart::mark_of(0);
  if (!socket_.send({{{&question, sizeof question}, {}, {}, {}}})) return false;
  if (lost) return true;
  Answer answer;
  return socket_.receive(&answer, sizeof answer, [] {}) && answer.mark == question.mark && answer.error == cudaSuccess;
}

// A process that is being ended closes its connections first.
bool Runtime::simulator_lives() const {
  constexpr int kMilliseconds = 200;
  pollfd process{static_cast<int>(::syscall(SYS_pidfd_open, server_, 0)), POLLIN, 0};
  if (process.fd < 0) return errno != ESRCH && server_ > 0;
  const bool ended = ::poll(&process, 1, kMilliseconds) == 1;
  ::close(process.fd);
  return !ended;
}

void Runtime::lost(const std::string& why) {
  const bool there = come_again(true);
  socket_.close();
  taken_by_another_ = there && asked_ <= 1;  // and this process has waited behind it
  broken_ = true;
  exchanging_ = false;
  throw Failure{cudaErrorDevicesUnavailable, simulator_lives() ? why : "the simulator has ended", true};
}

// A call that a signal handler has left. Its answer will come, and is dropped.
void Runtime::leave_behind() {
  if (!socket_.has_lost_nothing()) {
    lost(
        "an earlier call was left in its middle (by longjmp, an exception or the end of its thread), and the "
        "connection to the simulator with it");
  }
  left_.insert(asked_);
  exchanging_ = false;
}

// `looks`: whether the descriptor is still the connection. What is sent without an answer goes without, since it is
// much more often: the next question that has one shows what became of it.
void Runtime::send(Question& question, const void* bytes, bool looks) {
  if (broken_) throw Failure{cudaErrorDevicesUnavailable, ""};
  if (exchanging_) leave_behind();
  question.mark = cudart::mark_of(asked_ + 1);
  exchanging_ = true;
  if (looks && !socket_.still_open() && !come_again(false)) lost(kBroken);
  for (bool again = false;; again = true) {
    if (socket_.send({{{&question, sizeof question}, {bytes, question.bytes}, {}, {}}})) break;
    if (socket_.error() == EFAULT && !socket_.in_part()) {
      exchanging_ = false;
      throw Failure{cudaErrorInvalidValue, no_memory_to_read(bytes, question.bytes)};
    }
    if (again || socket_.in_part() || !come_again(false)) lost(kBroken);
  }
  ++asked_;
  socket_.expect_message();
}

void Runtime::receive(void* data, std::size_t size) {
  if (!socket_.receive(data, size, [] {})) lost(kBroken);
}

// Bytes of an answer that go to memory of the program's: all bytes are taken, so that the next answer can come.
bool Runtime::receive_for_program(void* into, std::size_t size) {
  constexpr std::size_t kPiece = 1U << 16U;
  bool there = true;
  for (std::size_t done = 0; done < size;) {
    const std::size_t count = std::min(kPiece, size - done);
    bytes_.resize(count);
    receive(bytes_.data(), count);
    there = there && write_host(static_cast<char*>(into) + done, bytes_.data(), {0, count, 1});
    done += count;
  }
  return there;
}

// The answer to the latest question, and its message. Answers to questions that were left come first.
void Runtime::receive_answer(Answer& answer, std::string& text) {
  for (;;) {
    receive(&answer, sizeof answer);
    const bool left = (answer.mark & cudart::kMark) == cudart::kMark && !left_.empty() &&
                      answer.mark == cudart::mark_of(*left_.begin());
    if ((!left && answer.mark != cudart::mark_of(asked_)) || answer.text > cudart::kMostText ||
        answer.printed > cudart::kMostBytes || answer.bytes > cudart::kMostBytes) {
      lost("what has come from the simulator is no answer to this call");
    }
    text.resize(answer.text);
    receive(text.data(), text.size());
    std::string printed(answer.printed, '\0');
    receive(printed.data(), printed.size());
    if (!printed.empty()) keep_print(printed);
    if (!left) return;
    bytes_.resize(answer.bytes);
    receive(bytes_.data(), bytes_.size());
    left_.erase(left_.begin());
    socket_.expect_message();
  }
}

Answer Runtime::exchange(Question question, const void* bytes, void* into, std::size_t capacity) {
  send(question, bytes, true);
  return take_answer(question.call, into, capacity);
}

// What Call::share brings besides: the file's descriptor, out of the way; -1: there is no file.
Answer Runtime::ask_for_file(int& descriptor) {
  Question question{Call::share, 0, {}, 0};
  send(question, nullptr, true);
  // An answer that no call has waited for stands in front of the byte that brings it.
  if (!left_.empty()) lost("an earlier call was left in its middle");
  if (!socket_.receive_descriptor(descriptor)) lost(kBroken);
  if (descriptor >= 0) descriptor = out_of_the_way(descriptor);
  return take_answer(Call::share, nullptr, 0);
}

Answer Runtime::take_answer(Call call, void* into, std::size_t capacity) {
  Answer answer;
  std::string text;
  receive_answer(answer, text);
  bool there = true;
  if (into == nullptr) {
    bytes_.resize(answer.bytes);
    receive(bytes_.data(), bytes_.size());
  } else if (answer.bytes > capacity) {
    lost("what has come from the simulator is no answer to this call");
  } else {
    there = receive_for_program(into, answer.bytes);
  }
  exchanging_ = false;
  const auto error = static_cast<cudaError_t>(answer.error);
  if (error == cudaSuccess && !there) throw Failure{cudaErrorInvalidValue, no_memory_to_write(into, answer.bytes)};
  if (error == cudaSuccess) return answer;
  taken_.clear();  // after a fault launches are refused
  if ((is_fault(error) || call == Call::begin) && ends_on_fault_) {
    show_prints();
    std::fflush(stdout);
    if (simulator_ < 0) std::_Exit(kFaultExit);  // the simulator says why
    ended_ = true;
    Question end{Call::end, 0, {}, 0};  // or the simulator waits for this process, as this one does for it
    end.mark = cudart::mark_of(asked_ + 1);
    static_cast<void>(socket_.send({{{&end, sizeof end}, {}, {}, {}}}));
    socket_.close();
    int status = 0;
    ::waitpid(simulator_, &status, 0);
    std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : kFaultExit);
  }
  if (is_fault(error)) fault_ = error;
  throw Failure{error, text};
}

void Runtime::leave() {
  if (!ends_on_fault_) return;
  show_prints();
  std::fflush(stdout);
  std::_Exit(kFaultExit);
}

void Runtime::end() {
  if (is_copy()) return;
  const std::lock_guard<std::recursive_mutex> held(lock);
  if (ended_) return;
  ended_ = true;
  // From a signal handler in the middle of a call nothing is waited for: the simulator does all that was asked for.
  try {
    if (!broken_ && !exchanging_) settle();
  } catch (const Failure& failure) {
    report(failure, "the end of the program");
  }
  try {
    if (!broken_ && exchanging_ && !socket_.has_lost_nothing()) {
      static_cast<void>(come_again(true));
    } else if (!broken_) {
      Question end{Call::end, 0, {}, 0};
      send(end, nullptr, true);
    }
  } catch (const Failure& failure) {
    report(failure, "the end of the program");
  }
  show_prints();
  std::fflush(stdout);
  if (socket_.still_open()) {
    socket_.close();
  } else {
    socket_.forget();
  }
  if (simulator_ > 0) {
    int status = 0;
    ::waitpid(simulator_, &status, 0);
  }
}

}  // namespace heddle::cudart
