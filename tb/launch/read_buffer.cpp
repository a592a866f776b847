// The reader of LAUNCH.toml: buffers and what they are filled with.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "base/nearest.hpp"
#include "tb/config/toml_text.hpp"
#include "tb/launch/reader.hpp"

namespace heddle::tb::launch {
namespace {

constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 32U;

isa::Type element_type(const Section& section) {
  const std::string name = section.string("type");
  const std::optional<isa::Type> type = type_named(name);
  if (!type) {
    throw InputError(section.where("type"), fmt::format("there is no element type '{}'", excerpt(name)),
                     suggest(name, type_names(), "types: " + join(type_names())));
  }
  return *type;
}

}  // namespace

const std::vector<std::string>& fill_keys() {
  static const std::vector<std::string> keys = {"file", "value", "values", "ramp", "random"};
  return keys;
}

void Reader::read_buffer(const toml::table& table, std::size_t number) {
  const Section section(table, path_, fmt::format("[[buffer]] number {}", number),
                        keys_with({"name", "symbol", "type", "count", "pointers", "image"}, fill_keys()));
  Buffer buffer;
  buffer.where = section.where();
  if (section.has("symbol")) {
    buffer.symbol = section.string("symbol");
    buffer.symbol_where = section.where("symbol");
  }
  const char* const name = section.has("symbol") && !section.has("name") ? "symbol" : "name";
  buffer.name = section.string(name);
  if (const auto [other, fresh] = numbers_.emplace(buffer.name, description_.buffers.size()); !fresh) {
    throw InputError(section.where(name), fmt::format("there are two buffers '{}'", excerpt(buffer.name)),
                     fmt::format("the first is in line {}", description_.buffers[other->second].where.line));
  }
  buffer.type = element_type(section);
  if (section.has("count")) {
    buffer.count = section.integer("count", 1, kMaxBufferBytes / isa::size_of(buffer.type));
  } else if (!section.has("file") && !section.has("values")) {
    static_cast<void>(section.node("count"));  // it is missing
  }
  buffer.fill = read_fill(section, buffer.type, buffer.count);
  if (section.has("image")) {
    buffer.image = read_image(section, buffer);
  }
  description_.buffers.push_back(std::move(buffer));
}

PictureShape Reader::read_image(const Section& outer, const Buffer& buffer) const {
  const Section section(outer.table("image"), path_, "'image' of " + outer.title(), {"width", "height", "format"});
  PictureShape shape;
  shape.type = buffer.type;
  shape.width = static_cast<unsigned>(section.integer("width", 1, PictureShape::kLongestSide));
  shape.height = static_cast<unsigned>(section.integer("height", 1, PictureShape::kLongestSide));
  const std::string name = section.string("format");
  const std::vector<std::string> known(std::begin(kPixelFormats), std::end(kPixelFormats));
  const auto found = std::find(known.begin(), known.end(), name);
  if (found == known.end()) {
    throw InputError(section.where("format"), fmt::format("there is no format of pixels '{}'", excerpt(name)),
                     suggest(name, known, "formats: " + join(known)));
  }
  shape.format = static_cast<PixelFormat>(found - known.begin());
  if (const std::optional<std::string> wrong = shape.objection()) {
    throw InputError(section.where("format"), *wrong, "format 'scaled' takes elements of any type");
  }
  if (shape.elements() != buffer.count) {
    throw InputError(
        section.where(),
        fmt::format("{} x {} pixels of format '{}' are {} elements of {}, but '{}' has {}", shape.width, shape.height,
                    name, shape.elements(), isa::name_of(buffer.type), buffer.name, buffer.count),
        "the picture is the whole buffer");
  }
  return shape;
}

void Reader::read_pointers(const Section& section, Buffer& buffer) const {
  const std::uint64_t pointer = description_.address_bits / 8;
  const unsigned size = isa::size_of(buffer.type);
  // Places from which a pointer still fits.
  const std::uint64_t places = buffer.bytes() < pointer ? 0 : (buffer.bytes() - pointer) / size + 1;
  for (const toml::table* table : section.tables("pointers")) {
    const Section each(*table, path_, "a pointer of " + section.title(),
                       {"index", "buffer", "offset", "count", "index_step", "offset_step"});
    if (places == 0) {
      throw InputError(each.where(),
                       fmt::format("{} has {} bytes, a pointer has {}", section.title(), buffer.bytes(), pointer),
                       "raise its 'count'");
    }
    Buffer::Pointers made;
    made.where = each.where();
    made.buffer = buffer_named(each, "buffer");
    const Buffer& target = description_.buffers[made.buffer];
    made.index = each.integer("index", 0, places - 1, 0);
    const std::uint64_t offset = each.integer("offset", 0, target.count - 1, 0);
    made.count = each.integer("count", 1, places, 1);
    const std::uint64_t further = std::max<std::uint64_t>(1, made.count - 1);
    made.index_step = each.integer("index_step", 1, places, std::max<std::uint64_t>(1, pointer / size));
    const std::uint64_t step = each.integer("offset_step", 0, target.count, 0);
    if (made.count > 1 && made.index_step * size < pointer) {
      throw InputError(each.where("index_step"),
                       fmt::format("the pointers overlap: one has {} bytes, {} after each other have {}", pointer,
                                   each.name("index_step"), made.index_step * size),
                       fmt::format("give at least {}", (pointer + size - 1) / size));
    }
    if (made.count > 1 && made.index_step > (places - 1 - made.index) / further) {
      throw InputError(each.where("count"), fmt::format("{} pointers leave the buffer", made.count),
                       fmt::format("the last one may begin at element {}", places - 1));
    }
    if (made.count > 1 && step > (target.count - 1 - offset) / further) {
      throw InputError(each.where("offset_step"),
                       fmt::format("the pointers leave buffer '{}', which has {} elements", target.name, target.count),
                       "give a smaller 'offset_step' or 'count'");
    }
    made.offset = offset * isa::size_of(target.type);
    made.offset_step = step * isa::size_of(target.type);
    buffer.pointers.push_back(made);
  }
}

std::optional<Fill> Reader::read_fill(const Section& section, isa::Type type, std::uint64_t& count) const {
  std::string how;
  for (const std::string& key : fill_keys()) {
    if (section.has(key)) {
      if (!how.empty()) {
        throw InputError(section.where(key), fmt::format("{} has both '{}' and '{}'", section.title(), how, key),
                         "a buffer is filled in one way");
      }
      how = key;
    }
  }
  if (how.empty()) {
    return std::nullopt;
  }
  if (how == "file") {
    return Fill{file_of(section, type, count)};
  }
  if (how == "values") {
    return Fill{list_of(section, type, count)};
  }
  if (how == "value") {
    return Fill{section.number("value", type)};
  }
  return how == "ramp" ? Fill{ramp_of(section, type, count)} : Fill{random_of(section, type)};
}

Fill::File Reader::file_of(const Section& section, isa::Type type, std::uint64_t& count) const {
  const std::string path = input_file(section, "file");
  const std::uint64_t bytes = std::filesystem::file_size(path);
  const unsigned size = isa::size_of(type);
  if (count == 0) {
    if (bytes == 0 || bytes % size != 0 || bytes > kMaxBufferBytes) {
      throw InputError(
          section.where("file"),
          fmt::format("'{}' has {} bytes, which is no number of {} elements", path, bytes, isa::name_of(type)),
          fmt::format("give a file of a positive multiple of {} bytes", size));
    }
    count = bytes / size;
  } else if (bytes != count * size) {
    throw InputError(section.where("file"),
                     fmt::format("'{}' has {} bytes, but {} elements of {} take {}", path, bytes, count,
                                 isa::name_of(type), count * size),
                     "leave 'count' out to take it from the file");
  }
  return {path};
}

Fill::List Reader::list_of(const Section& section, isa::Type type, std::uint64_t& count) const {
  Fill::List list;
  for (const toml::node& node : section.array("values")) {
    list.push_back(section.number_in(node, "values", type));
  }
  if (list.empty()) {
    throw InputError(section.where("values"), section.name("values") + " is empty", "give a number per element");
  }
  if (count != 0 && list.size() != count) {
    throw InputError(section.where("values"),
                     fmt::format("{} has {} numbers, but 'count' is {}", section.name("values"), list.size(), count),
                     "leave 'count' out to take it from the list");
  }
  count = list.size();
  return list;
}

Fill::Ramp Reader::ramp_of(const Section& outer, isa::Type type, std::uint64_t count) const {
  const Section section(outer.table("ramp"), path_, "'ramp' of " + outer.title(), {"start", "step"});
  Fill::Ramp ramp;
  ramp.start = section.number("start", type);
  ramp.step = section.number("step");
  if (!is_float(type)) {
    if (!ramp.step.is_integer) {
      throw InputError(section.where("step"), fmt::format("{} is not an integer", section.name("step")),
                       fmt::format("elements of {} are integers", isa::name_of(type)));
    }
    // No overflow: |step| < 2^64 and count <= 2^32.
    const Wide last = ramp.start.integer + ramp.step.integer * static_cast<Wide>(count - 1);
    const Range range = range_of(type);
    if (last < range.low || last > range.high) {
      throw InputError(section.where("step"),
                       fmt::format("the ramp leaves {}, which is {} to {}", isa::name_of(type), text_of(range.low),
                                   text_of(range.high)),
                       fmt::format("{} elements are too many for this step", count));
    }
  }
  return ramp;
}

Fill::Random Reader::random_of(const Section& outer, isa::Type type) const {
  const Section section(outer.table("random"), path_, "'random' of " + outer.title(), {"low", "high", "seed"});
  Fill::Random random;
  random.low = section.number("low", type);
  random.high = section.number("high", type);
  const bool finite = std::isfinite(random.low.real) && std::isfinite(random.high.real);
  const bool above = is_float(type) ? random.low.real > random.high.real : random.low.integer > random.high.integer;
  if (is_float(type) && !finite) {
    throw InputError(section.where(std::isfinite(random.low.real) ? "high" : "low"),
                     fmt::format("{}: 'low' and 'high' must be finite", section.title()));
  }
  if (above) {
    throw InputError(section.where("low"), fmt::format("{}: 'low' must be at most 'high'", section.title()),
                     "swap them, or give the same number twice for a constant");
  }
  if (is_float(type) && !std::isfinite(random.high.real - random.low.real)) {
    throw InputError(section.where("low"), fmt::format("{}: 'high' - 'low' exceeds the largest f64", section.title()),
                     "give a narrower range");
  }
  random.seed = section.integer("seed", 0, INT64_MAX, 1);
  return random;
}

}  // namespace heddle::tb::launch
