// The files of a call of heddle nvcc, said to what checks that it writes over none that it reads.
#pragma once

#include <string>
#include <vector>

#include "cuda/compiler/nvcc_options.hpp"
#include "os/files/command_files.hpp"

namespace heddle::cuda {

// Sources, objects, libraries and files of options; not what sources include.
void add_nvcc_inputs(os::CommandFiles& files, const NvccOptions& options);

// `results`: of each source, where what is made of it goes; empty: to the standard output.
void add_nvcc_outputs(os::CommandFiles& files, const NvccOptions& options, const std::vector<std::string>& sources,
                      const std::vector<std::string>& results);

// Takes CUTIL's library out of the inputs, with a note, where no -L names a folder that has it: cutil.h has its
// functions.
void leave_out_cutil(NvccOptions& options);

// The host compiler's words without the words that ask for a list of what is included (-MD -MF FILE ...).
[[nodiscard]] std::vector<std::string> without_dependency_options(const std::vector<std::string>& host);

// The lists of what is included that the host compiler makes besides its result (-MD, -MMD), or as its result (-M,
// -MM).
struct DependencyLists {
  bool wanted = false;             // besides a result
  bool has_target = false;         // -MT, -MQ
  std::string named;               // the file of -MF; empty: none
  std::vector<std::string> words;  // the host compiler's, without the file
};
[[nodiscard]] DependencyLists dependency_lists(const std::vector<std::string>& host);

// The list's file when none is named. `result`: what the source is compiled to.
[[nodiscard]] std::string usual_dependency_list(const NvccOptions& options, const std::string& input,
                                                const std::string& result);

}  // namespace heddle::cuda
