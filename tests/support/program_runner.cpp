#include "tests/support/program_runner.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "os/process/child_process.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

struct Channel {
  os::Descriptor ours;
  os::Descriptor theirs;
};

Channel pipe_channel() {
  os::Pipe pipe = os::make_pipe();
  return {std::move(pipe.reads), std::move(pipe.writes)};
}

Channel terminal_channel() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) {
    throw std::runtime_error("no terminal");
  }
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  winsize size{};
  size.ws_col = 120;
  size.ws_row = 40;
  ::ioctl(slave, TIOCSWINSZ, &size);
  return {os::Descriptor(master), os::Descriptor(slave)};
}

}  // namespace

Ran spawn(const std::vector<std::string>& words, const RunSetup& setup) {
  Channel out = pipe_channel();
  Channel err = setup.terminal ? terminal_channel() : pipe_channel();
  os::ProcessSetup process;
  process.folder = setup.folder;
  process.environment = setup.environment;
  process.in = os::Redirection::inherited();
  process.out = os::Redirection::descriptor(out.theirs.number());
  process.err = os::Redirection::descriptor(err.theirs.number());
  Ran ran;
  try {
    os::ChildProcess child = os::ChildProcess::start(words, process);
    out.theirs.close();
    err.theirs.close();
    std::thread reader([&] { ran.err = os::read_all(err.ours.number()); });
    std::thread actor([&] {
      if (setup.while_running) {
        setup.while_running(child.id());
      }
    });
    ran.out = os::read_all(out.ours.number());
    actor.join();
    reader.join();
    ran.code = child.wait().shell_code();
  } catch (const os::StartError& error) {
    ran.code = kNotStarted;
    ran.err = error.what();
  }
  return ran;
}

Ran heddle(const std::vector<std::string>& words, const RunSetup& setup) {
  std::vector<std::string> all = {HEDDLE_PROGRAM};
  all.insert(all.end(), words.begin(), words.end());
  return spawn(all, setup);
}

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "heddle-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  folder_ = pattern;
}

Scratch::~Scratch() {
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return path(name);
}

std::string Scratch::read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) {
    ++found;
  }
  return found;
}

}  // namespace heddle::test
