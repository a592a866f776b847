// A run in a process of its own: SystemC elaborates once per process.
#pragma once

#include <exception>
#include <string>

#include "os/process/child_process.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::test {

// What `make_text()` returns in a child; "refused: " and the message when it throws. `end`, if there, hears how the
// child ended.
template <class MakeText>
[[nodiscard]] std::string in_child(MakeText make_text, const os::ProcessSetup& setup = {},
                                   os::ProcessEnd* end = nullptr) {
  os::Pipe pipe = os::make_pipe();
  os::ChildProcess child = os::ChildProcess::copy(
      [&] {
        pipe.reads.close();
        std::string text;
        try {
          text = make_text();
        } catch (const std::exception& error) {
          text = std::string("refused: ") + error.what();
        }
        return os::write_all(pipe.writes.number(), text) ? 0 : 1;
      },
      setup);
  pipe.writes.close();
  std::string text = os::read_all(pipe.reads.number());
  const os::ProcessEnd ended = child.wait();
  if (end != nullptr) {
    *end = ended;
  }
  return ended.good() ? text : "the child died";
}

}  // namespace heddle::test
