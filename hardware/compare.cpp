#include "hardware/compare.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace heddle::hardware {
namespace {

constexpr std::size_t kShown = 8;  // differences of a row

struct Part {
  std::string name;
  std::uint64_t offset = 0, count = 0, stride = 4, ulps = 0;
  unsigned bytes = 4;
  bool is_float = false;
};

Part part_of(const Json& spec, const std::string& item) {
  Part part;
  part.name = spec["name"].string(item + ": 'name' of a part");
  part.offset = spec["offset"].whole(item + ": 'offset' of a part");
  part.count = spec["count"].whole(item + ": 'count' of a part");
  part.stride = spec["stride"].whole(item + ": 'stride' of a part");
  part.ulps = spec["ulps"].is_null() ? 0 : spec["ulps"].whole(item + ": 'ulps' of a part");
  const std::string& type = spec["type"].string(item + ": 'type' of a part");
  constexpr std::array kTypes = {std::pair("b16", 2U), std::pair("b32", 4U), std::pair("b64", 8U), std::pair("f32", 4U),
                                 std::pair("f64", 8U)};
  for (const auto& [name, bytes] : kTypes) {
    if (type == name) {
      part.bytes = bytes;
      part.is_float = name[0] == 'f';
      return part;
    }
  }
  throw Bad(item + ": a part's type is b16, b32, b64, f32 or f64, not '" + type + "'");
}

// Floats of one sign are ordered as their bits are. Two NaNs agree where results are approximate.
bool agree(std::uint64_t a, std::uint64_t b, const Part& part) {
  if (a == b) return true;
  if (!part.is_float || part.ulps == 0) return false;
  const std::uint64_t sign = std::uint64_t{1} << (8 * part.bytes - 1);
  const std::uint64_t infinity = part.bytes == 4 ? 0x7f80'0000U : 0x7ff0'0000'0000'0000U;
  const std::uint64_t magnitude_a = a & (sign - 1);
  const std::uint64_t magnitude_b = b & (sign - 1);
  if (magnitude_a > infinity || magnitude_b > infinity) return magnitude_a > infinity && magnitude_b > infinity;
  if (((a ^ b) & sign) != 0) return magnitude_a + magnitude_b <= part.ulps;
  return (a > b ? a - b : b - a) <= part.ulps;
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

void compare(const std::vector<std::byte>& found, const std::vector<std::byte>& expected, const Json& parts,
             const std::string& item, Json& row) {
  if (found.size() != expected.size()) {
    throw Bad(item + ": the buffer has " + std::to_string(found.size()) + " bytes, what is expected of it " +
              std::to_string(expected.size()));
  }
  std::vector<Part> all;
  if (parts.is_null()) {
    all.push_back({"word", 0, found.size() / 4});
  } else {
    for (const Json& spec : parts.array(item + ": 'parts'")) all.push_back(part_of(spec, item));
  }
  std::uint64_t compared = row["compared"].is_null() ? 0 : row["compared"].whole("compared");
  std::uint64_t different = row["different"].is_null() ? 0 : row["different"].whole("different");
  Json::Array shown = row["differences"].is_null() ? Json::Array() : row["differences"].array("differences");
  for (const Part& part : all) {
    if (part.count != 0 && (part.offset + (part.count - 1) * part.stride + part.bytes > found.size())) {
      throw Bad(item + ": part '" + part.name + "' reaches past its buffer");
    }
    bool first = true;  // of this part: one is shown, and how many there are
    std::uint64_t before = different;
    std::size_t at = shown.size();
    for (std::uint64_t i = 0; i < part.count; ++i) {
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      std::memcpy(&a, found.data() + part.offset + i * part.stride, part.bytes);
      std::memcpy(&b, expected.data() + part.offset + i * part.stride, part.bytes);
      if (agree(a, b, part)) continue;
      ++different;
      if (first && shown.size() < kShown) {
        Json one;
        one.set("part", part.name);
        one.set("element", static_cast<unsigned long long>(i));
        one.set("found", hexadecimal(a));
        one.set("expected", hexadecimal(b));
        shown.push_back(one);
      }
      first = false;
    }
    if (at < shown.size()) shown[at].set("in_all", static_cast<unsigned long long>(different - before));
    compared += part.count;
  }
  row.set("compared", static_cast<unsigned long long>(compared));
  row.set("different", static_cast<unsigned long long>(different));
  if (different != 0) {
    row.set("status", "differs");
    row.set("differences", shown);
  }
}

}  // namespace heddle::hardware
