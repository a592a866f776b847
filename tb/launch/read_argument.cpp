// The reader of LAUNCH.toml: arguments of kernels, and numbers that a loop counts.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/nearest.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/launch/reader.hpp"

namespace heddle::tb::launch {
namespace {

constexpr std::size_t kMaxArgumentBytes = 4096;  // what PTX allows for all parameters of a kernel

const char* const kOneKey =
    "give one: { buffer = \"x\" } (with offset, if need be), { u32 = 1 }, { bool = true }, { bytes = [1, 2] }, or "
    "{ struct = [...] }";

// Adds the bytes of one element.
void append(std::vector<std::uint8_t>& bytes, isa::Type type, const Number& value) {
  const Element element = encode(type, value);
  for (std::size_t i = 0; i < isa::size_of(type); ++i) {
    bytes.push_back(std::to_integer<std::uint8_t>(element[i]));
  }
}

std::size_t rounded_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

// ----------------------------------------------------------------------------------------------------- counted ones

Number Counted::at(std::uint64_t pass, bool real) const {
  if (rule == Rule::step) {
    return real ? Number::of(start.real + static_cast<double>(pass) * by.real)
                : Number::of(start.integer + static_cast<Wide>(pass) * by.integer);
  }
  const Wide beyond = Wide{1} << 66U;  // no type holds it, and one more factor does not overflow
  Wide value = start.integer;
  for (std::uint64_t i = 0; i < pass && value != 0 && value < beyond && value > -beyond; ++i) {
    value = rule == Rule::factor ? value * by.integer : value / by.integer;
  }
  return Number::of(value);
}

bool Reader::is_counted(const Section& section, std::string_view key) {
  return section.has(key) && section.node(key).as_table() != nullptr;
}

Counted Reader::read_counted(const Section& outer, std::string_view key, isa::Type type, Wide low, Wide high) const {
  return read_counted(outer.table(key), outer.name(key), type, low, high);
}

Counted Reader::read_counted(const toml::table& table, const std::string& title, isa::Type type, Wide low,
                             Wide high) const {
  const Section section(table, path_, title, {"counter", "start", "step", "factor", "divisor"});
  const std::string name = section.string("counter");
  std::vector<std::string> names;
  for (const OpenLoop& loop : loops_) {
    if (!loop.counter.empty()) {
      names.push_back(loop.counter);
    }
  }
  const auto found =
      std::find_if(loops_.begin(), loops_.end(), [&](const OpenLoop& loop) { return loop.counter == name; });
  if (found == loops_.end()) {
    throw InputError(section.where("counter"), fmt::format("no loop around this counts '{}'", excerpt(name)),
                     suggest(name, names,
                             names.empty() ? "name the counter of a loop: repeat = { times = 10, counter = \"i\" }"
                                           : "counters: " + join(names)));
  }
  Counted counted;
  counted.loop = static_cast<std::size_t>(found - loops_.begin());
  const bool real = is_float(type);
  const char* rule = nullptr;
  for (const char* key : {"step", "factor", "divisor"}) {
    if (!section.has(key)) {
      continue;
    }
    if (rule != nullptr) {
      throw InputError(section.where(key), fmt::format("{} has both '{}' and '{}'", title, rule, key),
                       "a number is counted in one way");
    }
    rule = key;
  }
  const bool steps = rule == nullptr || rule == std::string_view("step");
  counted.rule = steps                                ? Counted::Rule::step
                 : rule == std::string_view("factor") ? Counted::Rule::factor
                                                      : Counted::Rule::divisor;
  counted.start = section.has("start") ? section.number("start") : Number::of(Wide{steps ? 0 : 1});
  counted.by = rule == nullptr ? Number::of(Wide{1}) : section.number(rule);
  for (const char* key : {"start", "step", "factor", "divisor"}) {
    if (section.has(key) && !real && !section.number(key).is_integer) {
      throw InputError(section.where(key), fmt::format("{} is not an integer", section.name(key)),
                       fmt::format("{} needs one", isa::name_of(type)));
    }
  }
  if (!steps && (real || counted.by.integer < 2 || counted.by.integer > UINT32_MAX)) {
    throw InputError(section.where(rule),
                     real ? fmt::format("{} is for integers", section.name(rule))
                          : fmt::format("{} is {}", section.name(rule), text_of(counted.by.integer)),
                     real ? "floats have a 'step'" : fmt::format("give 2 to {}", UINT32_MAX));
  }
  // Each rule goes one way only: the first and the last pass are the extremes.
  for (const std::uint64_t pass : {std::uint64_t{0}, found->passes - 1}) {
    const Number value = counted.at(pass, real);
    const bool fits = real ? !objection(type, value) : value.integer >= low && value.integer <= high;
    if (!fits) {
      throw InputError(
          section.where(),
          fmt::format("{} is {} in pass {} of up to {} of '{}'", title,
                      real                                                      ? fmt::format("{}", value.real)
                      : value.integer > UINT64_MAX || value.integer < INT64_MIN ? "beyond 64 bits"
                                                                                : text_of(value.integer),
                      pass + 1, found->passes, name),
          real ? "it is too large for the type"
               : fmt::format("it may be {} to {}; give another start or step, or bound the loop ('max', 'times')",
                             text_of(low), text_of(high)));
    }
  }
  return counted;
}

// -------------------------------------------------------------------------------------------------------- arguments

Argument Reader::read_argument(const toml::table& table, const std::string& title) const {
  const std::vector<std::string> keys =
      keys_with({"buffer", "bytes", "offset", "bool", "struct", "align"}, type_names());
  if (table.contains("pred")) {
    const toml::source_position at = table.get("pred")->source().begin;
    throw InputError({path_, at.line, at.column}, "a kernel parameter cannot be a predicate", "give { bool = true }");
  }
  const Section section(table, path_, title, keys);
  const bool offset = section.has("offset");
  const bool align = section.has("align");
  if (table.size() != (offset || align ? 2U : 1U) || (offset && !section.has("buffer")) ||
      (align && !section.has("struct"))) {
    throw InputError(section.where(), fmt::format("{} has {} keys", title, table.size()), kOneKey);
  }
  Argument argument;
  if (section.has("buffer")) {
    argument = pointer_argument(section);
  } else if (section.has("bytes")) {
    argument = bytes_argument(section);
  } else if (section.has("struct")) {
    argument = structure_argument(section);
  } else if (section.has("bool")) {
    argument.alignment = 1;
    argument.type = isa::Type::u8;
    argument.bytes = {static_cast<std::uint8_t>(section.boolean("bool", false) ? 1 : 0)};
    argument.text = fmt::format("{{ bool = {} }}", argument.bytes[0] != 0);
  } else {
    argument = typed_argument(section, std::string(table.begin()->first.str()));
  }
  argument.where = section.where();
  if (argument.bytes.size() > kMaxArgumentBytes) {
    throw InputError(section.where(), fmt::format("{} has {} bytes", title, argument.bytes.size()),
                     fmt::format("a kernel takes at most {}; pass a pointer to a buffer", kMaxArgumentBytes));
  }
  return argument;
}

Argument Reader::pointer_argument(const Section& section) const {
  Argument argument;
  Argument::Patch patch;
  patch.buffer = buffer_named(section, "buffer");
  const Buffer& buffer = description_.buffers[*patch.buffer];
  const unsigned size = isa::size_of(buffer.type);
  if (is_counted(section, "offset")) {
    patch.unit = size;
    patch.counted = read_counted(section, "offset", isa::Type::u64, 0, static_cast<Wide>(buffer.count - 1));
  } else {
    patch.offset = section.integer("offset", 0, buffer.count - 1, 0) * size;
  }
  argument.is_pointer = true;
  argument.alignment = description_.address_bits / 8;
  argument.bytes.resize(argument.alignment);
  argument.patches.push_back(patch);
  argument.text = fmt::format("{{ buffer = \"{}\" }}", buffer.name);
  return argument;
}

Argument Reader::bytes_argument(const Section& section) const {
  Argument argument;
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

Argument Reader::typed_argument(const Section& section, const std::string& key) const {
  const isa::Type type = *type_named(key);
  Argument argument;
  argument.alignment = isa::size_of(type);
  if (is_counted(section, key)) {
    const Range range = is_float(type) ? Range{0, 0} : range_of(type);
    Argument::Patch patch;
    patch.type = type;
    patch.counted = read_counted(section, key, type, range.low, range.high);
    argument.type = type;
    argument.bytes.resize(isa::size_of(type));
    argument.patches.push_back(patch);
    argument.text = fmt::format("{{ {} = {{ counter = ... }} }}", key);
  } else if (section.node(key).as_array() != nullptr) {
    for (const toml::node& node : section.array(key)) {
      append(argument.bytes, type, section.number_in(node, key, type));
    }
    argument.text = fmt::format("{{ {} = [...] }}", key);
  } else {
    const Number value = section.number(key, type);
    argument.type = type;
    append(argument.bytes, type, value);
    argument.text = fmt::format("{{ {} = {} }}", key, text_of(type, encode(type, value)));
  }
  return argument;
}

// Members lie as C++ lays them out: each at the next multiple of its alignment, the whole a multiple of the largest.
Argument Reader::structure_argument(const Section& section) const {
  Argument argument;
  if (section.has("align")) {
    const std::uint64_t align = section.integer("align", 1, 128);
    if (!std::has_single_bit(align)) {
      throw InputError(section.where("align"), fmt::format("{} is {}", section.name("align"), align),
                       "give a power of two");
    }
    argument.alignment = static_cast<unsigned>(align);
  }
  std::size_t number = 0;
  for (const toml::node& node : section.array("struct")) {
    ++number;
    if (node.as_table() == nullptr) {
      section.refuse(node, "struct", "an array of tables such as { u32 = 1 }");
    }
    const Argument member = read_argument(*node.as_table(), fmt::format("member {} of {}", number, section.title()));
    const std::size_t begin = rounded_up(argument.bytes.size(), member.alignment);
    argument.bytes.resize(begin);
    argument.bytes.insert(argument.bytes.end(), member.bytes.begin(), member.bytes.end());
    for (Argument::Patch patch : member.patches) {
      patch.at += begin;
      argument.patches.push_back(patch);
    }
    argument.alignment = std::max(argument.alignment, member.alignment);
  }
  if (argument.bytes.empty()) {
    throw InputError(section.where("struct"), section.name("struct") + " has no members");
  }
  argument.bytes.resize(rounded_up(argument.bytes.size(), argument.alignment));
  argument.text = "{ struct = [...] }";
  return argument;
}

}  // namespace heddle::tb::launch
