#include "studies/bench/forked.hpp"

#include <cstring>
#include <exception>
#include <string>

#include "base/error.hpp"
#include "os/process/child_process.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::studies {
namespace {

constexpr char kGood = 1;
constexpr char kBad = 0;

// The child's side: a byte that says whether it went well, then the sample or the message.
int answer(int pipe, const std::function<Sample()>& measure) {
  std::string text(1, kGood);
  try {
    const Sample sample = measure();
    text.append(reinterpret_cast<const char*>(&sample), sizeof sample);
  } catch (const std::exception& error) {
    text = std::string(1, kBad) + error.what();
  }
  return os::write_all(pipe, text) ? 0 : static_cast<int>(ExitCode::internal_error);
}

}  // namespace

Sample in_child(const std::function<Sample()>& measure) {
  os::Pipe pipe = os::make_pipe();
  os::ProcessSetup setup;
  setup.in = os::Redirection::inherited();
  os::ChildProcess child = os::ChildProcess::copy(
      [&] {
        pipe.reads.close();
        return answer(pipe.writes.number(), measure);
      },
      setup);
  pipe.writes.close();
  const std::string text = os::read_all(pipe.reads.number());
  child.wait();
  Sample sample;
  if (text.size() == 1 + sizeof sample && text.front() == kGood) {
    std::memcpy(&sample, text.data() + 1, sizeof sample);
    return sample;
  }
  throw InternalError(text.empty() ? "the measuring process died" : text.substr(1));
}

}  // namespace heddle::studies
