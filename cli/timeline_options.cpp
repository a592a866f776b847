#include "cli/timeline_options.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace heddle::cli {

void add_timeline_options(Command& command) {
  command.options.add_options()  //
      ("timeline", po::value<std::string>()->value_name("FILE.svg|FILE.json"),
       "draw what the banks and the bus of the memory channels do, over a window")                 //
      ("timeline-from", po::value<std::string>()->value_name("N"), "its first cycle (default 0)")  //
      ("timeline-cycles", po::value<std::string>()->value_name("N"), "its length (default 3000)");
}

std::optional<pages::TimelineRequest> timeline_request(const Arguments& arguments, const hw::Machine& machine) {
  if (!arguments.has("timeline")) {
    for (const char* option : {"timeline-from", "timeline-cycles"}) {
      if (arguments.has(option)) {
        throw InputError({std::string("--") + option}, "needs --timeline FILE.svg");
      }
    }
    return std::nullopt;
  }
  if (machine.dram.timing == "none") {
    throw InputError({"--timeline"}, "with dram.timing = \"none\" there are no banks and no bus to draw");
  }
  constexpr std::uint64_t kLongest = 1'000'000;  // more boxes than anybody's screen has points
  pages::TimelineRequest request;
  request.path = arguments.text("timeline");
  pages::check_timeline_path(request.path);
  request.begin = arguments.whole("timeline-from", 0, 0, UINT64_MAX - kLongest);
  request.cycles = arguments.whole("timeline-cycles", request.cycles, 1, kLongest);
  return request;
}

void warn_of_late_window(const Arguments& arguments, const std::string& option, std::uint64_t last_cycle) {
  const std::uint64_t begin = arguments.whole(option, 0, 0, UINT64_MAX);
  if (begin > last_cycle) {
    remark("warning",
           fmt::format("--{} {}: the window begins after the run's last cycle, {}", option, begin, last_cycle));
  }
}

}  // namespace heddle::cli
