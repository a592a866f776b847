#include "tb/measure/session_subject.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "cuda/cudart/protocol.hpp"
#include "tb/session/listener.hpp"

namespace heddle::tb {
namespace {

constexpr int kLookMilliseconds = 20;  // between looks whether a program that does not call has ended

// The folder of the run-time library's other names, under which programs of nvcc look for it: before the folders of
// LD_LIBRARY_PATH. Nothing when it is not there.
std::optional<std::string> library_path() {
  namespace fs = std::filesystem;
  const fs::path here = fs::path(os::own_program()).parent_path();
  for (const char* const place : {"cudart", "../lib/heddle", "../lib/x86_64-linux-gnu/heddle", "../lib64/heddle"}) {
    std::error_code ignored;
    const fs::path folder = fs::weakly_canonical(here / place, ignored);
    if (!fs::exists(folder / "libcudart.so.12", ignored)) continue;
    const char* const others = std::getenv("LD_LIBRARY_PATH");
    return "LD_LIBRARY_PATH=" + folder.string() + (others == nullptr || *others == 0 ? "" : ":") +
           (others == nullptr ? "" : others);
  }
  return std::nullopt;
}

}  // namespace

SessionSubject::SessionSubject(Setup setup) : setup_(std::move(setup)) {}

SessionSubject::~SessionSubject() {
  session_.reset();  // the program hears that no answers come any more
  if (child_) {
    child_->send(SIGTERM);
    wait();
  }
}

std::optional<int> SessionSubject::start() const {
  folder_.emplace();
  const std::string path = (folder_->path() / "device").string();
  if (path.size() >= sizeof sockaddr_un{}.sun_path) {
    throw InputError({path}, "is too long a name for a socket", "set TMPDIR to a folder with a shorter name");
  }
  const session::Listener listener(path.c_str());
  if (listener.number() < 0) throw InputError({path}, fmt::format("no socket can be made: {}", std::strerror(errno)));
  // For programs whose environment does not say so.
  const session::Listener by_name(cudart::Coming::first);
  run_ = session::Listener(cudart::Coming::behind);
  const pid_t own = ::getpid();
  os::ProcessSetup process;
  process.in = os::Redirection::inherited();
  process.environment = {fmt::format("{}={}", cudart::kSocketVariable, path)};
  if (const auto path = library_path()) process.environment.push_back(*path);
  if (!setup_.ends_on_fault) process.environment.push_back(fmt::format("{}=return", cudart::kErrorsVariable));
  try {
    child_ = os::ChildProcess::start(setup_.words, process);
  } catch (const os::StartError& error) {
    throw InputError({setup_.words.front()}, "the program cannot be started: " + error.reason(),
                     "name it with its folder (./program)");
  }
  for (;;) {
    std::array<pollfd, 2> look{{{listener.number(), POLLIN, 0}, {by_name.number(), POLLIN, 0}}};
    if (::poll(look.data(), look.size(), kLookMilliseconds) > 0) {
      if (const int socket = listener.accept([](pid_t) { return true; }); socket >= 0) return socket;
      const auto is_ours = [own](pid_t process) { return cudart::descends(process, own); };
      if (const int socket = by_name.accept(is_ours); socket >= 0) return socket;
    }
    if (const std::optional<os::ProcessEnd> end = child_->poll()) {
      child_.reset();
      if (setup_.ended != nullptr) *setup_.ended = end;
      return std::nullopt;
    }
    if (setup_.interrupted != nullptr && setup_.interrupted->load()) return std::nullopt;
  }
}

isa::Module SessionSubject::compile(std::vector<std::string>* notes, const std::atomic<bool>* interrupted) const {
  const std::optional<int> socket = setup_.attached ? setup_.attached : start();
  if (!socket) return {};
  session_ = std::make_unique<session::Session>(*socket, setup_.machine, setup_.interrupted);
  session_->expect_again();
  if (!setup_.ends_on_fault) session_->keep_going();
  ptx::CompileOptions options(setup_.code);
  options.notes = notes;
  options.interrupted = interrupted;
  try {
    return session_->compile(options);
  } catch (const ptx::Interrupted&) {
    session_.reset();
    if (child_) child_->send(SIGTERM);
    wait();
    throw;
  } catch (...) {
    session_.reset();
    wait();
    throw;
  }
}

std::uint64_t SessionSubject::threads() const {
  std::uint64_t most = 0;
  for (const session::LaunchSummary& launch : launches()) {
    most = std::max(most, launch.grid.count() * launch.block.count());
  }
  return most;
}

PrintText SessionSubject::takes_print() {
  return [this](const std::string& text) {
    if (session_) session_->print(text);
  };
}

std::vector<session::LaunchSummary> SessionSubject::launches() const {
  return session_ ? session_->launches() : std::vector<session::LaunchSummary>{};
}

session::SimulationTime SessionSubject::simulation_time() const {
  return session_ ? session_->simulation_time() : session::SimulationTime{};
}

void SessionSubject::wait() const {
  if (!child_) return;
  const os::ProcessEnd end = child_->wait();
  child_.reset();
  if (setup_.ended != nullptr) *setup_.ended = end;
}

Verdict SessionSubject::run(Executor& /*executor*/, const std::optional<std::string>& /*output_directory*/) {
  if (session_) {
    try {
      session_->serve(*device_);
    } catch (...) {
      wait();
      throw;
    }
  }
  if (setup_.interrupted != nullptr && setup_.interrupted->load()) {
    if (child_) child_->send(SIGTERM);
    wait();
    throw RunStopped("interrupted");
  }
  wait();
  return {true, {}, false};
}

}  // namespace heddle::tb
