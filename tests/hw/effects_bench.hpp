// What the tests of hw/effects stand on: a core's state with one block of eight rows, registers with a value of their
// own in every place, and sub-warps of every shape. Without SystemC, as what they test.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hw/registers/register_array.hpp"
#include "hw/state/core_state.hpp"
#include "isa/result_form.hpp"
#include "tests/hw/begin_block.hpp"
#include "tests/isa/kernel_builder.hpp"

namespace heddle::hw::test {

// Where the threads of a sub-warp's lanes are.
enum class Shape : std::uint8_t { own_row, told_rows, untold_rows, displaced };
inline constexpr std::array<Shape, 4> kShapes = {Shape::own_row, Shape::told_rows, Shape::untold_rows,
                                                 Shape::displaced};
inline constexpr std::array<LaneMask, 4> kSomeLanes = {~LaneMask{0}, 0x8000'0001U, 0x0ff0'a55aU, 0U};

struct EffectsBench {
  static constexpr unsigned kRows = 8;
  static constexpr unsigned kRegisters = 12;

  explicit EffectsBench(const Machine& with = {}, unsigned threads = kRows * isa::kLanes) : machine(with) {
    launch.registers = kRegisters;
    launch.block = {threads, 1, 1};
    launch.hashes = hashes.data();
    state.launch = &launch;
    begin_block(state, 0, {3, 0, 0}, 0);
    registers.resize(kRows, kRegisters);
    for (unsigned row = 0; row < kRows; ++row) {
      for (unsigned reg = 0; reg < kRegisters; ++reg) {
        for (std::uint32_t& word : registers.word(row, reg)) {
          word = random();
        }
      }
      for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
        registers.predicate(row, reg) = random();
      }
    }
    for (std::uint32_t& hash : hashes) {
      hash = random();
    }
  }

  // The instruction that `emit` adds to a kernel, decoded.
  template <class Emit>
  const link::DecodedInstruction& decoded(Emit emit) {
    isa::test::Code code;
    emit(code);
    instructions.push_back(std::make_unique<link::DecodedInstruction>());
    link::DecodedInstruction& out = *instructions.back();
    out.word = code.module().kernels[0].words.back();
    out.instruction = isa::decode(out.word).value();
    out.function = isa::lane_function(out.instruction);
    out.form = isa::result_form(out.instruction);
    out.sources = isa::source_predicates(out.instruction);
    out.unit = isa::info(out.instruction.op).unit;
    const bool immediate = out.instruction.immediate;
    out.a_words = static_cast<std::uint8_t>(isa::a_registers(out.instruction));
    out.b_words = static_cast<std::uint8_t>(immediate ? 0 : isa::b_registers(out.instruction));
    out.c_words = static_cast<std::uint8_t>(isa::c_registers(out.instruction));
    out.d_words = static_cast<std::uint8_t>(immediate ? 0 : isa::d_registers(out.instruction));
    out.stored_words = static_cast<std::uint8_t>(isa::stored_registers(out.instruction));
    out.plain = out.unit == isa::Unit::alu;
    out.operand_words =
        static_cast<std::uint8_t>(out.a_words + out.b_words + out.c_words + out.d_words + out.stored_words);
    return out;
  }

  link::SubWarp sub_warp(Shape shape, LaneMask lanes, const link::DecodedInstruction& instruction) {
    link::SubWarp out;
    out.decoded = &instruction;
    out.lanes = out.executing = lanes;
    out.pc = 40;
    out.first_row = 2;
    out.uniform = shape == Shape::own_row;
    out.displaced = shape == Shape::displaced;
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      out.row[lane] = static_cast<std::uint16_t>(out.uniform ? 2 : random() % 5);
      out.home[lane] = static_cast<std::uint8_t>(lane * 5 % isa::kLanes);
    }
    if (shape == Shape::told_rows) {
      out.row_count = 5;
      for (std::uint16_t row = 0; row < 5; ++row) {
        out.rows[row].row = row;
        for (unsigned lane = 0; lane < isa::kLanes; ++lane) {  // those beside the sub-warp's, too
          out.rows[row].lanes |= LaneMask{out.row[lane] == row} << lane;
        }
      }
    }
    return out;
  }

  // As one thread has it, wherever it is.
  [[nodiscard]] std::uint32_t word(const link::SubWarp& of, unsigned lane, unsigned reg) {
    return reg == isa::kRZ ? 0 : registers.word(row(of, lane), reg)[home(of, lane)];
  }
  [[nodiscard]] bool predicate(const link::SubWarp& of, unsigned lane, isa::Pred pred) {
    const bool value =
        pred.reg == isa::kPT || ((registers.predicate(row(of, lane), pred.reg) >> home(of, lane)) & 1U) != 0;
    return value != pred.negated;
  }
  // Of the thread that begun there.
  [[nodiscard]] std::uint32_t& hash(const link::SubWarp& of, unsigned lane) {
    return hashes[row(of, lane) * isa::kLanes + home(of, lane)];
  }
  [[nodiscard]] static unsigned row(const link::SubWarp& of, unsigned lane) {
    return of.uniform ? of.first_row : of.row[lane];
  }
  [[nodiscard]] static unsigned home(const link::SubWarp& of, unsigned lane) {
    return of.displaced ? of.home[lane] : lane;
  }

  std::mt19937 random{17};
  std::vector<std::uint32_t> hashes = std::vector<std::uint32_t>(kRows * isa::kLanes);
  Machine machine;
  Launch launch;
  CoreState state{machine, 0, nullptr};
  RegisterArray registers;
  std::vector<std::unique_ptr<link::DecodedInstruction>> instructions;
};

[[nodiscard]] inline bool has(LaneMask lanes, unsigned lane) {
  return ((lanes >> lane) & 1U) != 0;
}
[[nodiscard]] inline std::string where(const link::SubWarp& of, unsigned lane) {
  return "lane " + std::to_string(lane) + " of " + std::to_string(of.lanes) + ", shape " +
         std::to_string(of.uniform          ? 0
                        : of.row_count != 0 ? 1
                        : of.displaced      ? 3
                                            : 2);
}

}  // namespace heddle::hw::test
