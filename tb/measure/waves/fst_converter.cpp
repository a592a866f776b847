#include "tb/measure/waves/fst_converter.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <set>

namespace heddle::tb {
namespace {

enum Block : unsigned {
  kHeader = 0,
  kGeometry = 3,
  kHierarchy = 4,
  kHierarchyLz4 = 6,
  kHierarchyLz4Duo = 7,
  kWhole = 254
};

}  // namespace

std::string fst_damage(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    return "it cannot be read";
  }
  const auto size = static_cast<std::uint64_t>(file.tellg());
  std::set<unsigned> kinds;
  for (std::uint64_t at = 0; at != size;) {
    std::array<unsigned char, 9> head{};
    file.seekg(static_cast<std::streamoff>(at));
    if (!file.read(reinterpret_cast<char*>(head.data()), head.size())) {
      return "it ends within a block's head";
    }
    std::uint64_t length = 0;
    for (std::size_t i = 1; i != head.size(); ++i) {
      length = (length << 8U) | head[i];
    }
    if (length < sizeof length || length > size - at - 1) {
      return "it ends within a block";
    }
    kinds.insert(head[0]);
    at += 1 + length;
  }
  const bool hierarchy = kinds.count(kHierarchy) + kinds.count(kHierarchyLz4) + kinds.count(kHierarchyLz4Duo) != 0;
  const bool whole =
      kinds.count(kWhole) != 0 || (kinds.count(kHeader) != 0 && kinds.count(kGeometry) != 0 && hierarchy);
  return whole ? "" : "blocks are missing";
}

const os::ConverterProgram& fst_converter() {
  static const os::ConverterProgram program{
      "vcd2fst",
      {"-v", "-", "-f"},
      "a .fst file is made by GTKWave's vcd2fst, which is not installed",
      "install GTKWave (Debian package gtkwave), or write a .vcd.gz file, which it opens too",
      fst_damage};
  return program;
}

}  // namespace heddle::tb
