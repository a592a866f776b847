// The reader of LAUNCH.toml (docs/launch-files.md).
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/nearest.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/launch/description.hpp"
#include "tb/launch/section.hpp"

namespace heddle::tb::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 32U;
constexpr std::uint64_t kMaxPasses = 1'000'000'000;
constexpr std::uint64_t kDefaultPasses = 100'000;
constexpr unsigned kMaxNesting = 8;  // loops within loops

// Types that a buffer's element or a scalar argument can have.
const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (unsigned i = 0; i < static_cast<unsigned>(isa::Type::pred); ++i) {
      made.emplace_back(isa::name_of(static_cast<isa::Type>(i)));
    }
    return made;
  }();
  return names;
}

std::optional<isa::Type> type_named(std::string_view name) {
  for (std::size_t i = 0; i < type_names().size(); ++i) {
    if (type_names()[i] == name) {
      return static_cast<isa::Type>(i);
    }
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const toml::table& root, const std::string& path)
      : path_(path),
        root_(root, path, "the launch file", {"cuda", "ptx", "address_bits", "buffer", "launch", "output"}) {
    description_.path = path;
  }

  Description read() {
    read_source();
    std::size_t number = 0;
    for (const toml::table* table : root_.tables("buffer")) {
      read_buffer(*table, ++number);
    }
    number = 0;
    for (const toml::table* table : root_.tables("launch")) {
      description_.steps.push_back(read_step(*table, fmt::format("[[launch]] number {}", ++number), 0));
    }
    if (description_.steps.empty()) {
      throw InputError({path_}, "there is no [[launch]]", "say which kernel to run: see docs/launch-files.md");
    }
    number = 0;
    for (const toml::table* table : root_.tables("output")) {
      read_output(*table, ++number);
    }
    return std::move(description_);
  }

 private:
  [[nodiscard]] std::string beside(const std::string& path) const {
    return (fs::path(path_).parent_path() / path).string();
  }
  // The path of an input file, which must be there.
  std::string input_file(const Section& section, std::string_view key) {
    const std::string named = section.string(key);
    std::string path = beside(named);
    std::error_code error;
    if (!fs::is_regular_file(path, error) || !std::ifstream(path)) {
      throw InputError(section.where(key), fmt::format("{}: cannot read the file '{}'", section.name(key), path),
                       "paths are relative to the launch file's folder");
    }
    return path;
  }

  void read_source() {
    description_.is_cuda = root_.has("cuda");
    if (root_.has("cuda") == root_.has("ptx")) {
      throw InputError(root_.has("ptx") ? root_.where("ptx") : SourceLocation{path_},
                       root_.has("ptx") ? "there are both 'cuda' and 'ptx'" : "there is neither 'cuda' nor 'ptx'",
                       "name one file that holds the kernels");
    }
    const char* key = description_.is_cuda ? "cuda" : "ptx";
    description_.source = input_file(root_, key);
    description_.source_where = root_.where(key);
    if (description_.is_cuda) {
      const std::uint64_t bits = root_.integer("address_bits", 32, 64, 32);
      if (bits != 32 && bits != 64) {
        throw InputError(root_.where("address_bits"), fmt::format("'address_bits' is {}", bits), "give 32 or 64");
      }
      description_.address_bits = static_cast<unsigned>(bits);
    } else {
      if (root_.has("address_bits")) {
        throw InputError(root_.where("address_bits"), "'address_bits' belongs to 'cuda'",
                         "a PTX file says it itself (.address_size)");
      }
      description_.address_bits = address_size_of(description_.source);
    }
  }

  // The .address_size of a PTX file, which stands among its first directives; 32 when it has none.
  static unsigned address_size_of(const std::string& path) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line.substr(0, line.find("//")));
      std::string word;
      unsigned bits = 0;
      if (words >> word && word == ".address_size" && words >> bits) {
        return bits == 64 ? 64 : 32;
      }
    }
    return 32;
  }

  void read_buffer(const toml::table& table, std::size_t number) {
    const Section section(table, path_, fmt::format("[[buffer]] number {}", number),
                          {"name", "type", "count", "file", "value", "ramp", "random"});
    Buffer buffer;
    buffer.where = section.where();
    buffer.name = section.string("name");
    for (const Buffer& other : description_.buffers) {
      if (other.name == buffer.name) {
        throw InputError(section.where("name"), fmt::format("there are two buffers '{}'", excerpt(buffer.name)),
                         fmt::format("the first is in line {}", other.where.line));
      }
    }
    buffer.type = element_type(section);
    const unsigned size = isa::size_of(buffer.type);
    std::string how;
    for (const char* key : {"file", "value", "ramp", "random"}) {
      if (section.has(key)) {
        if (!how.empty()) {
          throw InputError(section.where(key), fmt::format("{} has both '{}' and '{}'", section.title(), how, key),
                           "a buffer is filled in one way");
        }
        how = key;
      }
    }
    if (section.has("count") || how != "file") {
      buffer.count = section.integer("count", 1, kMaxBufferBytes / size);
    }
    if (how == "file") {
      fill_from_file(section, buffer);
    } else if (how == "value") {
      buffer.fill = section.number("value", buffer.type);
    } else if (how == "ramp") {
      buffer.fill = read_ramp(section, buffer);
    } else if (how == "random") {
      buffer.fill = read_random(section, buffer);
    }
    description_.buffers.push_back(std::move(buffer));
  }

  isa::Type element_type(const Section& section) {
    const std::string name = section.string("type");
    const std::optional<isa::Type> type = type_named(name);
    if (!type) {
      throw InputError(section.where("type"), fmt::format("there is no element type '{}'", excerpt(name)),
                       suggest(name, type_names(), "types: " + join(type_names())));
    }
    return *type;
  }

  void fill_from_file(const Section& section, Buffer& buffer) {
    const std::string path = input_file(section, "file");
    const std::uint64_t bytes = fs::file_size(path);
    const unsigned size = isa::size_of(buffer.type);
    if (buffer.count == 0) {
      if (bytes == 0 || bytes % size != 0 || bytes > kMaxBufferBytes) {
        throw InputError(
            section.where("file"),
            fmt::format("'{}' has {} bytes, which is no number of {} elements", path, bytes, isa::name_of(buffer.type)),
            fmt::format("give a file of a positive multiple of {} bytes", size));
      }
      buffer.count = bytes / size;
    } else if (bytes != buffer.bytes()) {
      throw InputError(section.where("file"),
                       fmt::format("'{}' has {} bytes, but {} elements of {} take {}", path, bytes, buffer.count,
                                   isa::name_of(buffer.type), buffer.bytes()),
                       "leave 'count' out to take it from the file");
    }
    buffer.fill = Buffer::File{path};
  }

  Buffer::Ramp read_ramp(const Section& buffer_section, const Buffer& buffer) {
    const Section section(buffer_section.table("ramp"), path_, "'ramp' of " + buffer_section.title(),
                          {"start", "step"});
    Buffer::Ramp ramp;
    ramp.start = section.number("start", buffer.type);
    ramp.step = section.number("step");
    if (!is_float(buffer.type)) {
      if (!ramp.step.is_integer) {
        throw InputError(section.where("step"), fmt::format("{} is not an integer", section.name("step")),
                         fmt::format("elements of {} are integers", isa::name_of(buffer.type)));
      }
      // No overflow: |step| < 2^64 and count <= 2^32.
      const Wide last = ramp.start.integer + ramp.step.integer * static_cast<Wide>(buffer.count - 1);
      const Range range = range_of(buffer.type);
      if (last < range.low || last > range.high) {
        throw InputError(section.where("step"),
                         fmt::format("the ramp leaves {}, which is {} to {}", isa::name_of(buffer.type),
                                     text_of(range.low), text_of(range.high)),
                         fmt::format("{} elements are too many for this step", buffer.count));
      }
    }
    return ramp;
  }

  Buffer::Random read_random(const Section& buffer_section, const Buffer& buffer) {
    const Section section(buffer_section.table("random"), path_, "'random' of " + buffer_section.title(),
                          {"low", "high", "seed"});
    Buffer::Random random;
    random.low = section.number("low", buffer.type);
    random.high = section.number("high", buffer.type);
    const bool finite = std::isfinite(random.low.real) && std::isfinite(random.high.real);
    const bool above =
        is_float(buffer.type) ? random.low.real > random.high.real : random.low.integer > random.high.integer;
    if (is_float(buffer.type) && !finite) {
      throw InputError(section.where(std::isfinite(random.low.real) ? "high" : "low"),
                       fmt::format("{}: 'low' and 'high' must be finite", section.title()));
    }
    if (above) {
      throw InputError(section.where("low"), fmt::format("{}: 'low' must be at most 'high'", section.title()),
                       "swap them, or give the same number twice for a constant");
    }
    if (is_float(buffer.type) && !std::isfinite(random.high.real - random.low.real)) {
      throw InputError(section.where("low"), fmt::format("{}: 'high' - 'low' exceeds the largest f64", section.title()),
                       "give a narrower range");
    }
    random.seed = section.integer("seed", 0, INT64_MAX, 1);
    return random;
  }

  std::size_t buffer_named(const Section& section, std::string_view key) {
    const std::string name = section.string(key);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < description_.buffers.size(); ++i) {
      if (description_.buffers[i].name == name) {
        return i;
      }
      names.push_back(description_.buffers[i].name);
    }
    throw InputError(section.where(key), fmt::format("there is no buffer '{}'", excerpt(name)),
                     suggest(name, names, names.empty() ? "add a [[buffer]]" : "buffers: " + join(names)));
  }

  Step read_step(const toml::table& table, const std::string& title, unsigned nesting) {
    const bool is_group = table.contains("launch");
    const Section section(
        table, path_, title,
        is_group ? std::vector<std::string>{"launch", "repeat_while"}
                 : std::vector<std::string>{"entry", "grid", "block", "shared", "arguments", "repeat_while", "launch"});
    Step step;
    step.where = section.where();
    if (section.has("repeat_while")) {
      step.loop = read_loop(section);
    }
    if (is_group) {
      if (!step.loop) {
        throw InputError(section.where("launch"), title + " has launches of its own but no 'repeat_while'",
                         "launches that run once need no group");
      }
      if (nesting == kMaxNesting) {
        throw InputError(section.where(), fmt::format("more than {} loops within each other", kMaxNesting));
      }
      std::size_t number = 0;
      for (const toml::table* inner : section.tables("launch")) {
        step.steps.push_back(read_step(*inner, fmt::format("launch {} of {}", ++number, title), nesting + 1));
      }
      if (step.steps.empty()) {
        throw InputError(section.where("launch"), "the group of launches is empty");
      }
      return step;
    }
    step.entry = section.string("entry");
    step.entry_where = section.where("entry");
    step.grid = dimensions(section, "grid", {0x7fffffffU, 65535, 65535});
    step.block = dimensions(section, "block", {1024, 1024, 64});
    step.shared = static_cast<std::uint32_t>(section.integer("shared", 0, 1U << 24U, 0));
    if (section.has("arguments")) {
      std::size_t number = 0;
      for (const toml::node& node : section.array("arguments")) {
        ++number;
        if (node.as_table() == nullptr) {
          section.refuse(node, "arguments", "an array of tables such as { u32 = 1 }");
        }
        step.arguments.push_back(read_argument(*node.as_table(), fmt::format("argument {} of {}", number, title)));
      }
    }
    return step;
  }

  // [x], [x, y] or [x, y, z]; the limits are CUDA's.
  static isa::Dim3 dimensions(const Section& section, std::string_view key, isa::Dim3 limits) {
    const toml::array& values = section.array(key);
    if (values.empty() || values.size() > 3) {
      throw InputError(section.where(key), fmt::format("{} has {} numbers", section.name(key), values.size()),
                       "give one to three: [x, y, z]");
    }
    isa::Dim3 out;
    const std::uint32_t most[] = {limits.x, limits.y, limits.z};
    std::uint32_t* parts[] = {&out.x, &out.y, &out.z};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto* value = values[i].as_integer();
      if (value == nullptr) {
        section.refuse(values[i], key, "an array of integers");
      }
      if (value->get() < 1 || value->get() > most[i]) {
        throw InputError(section.location(values[i]),
                         fmt::format("{}: {} is {}", section.name(key), "xyz"[i], value -> get()),
                         fmt::format("give 1 to {}", most[i]));
      }
      *parts[i] = static_cast<std::uint32_t>(value->get());
    }
    return out;
  }

  Loop read_loop(const Section& outer) {
    const Section section(outer.table("repeat_while"), path_, "'repeat_while' of " + outer.title(),
                          {"buffer", "index", "reset", "max"});
    Loop loop;
    loop.where = section.where();
    loop.buffer = buffer_named(section, "buffer");
    loop.index = section.integer("index", 0, description_.buffers[loop.buffer].count - 1, 0);
    loop.reset = section.boolean("reset", false);
    loop.max = section.integer("max", 1, kMaxPasses, kDefaultPasses);
    return loop;
  }

  Argument read_argument(const toml::table& table, const std::string& title) {
    std::vector<std::string> keys = type_names();
    keys.insert(keys.begin(), {"buffer", "bytes", "offset"});
    if (table.contains("pred")) {
      const toml::source_position at = table.get("pred")->source().begin;
      throw InputError({path_, at.line, at.column}, "a kernel parameter cannot be a predicate", "give { u8 = 0 or 1 }");
    }
    const Section section(table, path_, title, keys);
    Argument argument;
    argument.where = section.where();
    if (table.size() != (table.contains("offset") ? 2U : 1U) ||
        (table.contains("offset") && !table.contains("buffer"))) {
      throw InputError(section.where(), fmt::format("{} has {} keys", title, table.size()),
                       "give one: { buffer = \"x\" } (with offset, if need be), { u32 = 1 }, or { bytes = [1, 2] }");
    }
    if (section.has("buffer")) {
      argument.buffer = buffer_named(section, "buffer");
      const Buffer& buffer = description_.buffers[*argument.buffer];
      argument.offset = section.integer("offset", 0, buffer.count - 1, 0) * isa::size_of(buffer.type);
      argument.text = fmt::format("{{ buffer = \"{}\" }}", buffer.name);
      return argument;
    }
    if (section.has("bytes")) {
      for (const toml::node& node : section.array("bytes")) {
        const auto* value = node.as_integer();
        if (value == nullptr || value->get() < 0 || value->get() > 255) {
          throw InputError(section.location(node), section.name("bytes") + " holds something that is no byte",
                           "give integers from 0 to 255");
        }
        argument.bytes.push_back(static_cast<std::uint8_t>(value->get()));
      }
      argument.text = "{ bytes = [...] }";
      return argument;
    }
    const std::string key(table.begin()->first.str());
    argument.type = type_named(key);
    const Element element = encode(*argument.type, section.number(key, *argument.type));
    for (std::size_t i = 0; i < isa::size_of(*argument.type); ++i) {
      argument.bytes.push_back(std::to_integer<std::uint8_t>(element[i]));
    }
    argument.text = fmt::format("{{ {} = {} }}", key, text_of(*argument.type, element));
    return argument;
  }

  void read_output(const toml::table& table, std::size_t number) {
    const Section section(table, path_, fmt::format("[[output]] number {}", number),
                          {"buffer", "file", "expect", "tolerance"});
    Output output;
    output.where = section.where();
    output.buffer = buffer_named(section, "buffer");
    const Buffer& buffer = description_.buffers[output.buffer];
    if (!section.has("file") && !section.has("expect")) {
      throw InputError(section.where(), section.title() + " has neither 'file' nor 'expect'",
                       "say where the buffer goes, or what it must hold");
    }
    if (section.has("file")) {
      output.file = output_file(section);
    }
    if (section.has("expect")) {
      output.expect = input_file(section, "expect");
      const std::uint64_t bytes = fs::file_size(*output.expect);
      if (bytes != buffer.bytes()) {
        throw InputError(section.where("expect"), fmt::format("'{}' has {} bytes, but buffer '{}' has {}",
                                                              *output.expect, bytes, buffer.name, buffer.bytes()));
      }
    }
    if (section.has("tolerance")) {
      const Number tolerance = section.number("tolerance");
      if (!section.has("expect") || !is_float(buffer.type) || !std::isfinite(tolerance.real) || tolerance.real < 0) {
        throw InputError(section.where("tolerance"), section.name("tolerance") + " does not fit",
                         "it is a finite number, at least 0, beside 'expect', for buffers of f16, f32 or f64");
      }
      output.tolerance = tolerance.real;
    }
    description_.outputs.push_back(std::move(output));
  }

  // A name below the output directory, used once.
  std::string output_file(const Section& section) {
    const fs::path path = fs::path(section.string("file")).lexically_normal();
    const bool leaves =
        path.is_absolute() || path.empty() || *path.begin() == ".." || !path.has_filename() || path == ".";
    if (leaves || !files_.insert(path.string()).second) {
      throw InputError(
          section.where("file"),
          fmt::format("{}: '{}' {}", section.name("file"), path.string(),
                      leaves ? "is not a file below the output directory" : "is written by another output"),
          leaves ? "give a relative path without '..'" : "give each output a file of its own");
    }
    if (*path.begin() == "stats.json" || *path.begin() == "host.json") {
      throw InputError(
          section.where("file"),
          fmt::format("{}: heddle run writes its own '{}' there", section.name("file"), path.begin()->string()),
          "give another name");
    }
    return path.string();
  }

  std::string path_;
  Section root_;
  Description description_;
  std::set<std::string> files_;
};

}  // namespace

Description parse(std::string_view text, const std::string& path) {
  const toml::table root = parse_toml(text, path, "see docs/launch-files.md");
  return Reader(root, path).read();
}

}  // namespace heddle::tb::launch
