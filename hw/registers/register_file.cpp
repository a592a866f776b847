#include "hw/registers/register_file.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/set_bits.hpp"

namespace heddle::hw {

RegisterFile::RegisterFile(const sc_core::sc_module_name& name, unsigned simd_width, unsigned rows,
                           CoreStatistics* scalar, const MakeBankTap& make_tap)
    : sc_core::sc_module(name),
      read_port("read_port"),
      write_port("write_port"),
      bank_port("bank_port", simd_width),
      rows_(rows),
      scalar_(scalar),
      wide_(scalar != nullptr ? rows : 0) {
  for (unsigned lane = 0; lane < simd_width; ++lane) {
    banks_.push_back(std::make_unique<RegisterBank>(("bank" + std::to_string(lane)).c_str(), counters_, array_, lane));
    bank_port[lane].bind(static_cast<link::ForwardOnlyInitiator<BankProtocol>&>(*this));
    taps_.push_back(make_tap ? make_tap(banks_.back()->port) : nullptr);
    link::bind_through(taps_.back().get(), bank_port[lane], banks_.back()->port);
  }
  read_port.bind(*this);
  write_port.bind(*this);
}

void RegisterFile::configure(unsigned registers) {
  array_.resize(rows_, std::max(registers, 1U));
  wide_.clear();
}

::tlm::tlm_sync_enum RegisterFile::nb_transport_fw(RegisterAccess&, link::WarpPhase&, sc_core::sc_time&) {
  throw InternalError("the register file's socket is blocking");
}

// The delay is time beyond the access's own cycle.
void RegisterFile::b_transport(RegisterAccess& access, sc_core::sc_time& delay) {
  slowest_ = sc_core::SC_ZERO_TIME;
  count(access);
  delay += slowest_;
}

void RegisterFile::end_of_elaboration() {
  direct_ = std::all_of(bank_port.begin(), bank_port.end(), [](BankInitiatorSocket& port) {
    return dynamic_cast<RegisterBank*>(port.operator->()) != nullptr;
  });
}

void RegisterFile::ask_banks(const RegisterAccess& access, isa::LaneMask lanes, unsigned words) {
  for (const unsigned lane : set_bits(lanes)) {
    BankAccess of_bank{access.sub_warp->row_of(lane), words, access.write};
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    bank_port[lane]->b_transport(of_bank, delay);
    slowest_ = std::max(slowest_, delay);
  }
}

bool RegisterBank::get_direct_mem_ptr(BankAccess&, ::tlm::tlm_dmi& dmi) {
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(&column_));
  dmi.set_start_address(0);
  dmi.set_end_address(sizeof column_ - 1);
  dmi.allow_read_write();
  return true;
}

namespace {

// Calls visit(register) for each word that a lane reads, RZ included.
template <class Visit>
void each_operand_word(const link::DecodedInstruction& decoded, Visit visit) {
  const auto words = [&](unsigned first, unsigned count) {
    for (unsigned word = 0; word < count; ++word) {
      visit(first >= isa::kRZ ? isa::kRZ : first + word);
    }
  };
  const isa::Instruction& instruction = decoded.instruction;
  words(instruction.a, decoded.a_words);
  words(instruction.b, decoded.b_words);
  words(instruction.c, decoded.c_words);
  words(instruction.d, decoded.d_words);
  words(instruction.dst, decoded.stored_words);
}

}  // namespace

// A thread reads a register in its lane's bank if it has written it since its warp last did as a whole, and in the
// warp-wide file otherwise.
void RegisterFile::count_with_wide(const RegisterAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  if (sub_warp.scalar) {
    count_scalar(access);
    return;
  }
  const isa::LaneMask lanes = sub_warp.lanes;
  if (access.write) {
    const isa::ResultForm& form = sub_warp.decoded->form;
    pass(access, lanes, form.words);
    for (const unsigned lane : set_bits(lanes)) {
      // A thread whose guard is false writes nothing; its value stays where it is.
      for (unsigned word = 0; word < form.words && ((sub_warp.executing >> lane) & 1U) != 0; ++word) {
        wide_.write_lanes(sub_warp.row_of(lane), form.dst + word, isa::LaneMask{1} << sub_warp.home_of(lane));
      }
    }
    return;
  }
  each_operand_word(*sub_warp.decoded, [&](unsigned reg) {
    isa::LaneMask own = 0;
    for (const unsigned lane : set_bits(lanes)) {
      const bool in_lane =
          reg == isa::kRZ || ((wide_.in_lanes(sub_warp.row_of(lane), reg) >> sub_warp.home_of(lane)) & 1U) != 0;
      own |= static_cast<isa::LaneMask>(in_lane) << lane;
    }
    pass(access, own, 1);
    scalar_->scalar_reads += own != lanes ? 1 : 0;
    scalar_->lane_reads_saved += static_cast<unsigned>(std::popcount(lanes & ~own));
  });
}

// One lane stands for all threads of the warp: what some threads have in their lanes it reads in its own lane.
void RegisterFile::count_scalar(const RegisterAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  unsigned threads = 0;
  for (const isa::LaneMask row : access.warp) {
    threads += static_cast<unsigned>(std::popcount(row));
  }
  if (access.write) {
    const isa::ResultForm& form = sub_warp.decoded->form;
    for (unsigned word = 0; word < form.words; ++word) {
      for (unsigned row = 0; row < access.warp.size(); ++row) {
        wide_.write_wide(access.first_row + row, form.dst + word, access.warp[row]);
      }
    }
    scalar_->scalar_writes += form.words;
    scalar_->lane_writes_saved += std::uint64_t{form.words} * threads;
    return;
  }
  const isa::LaneMask lane = sub_warp.lanes & (0U - sub_warp.lanes);
  each_operand_word(*sub_warp.decoded, [&](unsigned reg) {
    isa::LaneMask own = 0;
    for (unsigned row = 0; reg != isa::kRZ && row < access.warp.size(); ++row) {
      own |= wide_.in_lanes(access.first_row + row, reg) & access.warp[row];
    }
    const bool in_lane = own != 0 || reg == isa::kRZ;
    pass(access, in_lane ? lane : 0, 1);
    scalar_->scalar_reads += in_lane ? 0 : 1;
    scalar_->lane_reads_saved += threads - (in_lane ? 1 : 0);
  });
}

bool RegisterFile::get_direct_mem_ptr(RegisterAccess&, ::tlm::tlm_dmi& dmi) {
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(&array_));
  dmi.set_start_address(0);
  dmi.set_end_address(sizeof(RegisterArray) - 1);
  dmi.allow_read_write();
  return true;
}

}  // namespace heddle::hw
