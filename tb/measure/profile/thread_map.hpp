// What each thread of a two-dimensional grid came to, as a map in which threads lie as in the grid (ODGS paper, figures
// 10 and 12): how many instructions it executed, and how often its warp diverged at a branch that it took part in.
//
// Memory: at most kSide x kSide cells whatever the grid. Where a side has more threads a cell is a square of threads,
// 2^n of them to a side, and holds their sums.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/state/thread_home.hpp"
#include "isa/module.hpp"

namespace heddle::tb {

class ThreadMap {
 public:
  static constexpr unsigned kSide = 256;  // cells

  // Threads of such a launch lie in a plane: both sides have more than one, and there is no third.
  [[nodiscard]] static bool is_plane(const isa::Dim3& grid, const isa::Dim3& block);
  // Of launches of one kernel with one grid (blocks) and block (threads), which must be a plane.
  ThreadMap(std::string kernel, const isa::Dim3& grid, const isa::Dim3& block);
  [[nodiscard]] bool is_of(const std::string& kernel, const isa::Dim3& grid, const isa::Dim3& block) const {
    return kernel_ == kernel && grid_ == grid && block_ == block;
  }

  // ---- counting
  using Cell = std::uint32_t;
  [[nodiscard]] Cell cell_of(const hw::HomeThread& thread) const {
    const isa::ThreadContext& context = thread.home->context;
    const std::uint64_t x = std::uint64_t{context.block_index.x} * block_.x + context.tid_x[thread.lane];
    const std::uint64_t y = std::uint64_t{context.block_index.y} * block_.y + context.tid_y[thread.lane];
    return static_cast<Cell>((y >> shift_) * columns_ + (x >> shift_));
  }
  void launched() { ++launches_; }
  void executed(Cell cell) { ++instructions_[cell]; }
  void diverged(Cell cell) { ++divergences_[cell]; }

  // ---- what was counted, over all of its launches
  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  [[nodiscard]] std::uint64_t launches() const { return launches_; }
  [[nodiscard]] std::uint64_t width() const { return std::uint64_t{grid_.x} * block_.x; }   // threads
  [[nodiscard]] std::uint64_t height() const { return std::uint64_t{grid_.y} * block_.y; }  // threads
  [[nodiscard]] const isa::Dim3& block() const { return block_; }
  [[nodiscard]] std::uint64_t cell_side() const { return std::uint64_t{1} << shift_; }  // threads
  [[nodiscard]] unsigned columns() const { return columns_; }                           // cells
  [[nodiscard]] unsigned rows() const { return rows_; }
  // Row by row from thread y = 0 on, columns() cells each: sums over the threads of the cell.
  [[nodiscard]] const std::vector<std::uint64_t>& instructions() const { return instructions_; }
  [[nodiscard]] const std::vector<std::uint64_t>& divergences() const { return divergences_; }

 private:
  std::string kernel_;
  isa::Dim3 grid_, block_;
  unsigned shift_ = 0;  // log2 of the threads to a cell's side
  unsigned columns_ = 0, rows_ = 0;
  std::uint64_t launches_ = 0;
  std::vector<std::uint64_t> instructions_, divergences_;
};

}  // namespace heddle::tb
