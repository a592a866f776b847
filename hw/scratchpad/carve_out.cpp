#include "hw/scratchpad/carve_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace heddle::hw {

std::vector<std::uint64_t> parse_carve_outs(const std::string& text, std::string& why) {
  std::vector<std::uint64_t> sizes;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::uint32_t size = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc() || end != word.data() + word.size() || size > (16U << 10U)) {
      why = fmt::format("'{}' is no number of KB from 0 to 16384", word);
      return {};
    }
    if (!sizes.empty() && sizes.back() >= std::uint64_t{size} * 1024) {
      why = fmt::format("{} does not come behind a smaller size", size);
      return {};
    }
    sizes.push_back(std::uint64_t{size} * 1024);
  }
  return sizes;
}

std::uint64_t carve_out(const Machine& machine, std::uint64_t of_block, std::uint64_t blocks, int preferred) {
  const std::uint64_t most = machine.scratchpad.bytes;
  std::string why;
  const std::vector<std::uint64_t> sizes = parse_carve_outs(machine.scratchpad.carve_outs, why);
  if (sizes.empty()) {
    return most;
  }
  const std::uint64_t held = of_block == 0 ? 0 : of_block * std::min(blocks, most / of_block);
  const std::uint64_t wanted = preferred >= 0
                                   ? std::max(of_block, most * static_cast<unsigned>(preferred) / 100)
                                   : std::max(held, std::uint64_t{machine.scratchpad.least_carve_out} * 1024);
  const auto least = std::lower_bound(sizes.begin(), sizes.end(), wanted);
  return least == sizes.end() ? sizes.back() : *least;
}

}  // namespace heddle::hw
