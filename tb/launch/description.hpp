// A LAUNCH.toml as it was read: checked as far as that goes without the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "cuda/compiler/architecture.hpp"
#include "isa/device_heap.hpp"
#include "isa/module.hpp"
#include "ptx/refusal.hpp"
#include "tb/device/picture.hpp"
#include "tb/device/values.hpp"

namespace heddle::tb::launch {

// What bytes are filled with, element by element.
struct Fill {
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
  using List = std::vector<Number>;
  std::variant<Number, List, File, Ramp, Random> contents;  // Number: that value everywhere
};

struct Buffer {
  // Addresses of another buffer's elements, written into this buffer after it was filled.
  struct Pointers {
    SourceLocation where;
    std::uint64_t index = 0;  // the first one's place: an element of this buffer
    std::uint64_t index_step = 0;
    std::size_t buffer = 0;    // where they point
    std::uint64_t offset = 0;  // the first one's: bytes into that buffer
    std::uint64_t offset_step = 0;
    std::uint64_t count = 1;
  };

  SourceLocation where;
  std::string name;
  isa::Type type = isa::Type::u32;
  std::uint64_t count = 0;  // elements
  // A __device__ or __constant__ variable of the program is this buffer; empty: memory of its own.
  std::string symbol;
  SourceLocation symbol_where;
  std::optional<Fill> fill;  // none: zero, or a variable's initial value
  std::vector<Pointers> pointers;
  std::optional<PictureShape> image;  // it is a picture when the last step has run

  [[nodiscard]] std::uint64_t bytes() const { return count * isa::size_of(type); }
};

// A number that is another one in each pass of a loop: start + step * pass, start * factor^pass or start / divisor^pass
// (rounded towards zero for integers), passes counted from 0.
struct Counted {
  enum class Rule : std::uint8_t { step, factor, divisor };
  std::size_t loop = 0;  // which of the loops around the step counts, the outermost is 0
  Number start;
  Rule rule = Rule::step;
  Number by;
  [[nodiscard]] Number at(std::uint64_t pass, bool real) const;
};

// The bytes of an argument; `patches` are put into them at each launch.
struct Argument {
  struct Patch {
    std::size_t at = 0;                 // byte of the argument
    std::optional<std::size_t> buffer;  // its address; none: `counted` is the value
    std::uint64_t offset = 0;           // bytes into the buffer
    std::uint64_t unit = 0;             // with a buffer: bytes per count of `counted`, 0: it is not counted
    isa::Type type = isa::Type::u32;    // of the value
    Counted counted;
  };
  SourceLocation where;
  std::string text;               // for messages: "{ u32 = 8192 }"
  std::optional<isa::Type> type;  // of a scalar
  bool is_pointer = false;
  unsigned alignment = 1;  // within a structure
  std::vector<std::uint8_t> bytes;
  std::vector<Patch> patches;
};

// A comparison of an element with a value.
struct Condition {
  enum class Test : std::uint8_t { equal, not_equal, less, at_most, greater, at_least };
  std::size_t buffer = 0;
  std::uint64_t index = 0;
  Test test = Test::not_equal;
  Number value;
};

struct Loop {
  SourceLocation where;
  std::optional<Condition> condition;  // tested before each pass, which runs when it holds; none: `passes` are run
  bool reset = false;                  // set the element to zero after a test that holds
  std::uint64_t passes = 0;            // with a condition: at most, more are a fault
  std::string counter;                 // name of the passes' number; empty: none
};

// What the host does: a kernel launch, a copy, a fill, or a group of steps; in a loop, or under a condition.
struct Step {
  enum class Kind : std::uint8_t { launch, copy, fill, group };
  SourceLocation where;
  Kind kind = Kind::launch;
  std::optional<Condition> run_if;  // tested once, before the step
  std::optional<Loop> loop;
  std::vector<Step> steps;  // of a group
  // ---- a kernel launch
  SourceLocation entry_where;
  std::string entry;
  isa::Dim3 grid;
  isa::Dim3 block;
  std::optional<Counted> counted_grid[3];
  std::uint32_t shared = 0;  // bytes of dynamic scratchpad
  bool cooperative = false;
  std::vector<Argument> arguments;
  // ---- a copy, and a fill (`to`): bytes
  struct Range {
    std::size_t buffer = 0;
    std::uint64_t offset = 0;
    std::optional<Counted> counted;  // `offset` is `unit` times this
    std::uint64_t unit = 0;
  };
  Range from, to;
  std::uint64_t bytes = 0;
  Fill fill;
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
  std::string source;                       // the .cu or .ptx
  std::vector<ptx::RefusedKernel> refused;  // of its kernels, once it has been compiled
  unsigned address_bits = 32;
  unsigned architecture = cuda::kLeastArchitecture;  // of a .cu
  std::uint64_t heap_bytes = isa::DeviceHeap::kUsualLimit;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Output> outputs;
};

// The files that the fills of buffers and steps read, with the buffer that each is for.
struct FillFile {
  std::string buffer;
  std::string path;
};
[[nodiscard]] std::vector<FillFile> fill_files(const Description& description);

// Reads the text of a LAUNCH.toml; `path` names it in messages, and its folder is where relative paths start.
[[nodiscard]] Description parse(std::string_view text, const std::string& path);

}  // namespace heddle::tb::launch
