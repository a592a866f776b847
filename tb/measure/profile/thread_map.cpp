#include "tb/measure/profile/thread_map.hpp"

#include <algorithm>
#include <utility>

namespace heddle::tb {

bool ThreadMap::is_plane(const isa::Dim3& grid, const isa::Dim3& block) {
  return std::uint64_t{grid.x} * block.x > 1 && std::uint64_t{grid.y} * block.y > 1 && grid.z == 1 && block.z == 1;
}

ThreadMap::ThreadMap(std::string kernel, const isa::Dim3& grid, const isa::Dim3& block)
    : kernel_(std::move(kernel)), grid_(grid), block_(block) {
  while (((std::max(width(), height()) - 1) >> shift_) >= kSide) {
    ++shift_;
  }
  columns_ = static_cast<unsigned>(((width() - 1) >> shift_) + 1);
  rows_ = static_cast<unsigned>(((height() - 1) >> shift_) + 1);
  instructions_.resize(std::size_t{columns_} * rows_);
  divergences_.resize(instructions_.size());
}

}  // namespace heddle::tb
