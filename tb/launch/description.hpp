// A LAUNCH.toml as it was read: checked as far as that goes without the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "isa/program.hpp"
#include "tb/launch/values.hpp"

namespace heddle::tb::launch {

struct Buffer {
  struct File {
    std::string path;
  };
  struct Ramp {
    Number start, step;  // element i is start + i * step
  };
  struct Random {
    Number low, high;  // integers: both included; floats: low + (high - low) * u, u in [0, 1)
    std::uint64_t seed = 1;
  };

  SourceLocation where;
  std::string name;
  isa::Type type = isa::Type::u32;
  std::uint64_t count = 0;                        // elements
  std::variant<Number, File, Ramp, Random> fill;  // Number: that value everywhere

  [[nodiscard]] std::uint64_t bytes() const { return count * isa::size_of(type); }
};

struct Argument {
  SourceLocation where;
  std::string text;  // for messages: "{ u32 = 8192 }"
  std::optional<std::size_t> buffer;
  std::uint64_t offset = 0;         // bytes into the buffer
  std::optional<isa::Type> type;    // of a scalar
  std::vector<std::uint8_t> bytes;  // of a scalar or a structure by value
};

struct Loop {
  SourceLocation where;
  std::size_t buffer = 0;
  std::uint64_t index = 0;  // element that is tested before each pass; the loop ends when it is zero
  bool reset = false;       // set it to zero after the test
  std::uint64_t max = 0;    // passes; more are a fault
};

// A kernel launch, or a group of steps under a loop.
struct Step {
  SourceLocation where;
  std::optional<Loop> loop;
  std::vector<Step> steps;  // empty: a kernel launch
  // ---- a kernel launch
  SourceLocation entry_where;
  std::string entry;
  isa::Dim3 grid;
  isa::Dim3 block;
  std::uint32_t shared = 0;  // bytes of dynamic scratchpad
  std::vector<Argument> arguments;
};

struct Output {
  SourceLocation where;
  std::size_t buffer = 0;
  std::optional<std::string> file;    // below the output directory
  std::optional<std::string> expect;  // path of the expected contents
  std::optional<double> tolerance;    // relative
};

struct Description {
  std::string path;
  bool is_cuda = false;
  SourceLocation source_where;
  std::string source;  // the .cu or .ptx
  unsigned address_bits = 32;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Output> outputs;
};

// Reads the text of a LAUNCH.toml; `path` names it in messages, and its folder is where relative paths start.
[[nodiscard]] Description parse(std::string_view text, const std::string& path);

}  // namespace heddle::tb::launch
