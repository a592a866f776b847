// One run of a LAUNCH.toml on an executor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb/executor.hpp"
#include "tb/launch/description.hpp"
#include "tb/workload.hpp"

namespace heddle::tb::launch {

class Session {
 public:
  // Checks every step against the loaded kernels; nothing is allocated yet. Throws InputError.
  Session(const Description& description, Executor& executor);

  void fill();  // allocates the buffers and gives them their contents
  void run();   // the steps in order
  [[nodiscard]] Verdict compare() const;
  void write(const std::string& directory) const;

 private:
  void check(const Step& step) const;
  void run(const Step& step);
  void launch(const Step& step);
  [[nodiscard]] bool go_on(const Loop& loop, std::uint64_t& passes);
  [[nodiscard]] std::string contents(std::size_t buffer) const;
  // The first difference, or nothing.
  [[nodiscard]] std::optional<std::string> difference(const Output& output) const;

  const Description& description_;
  Executor& executor_;
  std::vector<std::uint64_t> addresses_;  // of the buffers
};

}  // namespace heddle::tb::launch
