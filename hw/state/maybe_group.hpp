// A group or none, in one register: std::optional of a number has its flag beside it, which a call returns by way of
// memory, in two pieces that the host reads back as one, and waits for.
#pragma once

#include <cstdint>
#include <optional>

namespace heddle::hw {

using GroupId = std::uint32_t;

class MaybeGroup {
 public:
  constexpr MaybeGroup() = default;
  constexpr MaybeGroup(std::nullopt_t) {}              // NOLINT(google-explicit-constructor): as std::optional
  constexpr MaybeGroup(GroupId group) : id_(group) {}  // NOLINT(google-explicit-constructor): as std::optional

  [[nodiscard]] constexpr bool has_value() const { return id_ != kNone; }
  [[nodiscard]] constexpr explicit operator bool() const { return has_value(); }
  [[nodiscard]] constexpr GroupId operator*() const { return id_; }
  constexpr void reset() { id_ = kNone; }
  friend constexpr bool operator==(MaybeGroup, MaybeGroup) = default;

 private:
  static constexpr GroupId kNone = ~GroupId{0};  // no group has this number
  GroupId id_ = kNone;
};

}  // namespace heddle::hw
