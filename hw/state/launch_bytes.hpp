// Which bytes of global memory a core's threads have loaded, stored and changed by atomics since the launch began. A
// protocol whose L1s meet at the launch's end alone (CoherenceProtocol::Traits::meets_at_end) is right as long as no
// core needs what another one has done before.
//
//   loads, stores, updates   of some bytes of one line
//   shared_byte              of all cores: the lowest byte that one has stored, or changed by an atomic, and another
//                            has accessed in a way that must see it; the cores by number. Bytes that several cores
//                            store and none loads are none: stores of blocks have no order, and the last write of the
//                            end stays
// Where memory is updated by atomics alone, all of them see each other: they are performed behind the L1s.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

namespace heddle::hw {

class LaunchBytes {
 public:
  enum class Access : std::uint8_t { load, store, update };
  void begin_launch() {
    lines_.clear();
    latest_ = nullptr;
  }
  // `bytes` from the address on lie in one line of kLine bytes.
  void add(Access access, std::uint64_t address, unsigned bytes) {
    const std::uint64_t line = address / kLine;
    if (latest_ == nullptr || line != latest_line_) {
      latest_ = &lines_[line];
      latest_line_ = line;
    }
    const unsigned first = static_cast<unsigned>(address % kLine);
    (*latest_)[static_cast<std::size_t>(access)] |= (~std::uint64_t{0} >> (kLine - bytes)) << first;
  }

  struct Shared {
    std::uint64_t address = 0;
    unsigned writer = 0;  // cores
    unsigned other = 0;
    Access write = Access::store;
    Access access = Access::load;
  };
  using OfCore = std::function<const LaunchBytes&(unsigned core)>;
  [[nodiscard]] static std::optional<Shared> shared_byte(unsigned cores, const OfCore& of_core);

 private:
  static constexpr unsigned kLine = 64;
  using Line = std::array<std::uint64_t, 3>;  // a bit for each byte; by Access
  std::unordered_map<std::uint64_t, Line> lines_;
  Line* latest_ = nullptr;
  std::uint64_t latest_line_ = 0;
};

}  // namespace heddle::hw
