// Workloads on machines, as the tests of whole cores name and make them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "tb/device/workload.hpp"

namespace heddle::test {

// The test machines ("test-" and their name), and every file of the source tree's configs/ folder, of whole
// GPUs their cuts.
[[nodiscard]] const std::vector<std::string>& machine_names();
// The machine of machine_names()[index]; its file is read only when it is wanted.
[[nodiscard]] hw::Machine machine_at(std::size_t index);
[[nodiscard]] hw::Machine machine_called(const std::string& name);

[[nodiscard]] std::vector<std::string> workload_names();
// By its name and variants. Compiled for `machine`, `size` times as large as in other tests.
[[nodiscard]] std::unique_ptr<tb::Workload> make_workload(const std::string& name, const hw::Machine& machine,
                                                          double size = 1, unsigned address_bits = 32);

// Pairs of a workload and one of `count` machines. Usual: one workload for each machine, in turn. Else all others, for
// long runs: none where no long case is wanted.
[[nodiscard]] std::vector<std::tuple<std::string, std::size_t>> cases_in_turn(const std::vector<std::string>& workloads,
                                                                              std::size_t count, bool usual);

// "bfs_on_test_tbcsimd8": what GoogleTest takes as a name.
[[nodiscard]] std::string case_name(const std::string& workload, const std::string& machine);

}  // namespace heddle::test
