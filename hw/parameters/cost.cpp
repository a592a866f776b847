#include "hw/parameters/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

void CostLines::add(Kind kind, std::string name, const std::string& formula, std::uint64_t bits, std::string source) {
  const std::string whole = sub_cores_ == 1 ? formula : fmt::format("{} sub-cores x ({})", sub_cores_, formula);
  bits *= sub_cores_;
  lines_.push_back({kind, mechanism_, std::move(name), fmt::format("{} = {}", whole, bits), bits, std::move(source)});
}

void CostLines::logic(std::string name, std::string amount, std::string source) {
  std::string whole = sub_cores_ == 1 ? std::move(amount) : fmt::format("{} sub-cores x ({})", sub_cores_, amount);
  lines_.push_back({Kind::logic, mechanism_, std::move(name), std::move(whole), 0, std::move(source)});
}

void CostLines::present(std::string name, const std::string& formula, std::uint64_t bits, std::string source) {
  std::swap(mechanism_, every_core_);
  add(Kind::present, std::move(name), formula, bits, std::move(source));
  std::swap(mechanism_, every_core_);
}

void CostLines::accessed(std::string counter, std::uint64_t bits) {
  lines_.back().accesses.push_back({std::move(counter), bits});
}

bool CostLines::has(std::string_view name) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const CostLine& line) { return line.name == name; });
}

CostShape::CostShape(const Machine& described, std::uint64_t warp_pool)
    : machine(described),
      lanes(described.core.simd_width),
      warp(described.core.warp_size),
      threads(described.core.threads),
      warps(std::max(1U, described.core.threads / described.core.warp_size)),
      pool(warp_pool),
      rows(std::max(1U, described.core.warp_size / described.core.simd_width)),
      all_rows(std::max(1U, described.core.threads / described.core.simd_width)),
      stages(described.core.register_read_latency + described.core.execute_stages + 2U),
      complex_queue(described.core.complex_queue),
      pending(described.core.pending_accesses),
      set_warps(warp_pool) {}

std::uint64_t CostShape::blocks() const {
  return std::max<std::uint64_t>(1, threads / kBlockThreads);
}

std::uint64_t index_bits(std::uint64_t things) {
  return things <= 1 ? 0 : static_cast<std::uint64_t>(std::bit_width(things - 1));
}

void cost_of_rows_per_lane(const CostShape& shape, std::uint64_t rows, bool memory_by_rows, CostLines& lines) {
  const std::uint64_t row = index_bits(rows);
  lines.add(CostLine::Kind::estimated, "row per lane in the pipeline",
            fmt::format("{} stages x {} lanes x log2({} rows)", shape.stages, shape.lanes, rows),
            shape.stages * shape.lanes * row, "row IDs: LWM report 3.1.1, figure 7; own estimate: the stages' latches");
  lines.accessed("warp_instructions", shape.stages * shape.lanes * row);  // from latch to latch
  if (shape.complex_queue != 0) {
    lines.add(CostLine::Kind::estimated, "row per lane before the complex unit",
              fmt::format("core.complex_queue {} x {} lanes x log2({} rows)", shape.complex_queue, shape.lanes, rows),
              shape.complex_queue * shape.lanes * row, "own estimate; as in the pipeline");
    lines.accessed("complex_queued", 2 * shape.lanes * row);  // in and out
  }
  if (memory_by_rows) {
    lines.add(CostLine::Kind::estimated, "row of accesses put aside",
              fmt::format("core.pending_accesses {} x log2({} rows)", shape.pending, rows), shape.pending * row,
              "own estimate; one row each, as memory accesses are formed by rows");
    lines.accessed("put_aside", 2 * row);
  } else {
    lines.add(CostLine::Kind::estimated, "rows per lane of accesses put aside",
              fmt::format("core.pending_accesses {} x {} lanes x log2({} rows)", shape.pending, shape.lanes, rows),
              shape.pending * shape.lanes * row, "own estimate");
    lines.accessed("put_aside", 2 * shape.lanes * row);
  }
  lines.logic("register bank decoders",
              fmt::format("{} lanes - 1 = {} more address decoders", shape.lanes, shape.lanes - 1),
              "LWM report 3.3; thesis 4.5: 11 to 18 % of the register file's area, 1.5 to 3 % of the chip's");
}

void cost_of_free_lanes(const CostShape& shape, CostLines& lines) {
  lines.logic("register file ports", fmt::format("{} ports for any {} threads", shape.lanes, shape.lanes),
              "LWM report 3.1.1: considerable area and power");
}

std::string each_set_of(const CostShape& shape) {
  return shape.sets == 1 ? "" : fmt::format("{} groups x ", shape.sets);
}

void cost_of_ages(const CostShape& shape, CostLines& lines) {
  if (!shape.ages_elsewhere) {
    lines.add(CostLine::Kind::estimated, kOrderOfAge,
              fmt::format("{}{} warps x log2({} warps)", each_set_of(shape), shape.set_warps, shape.set_warps),
              shape.sets * shape.set_warps * index_bits(shape.set_warps), "own estimate");
  }
}

void cost_of_progress(const CostShape& shape, CostLines& lines) {
  static constexpr const char* kRegisters = "progress registers";
  if (!lines.has(kRegisters)) {
    lines.add(CostLine::Kind::estimated, kRegisters, fmt::format("{} warps x {}", shape.pool, kProgressBits),
              shape.pool * kProgressBits, "thesis 9.2.2; own estimate: registers of 32 bits");
  }
}

void cost_of_places(const CostShape& shape, CostLines& lines) {
  if (shape.in_fetch_groups) {
    lines.add(CostLine::Kind::estimated, "place within each fetch group",
              fmt::format("{} groups x log2({} warps)", shape.sets, shape.set_warps),
              shape.sets * index_bits(shape.set_warps),
              fmt::format("own estimate; round robin over all needs log2({} warps) = {}", shape.pool,
                          index_bits(shape.pool)));
  }
}

}  // namespace heddle::hw
