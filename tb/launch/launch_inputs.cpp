#include "tb/launch/launch_inputs.hpp"

namespace heddle::tb {

void add_inputs(os::CommandFiles& files, const std::shared_ptr<const LaunchFile>& launch) {
  files.reads("the launch file", launch->path());
  for (const LaunchFile::InputFile& input : launch->inputs()) {
    files.reads(input.what, input.path);
  }
  files.reads_texts("a header of the kernel file", [launch] { return launch->includes(); });
}

}  // namespace heddle::tb
