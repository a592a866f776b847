// A recorded trace as a machine replays it.
#pragma once

#include <optional>
#include <sstream>
#include <string>

#include "tb/device/device.hpp"
#include "tb/measure/trace_subject.hpp"
#include "tests/model/child.hpp"

namespace heddle::test {

// What look(device) says behind the replay.
template <class Look>
std::string replayed(const hw::Machine& machine, const std::string& trace, Look look) {
  return in_child([&] {
    std::istringstream in(trace);
    tb::TraceSubject subject(in, "k.trace");
    subject.check(machine);
    tb::DeviceOptions options;
    options.replay = &subject;
    tb::Device device(machine, options);
    device.load(subject.compile());
    static_cast<void>(subject.run(device, std::nullopt));
    return look(device);
  });
}

}  // namespace heddle::test
