// The reader of LAUNCH.toml: launches, copies and fills, and the loops and conditions that they run under.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "tb/device/launch_limits.hpp"
#include "tb/launch/reader.hpp"

namespace heddle::tb::launch {
namespace {

constexpr std::uint64_t kMaxPasses = 1'000'000'000;
constexpr std::uint64_t kDefaultPasses = 100'000;
constexpr unsigned kMaxNesting = 8;  // loops within loops
constexpr std::uint32_t kMaxGrid[] = {kMostGrid.x, kMostGrid.y, kMostGrid.z};
constexpr std::uint32_t kMaxBlock[] = {kMostBlock.x, kMostBlock.y, kMostBlock.z};

const std::vector<std::string>& control_keys() {
  static const std::vector<std::string> keys = {"run_if", "repeat", "repeat_while"};
  return keys;
}

struct TestName {
  const char* key;
  Condition::Test test;
};
constexpr TestName kTests[] = {{"equal", Condition::Test::equal},     {"not_equal", Condition::Test::not_equal},
                               {"less", Condition::Test::less},       {"at_most", Condition::Test::at_most},
                               {"greater", Condition::Test::greater}, {"at_least", Condition::Test::at_least}};
std::vector<std::string> condition_keys(std::vector<std::string> more) {
  for (const TestName& each : kTests) {
    more.emplace_back(each.key);
  }
  return more;
}

// [x], [x, y] or [x, y, z].
const toml::array& dimensions(const Section& section, std::string_view key) {
  const toml::array& values = section.array(key);
  if (values.empty() || values.size() > 3) {
    throw InputError(section.where(key), fmt::format("{} has {} numbers", section.name(key), values.size()),
                     "give one to three: [x, y, z]");
  }
  return values;
}

std::uint32_t dimension(const Section& section, std::string_view key, const toml::node& node, std::size_t i,
                        std::uint32_t most) {
  const auto* value = node.as_integer();
  if (value == nullptr) {
    section.refuse(node, key, "an array of integers");
  }
  if (value->get() < 1 || value->get() > most) {
    throw InputError(section.location(node), fmt::format("{}: {} is {}", section.name(key), "xyz"[i], value -> get()),
                     fmt::format("give 1 to {}", most));
  }
  return static_cast<std::uint32_t>(value->get());
}

}  // namespace

std::vector<Step> Reader::read_steps(const Section& section, const std::string& of, unsigned nesting) {
  struct Found {
    unsigned line, column;
    const toml::table* table;
    std::string kind;
    std::size_t number;
  };
  std::vector<Found> found;
  for (const char* kind : {"launch", "copy", "fill"}) {
    std::size_t number = 0;
    for (const toml::table* table : section.tables(kind)) {
      const SourceLocation at = section.location(*table);
      found.push_back({at.line, at.column, table, kind, ++number});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return std::tie(a.line, a.column) < std::tie(b.line, b.column); });
  std::vector<Step> steps;
  for (const Found& each : found) {
    const std::string title = of.empty() ? fmt::format("[[{}]] number {}", each.kind, each.number)
                                         : fmt::format("{} {} of {}", each.kind, each.number, of);
    steps.push_back(each.kind == "launch" ? read_launch(*each.table, title, nesting)
                    : each.kind == "copy" ? read_copy(*each.table, title, nesting)
                                          : read_fill_step(*each.table, title, nesting));
  }
  return steps;
}

// ------------------------------------------------------------------------------------------- loops and conditions

Condition Reader::read_condition(const Section& section) const {
  Condition condition;
  condition.buffer = buffer_named(section, "buffer");
  const Buffer& buffer = description_.buffers[condition.buffer];
  condition.index = section.integer("index", 0, buffer.count - 1, 0);
  condition.value = Number::of(Wide{0});
  const TestName* chosen = nullptr;
  for (const TestName& each : kTests) {
    if (!section.has(each.key)) {
      continue;
    }
    if (chosen != nullptr) {
      throw InputError(section.where(each.key),
                       fmt::format("{} has both '{}' and '{}'", section.title(), chosen->key, each.key),
                       "an element is compared with one value");
    }
    chosen = &each;
    condition.test = each.test;
    // As the element's type has it, so that 0.1 is equal to an f32 that was set to 0.1.
    condition.value = decode(buffer.type, encode(buffer.type, section.number(each.key, buffer.type)));
  }
  return condition;
}

void Reader::read_control(const Section& section, Step& step, unsigned nesting) {
  if (section.has("run_if")) {
    step.run_if = read_condition(
        Section(section.table("run_if"), path_, "'run_if' of " + section.title(), condition_keys({"buffer", "index"})));
  }
  const bool counted = section.has("repeat");
  if (counted && section.has("repeat_while")) {
    throw InputError(section.where("repeat"), section.title() + " has both 'repeat' and 'repeat_while'",
                     "a step is in one loop; put it into a group for a second one");
  }
  if (!counted && !section.has("repeat_while")) {
    return;
  }
  if (nesting == kMaxNesting) {
    throw InputError(section.where(), fmt::format("more than {} loops within each other", kMaxNesting));
  }
  Loop loop;
  const char* const key = counted ? "repeat" : "repeat_while";
  const Section inner(section.table(key), path_, fmt::format("'{}' of {}", key, section.title()),
                      counted ? std::vector<std::string>{"times", "counter"}
                              : condition_keys({"buffer", "index", "reset", "max", "counter"}));
  loop.where = inner.where();
  if (counted) {
    loop.passes = inner.integer("times", 1, kMaxPasses);
  } else {
    loop.condition = read_condition(inner);
    loop.reset = inner.boolean("reset", false);
    loop.passes = inner.integer("max", 1, kMaxPasses, kDefaultPasses);
  }
  if (inner.has("counter")) {
    loop.counter = inner.string("counter");
    for (const OpenLoop& open : loops_) {
      if (open.counter == loop.counter) {
        throw InputError(inner.where("counter"), fmt::format("a loop around this one counts '{}' too", loop.counter),
                         "give each its own name");
      }
    }
  }
  loops_.push_back({loop.counter, loop.passes, counted});
  step.loop = std::move(loop);
}

void Reader::close(const Step& step) {
  if (step.loop) {
    loops_.pop_back();
  }
}

// --------------------------------------------------------------------------------------------------------- launches

Step Reader::read_launch(const toml::table& table, const std::string& title, unsigned nesting) {
  const bool is_group = table.contains("launch") || table.contains("copy") || table.contains("fill");
  const Section section(table, path_, title,
                        keys_with(is_group ? std::vector<std::string>{"launch", "copy", "fill"}
                                           : std::vector<std::string>{"entry", "grid", "block", "shared", "cooperative",
                                                                      "arguments", "launch"},
                                  control_keys()));
  Step step;
  step.where = section.where();
  step.kind = is_group ? Step::Kind::group : Step::Kind::launch;
  read_control(section, step, nesting);
  if (!is_group) {
    read_kernel(section, step);
    close(step);
    return step;
  }
  const char* const first = table.contains("launch") ? "launch" : table.contains("copy") ? "copy" : "fill";
  if (!step.loop && !step.run_if) {
    throw InputError(section.where(first),
                     title + " has launches of its own but no 'repeat_while', 'repeat' or 'run_if'",
                     "launches that run once need no group");
  }
  step.steps = read_steps(section, title, nesting + 1);
  close(step);
  if (step.steps.empty()) {
    throw InputError(section.where(first), "the group of launches is empty");
  }
  return step;
}

void Reader::read_kernel(const Section& section, Step& step) {
  step.entry = section.string("entry");
  step.entry_where = section.where("entry");
  read_grid(section, step);
  const toml::array& block = dimensions(section, "block");
  std::uint32_t* const parts[] = {&step.block.x, &step.block.y, &step.block.z};
  for (std::size_t i = 0; i < block.size(); ++i) {
    *parts[i] = dimension(section, "block", block[i], i, kMaxBlock[i]);
  }
  if (step.block.count() > isa::kMaxBlockThreads) {
    throw InputError(section.where("block"),
                     fmt::format("{} has {} threads", section.name("block"), step.block.count()),
                     fmt::format("give at most {} in all", isa::kMaxBlockThreads));
  }
  step.shared = static_cast<std::uint32_t>(section.integer("shared", 0, 1U << 24U, 0));
  step.cooperative = section.boolean("cooperative", false);
  if (!section.has("arguments")) {
    return;
  }
  std::size_t number = 0;
  for (const toml::node& node : section.array("arguments")) {
    ++number;
    if (node.as_table() == nullptr) {
      section.refuse(node, "arguments", "an array of tables such as { u32 = 1 }");
    }
    step.arguments.push_back(
        read_argument(*node.as_table(), fmt::format("argument {} of {}", number, section.title())));
  }
}

// The limits are CUDA's.
void Reader::read_grid(const Section& section, Step& step) const {
  const toml::array& grid = dimensions(section, "grid");
  std::uint32_t* const parts[] = {&step.grid.x, &step.grid.y, &step.grid.z};
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (grid[i].as_table() == nullptr) {
      *parts[i] = dimension(section, "grid", grid[i], i, kMaxGrid[i]);
      continue;
    }
    const std::string title = fmt::format("'grid' of {}, {}", section.title(), "xyz"[i]);
    const Counted counted = read_counted(*grid[i].as_table(), title, isa::Type::u32, 1, kMaxGrid[i]);
    if (!loops_[counted.loop].fixed) {
      throw InputError(section.location(grid[i]), title + " is counted by a loop whose passes nobody knows beforehand",
                       "count it by a 'repeat'");
    }
    step.counted_grid[i] = counted;
    *parts[i] = static_cast<std::uint32_t>(counted.at(0, false).integer);
  }
}

// ------------------------------------------------------------------------------------------------ copies and fills

// Where a copy or fill begins; its elements are counted from there.
Step::Range Reader::read_range(const Section& section, std::string_view buffer_key, std::string_view offset_key) const {
  Step::Range range;
  range.buffer = buffer_named(section, buffer_key);
  const Buffer& buffer = description_.buffers[range.buffer];
  range.unit = isa::size_of(buffer.type);
  if (is_counted(section, offset_key)) {
    range.counted = read_counted(section, offset_key, isa::Type::u64, 0, static_cast<Wide>(buffer.count - 1));
  } else {
    range.offset = section.integer(offset_key, 0, buffer.count - 1, 0) * range.unit;
  }
  return range;
}

namespace {

// Elements from the range's begin to the end of the buffer, in the pass in which they are fewest.
std::uint64_t room_of(const Step::Range& range, const Buffer& buffer, std::uint64_t passes) {
  std::uint64_t begin = range.offset / range.unit;
  if (range.counted) {
    begin = static_cast<std::uint64_t>(
        std::max(range.counted->at(0, false).integer, range.counted->at(passes - 1, false).integer));
  }
  return buffer.count - begin;
}

}  // namespace

Step Reader::read_copy(const toml::table& table, const std::string& title, unsigned nesting) {
  const Section section(table, path_, title,
                        keys_with({"from", "from_offset", "to", "to_offset", "count"}, control_keys()));
  Step step;
  step.where = section.where();
  step.kind = Step::Kind::copy;
  read_control(section, step, nesting);
  step.from = read_range(section, "from", "from_offset");
  step.to = read_range(section, "to", "to_offset");
  const auto passes = [&](const Step::Range& range) { return range.counted ? loops_[range.counted->loop].passes : 1; };
  const Buffer& from = description_.buffers[step.from.buffer];
  const Buffer& to = description_.buffers[step.to.buffer];
  const std::uint64_t there = room_of(step.from, from, passes(step.from));
  const std::uint64_t count = section.integer("count", 1, there, there);
  step.bytes = count * step.from.unit;
  const std::uint64_t room = room_of(step.to, to, passes(step.to)) * step.to.unit;
  if (step.bytes > room) {
    throw InputError(
        section.where(section.has("count") ? "count" : "to"),
        fmt::format("{} copies {} bytes, but buffer '{}' has room for {} there", title, step.bytes, to.name, room),
        section.has("count") ? "give a smaller 'count', in elements of 'from'"
                             : "say how many elements of 'from' with 'count'");
  }
  close(step);
  return step;
}

Step Reader::read_fill_step(const toml::table& table, const std::string& title, unsigned nesting) {
  const Section section(table, path_, title,
                        keys_with(keys_with({"buffer", "offset", "count"}, fill_keys()), control_keys()));
  Step step;
  step.where = section.where();
  step.kind = Step::Kind::fill;
  read_control(section, step, nesting);
  step.to = read_range(section, "buffer", "offset");
  const Buffer& buffer = description_.buffers[step.to.buffer];
  const std::uint64_t room = room_of(step.to, buffer, step.to.counted ? loops_[step.to.counted->loop].passes : 1);
  const bool says_count = section.has("file") || section.has("values");
  std::uint64_t count = section.has("count") ? section.integer("count", 1, room) : says_count ? 0 : room;
  step.fill = read_fill(section, buffer.type, count).value_or(Fill{});
  if (count > room) {
    throw InputError(
        section.where(section.has("file") ? "file" : "values"),
        fmt::format("{} has {} elements, but buffer '{}' has room for {} there", title, count, buffer.name, room));
  }
  step.bytes = count * step.to.unit;
  close(step);
  return step;
}

}  // namespace heddle::tb::launch
