#include "hw/core/memory/memory_access.hpp"

#include <cstring>

#include "base/set_bits.hpp"
#include "isa/memory_map.hpp"

namespace heddle::hw {

void MemoryAccess::classify(link::SubWarp& of) {
  sub_warp = &of;
  const isa::Instruction& instruction = of.decoded->instruction;
  const bool accumulates = isa::is_accumulate(instruction.op);
  const LaneMask executing = of.executing;
  const bool matrices = instruction.op == isa::Op::LD_MATRIX;
  const bool copies = isa::is_copy(instruction.op);
  LaneMask reading = executing;  // of a copy: what it reads at all
  for (const unsigned lane : set_bits(isa::fills(instruction.op) ? executing : 0)) {
    reading &= ~(LaneMask{of.values.result[1][lane] == 0} << lane);
  }
  lanes = copies        ? reading
          : accumulates ? executing & of.values.predicate_a
          : matrices    ? isa::matrix_rows(instruction, executing)
                        : executing;
  stray = shared = constant = parameter = local = global = on_chip = 0;
  count = own = sent = outstanding = late = 0;
  aside = gathered = for_copies = in_bulk = by_constants = false;
  queues_until = 0;
  absent = 0;
  missed = 0;
  first_line = link::kNever;
  if (isa::is_atomic(instruction.op)) {
    kind = Kind::atomic;
    elements = 1;
    element_bytes = isa::size_of(instruction.atomic_type());
  } else if (accumulates) {
    kind = Kind::store;
    elements = 1;
    element_bytes = instruction.element_bytes();
  } else if (isa::is_texture(instruction.op)) {
    kind = Kind::texture;
    elements = instruction.texture_channels();
    element_bytes = 4;
  } else {
    kind = isa::is_store(instruction.op) && !copies ? Kind::store : Kind::load;
    elements = matrices ? 4 : instruction.vector();  // a row
    element_bytes = isa::bytes_of(instruction.width());
  }
  lane_bytes = elements * element_bytes;
  const isa::Space space = isa::space_of(instruction.op);
  std::uint64_t window = 0;  // of all lanes
  switch (space) {
    case isa::Space::shared:
      window = isa::kSharedWindow;
      shared = executing;
      break;
    case isa::Space::local:
      window = isa::kLocalWindow;
      local = executing;
      break;
    case isa::Space::constant:
      window = isa::kConstantWindow;
      constant = executing;
      break;
    case isa::Space::param:
      parameter = executing;
      break;
    case isa::Space::global:
    case isa::Space::generic:
      global = executing;
      break;
  }
  // The retirement hash takes generic addresses.
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    of.address_low[lane] = static_cast<std::uint32_t>(of.address[lane]) + static_cast<std::uint32_t>(window);
  }
  if (space == isa::Space::generic) {
    for (const unsigned lane : set_bits(executing)) {
      const isa::Window in = isa::window_of(of.address[lane]);
      if (in != isa::Window::global) {
        const LaneMask bit = LaneMask{1} << lane;
        global &= ~bit;
        (in == isa::Window::shared ? shared : in == isa::Window::local ? local : constant) |= bit;
        of.address[lane] %= isa::kWindowSize;  // windows lie at multiples of their size
      }
    }
  }
  shared &= lanes;
  global &= lanes;
}

AccessLine& MemoryAccess::begin_line(const CoreState& state, unsigned number) {
  order[number] = static_cast<std::uint8_t>(number);
  AccessLine& line = lines[number];
  line.access = this;
  line.under_way = false;
  line.with = nullptr;
  line.core = static_cast<std::uint16_t>(state.in_core);
  line.group = state.in_core_number(sub_warp->group);
  line.pc = sub_warp->pc;
  line.bypass = line.row_hint = line.shares_port = line.waits = line.failed = false;
  line.banks = 0;
  line.atomic = nullptr;
  line.store_data = nullptr;
  line.byte_enable = nullptr;
  line.kind = link::LineRequest::Kind::load;
  line.parts = 0xff;
  return line;
}

std::uint64_t MemoryAccess::stored(unsigned lane, unsigned element) const {
  const isa::LaneValues& values = sub_warp->values;
  if (isa::is_accumulate(sub_warp->decoded->instruction.op)) {
    return lane_operand(values.b, lane, lane_bytes);
  }
  if (element_bytes == 8) {
    return values.result[2 * element][lane] | (std::uint64_t{values.result[2 * element + 1][lane]} << 32U);
  }
  return values.result[element][lane];
}

LaneMask MemoryAccess::waiting(bool misses_only) const {
  if (in_bulk || for_copies) {
    return outstanding != 0 ? lanes : 0;
  }
  LaneMask waits = 0;
  for (unsigned i = 0; i != count; ++i) {
    const AccessLine& line = lines[i];
    if (line.under_way && !(misses_only && line.answer == link::LineRequest::Answer::late_hit)) {
      waits |= line.lanes;
    }
  }
  return waits;
}

void MemoryAccess::finish_load() {
  const isa::Instruction& instruction = sub_warp->decoded->instruction;
  const isa::Width width = instruction.width();
  const unsigned bytes = isa::bytes_of(width);
  const unsigned elements = instruction.vector();
  isa::LaneValues& values = sub_warp->values;
  if (bytes >= 4) {
    for (unsigned word = 0; word < lane_bytes / 4; ++word) {
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        std::memcpy(&values.result[word][lane], loaded[lane].data() + word * 4, 4);
      }
    }
    if (instruction.op == isa::Op::LD_MATRIX) {
      isa::distribute_matrices(instruction, values);
    }
    return;
  }
  const auto narrow = [&](auto zero) {
    for (unsigned element = 0; element < elements; ++element) {
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        auto raw = zero;
        std::memcpy(&raw, loaded[lane].data() + element * sizeof raw, sizeof raw);
        values.result[element][lane] = static_cast<std::uint32_t>(isa::extend_loaded(width, raw));
      }
    }
  };
  if (bytes == 1) {
    narrow(std::uint8_t{0});
  } else {
    narrow(std::uint16_t{0});
  }
}

}  // namespace heddle::hw
