// The parts without a SystemC process: address map, bus schedule, payload pool, direct-memory map, device memory
// target.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "hw/check/dram.hpp"
#include "hw/dram/bank_timing.hpp"
#include "hw/dram/policy.hpp"
#include "system.hpp"
#include "tlm/byte_enables.hpp"
#include "tlm/payload_pool.hpp"

namespace heddle::hw::test {
namespace {

TEST(AddressMap, RowBankColumnFillsARowBeforeTheNextBank) {
  DramParameters parameters;
  parameters.channels = 2;
  const AddressMap map(parameters, 128);
  EXPECT_EQ(map.locate(0), (DramLocation{0, 0, 0, 0}));
  EXPECT_EQ(map.locate(128), (DramLocation{1, 0, 0, 0}));
  EXPECT_EQ(map.locate(256), (DramLocation{0, 0, 0, 1}));
  EXPECT_EQ(map.locate(2 * 4096 - 1), (DramLocation{1, 0, 0, 31}));
  EXPECT_EQ(map.locate(2 * 4096), (DramLocation{0, 1, 0, 0}));
  EXPECT_EQ(map.locate(2 * 4096 * 8), (DramLocation{0, 0, 1, 0}));
}

TEST(AddressMap, RowColumnBankSpreadsLinesOverBanks) {
  DramParameters parameters;
  parameters.mapping = "row-column-bank";
  const AddressMap map(parameters, 64);
  EXPECT_EQ(map.locate(64), (DramLocation{0, 1, 0, 0}));
  EXPECT_EQ(map.locate(64 * 8), (DramLocation{0, 0, 0, 1}));
  EXPECT_EQ(map.locate(4096 * 8), (DramLocation{0, 0, 1, 0}));
}

TEST(AddressMap, AddressIsTheInverseOfLocate) {
  std::mt19937_64 engine(1);
  for (const char* mapping : {"row-bank-column", "row-column-bank"}) {
    DramParameters parameters;
    parameters.mapping = mapping;
    parameters.channels = 4;
    const AddressMap map(parameters, 32);
    for (unsigned i = 0; i != 1000; ++i) {
      const std::uint64_t line = engine() >> 20U << 5U;
      EXPECT_EQ(map.address(map.locate(line)), line);
      EXPECT_EQ(map.channel(line), map.locate(line + 31).channel);
    }
  }
}

// Against the definition, byte by byte (IEEE 1666-2011, 14.10: enables that are shorter than the data repeat).
TEST(ByteEnables, BlocksWithAnEnabledByteAreVisitedInOrder) {
  std::mt19937 engine(3);
  std::vector<std::uint8_t> data(200), enable(200);
  for (unsigned round = 0; round != 3000; ++round) {
    const unsigned length = engine() % 200 + 1;
    const unsigned offset = engine() % 70;
    const unsigned block = 1U << engine() % 7;
    const unsigned dense = engine() % 3;
    std::generate(enable.begin(), enable.end(),
                  [&] { return static_cast<std::uint8_t>(engine() % (dense == 0 ? 2 : 40) == 0 ? 0xff : 0); });
    ::tlm::tlm_generic_payload payload;
    payload.set_data_ptr(data.data());
    payload.set_data_length(length);
    const unsigned enables = round % 3 == 0 ? 0 : round % 3 == 1 ? length : engine() % length + 1;
    payload.set_byte_enable_ptr(round % 3 == 0 ? nullptr : enable.data());
    payload.set_byte_enable_length(enables);
    std::vector<std::uint64_t> want, visited;
    for (unsigned byte = 0; byte != length; ++byte) {
      const bool enabled = enables == 0 || enable[byte % enables] != 0;
      if (const std::uint64_t number = (offset + byte) / block; enabled && (want.empty() || want.back() != number)) {
        want.push_back(number);
      }
    }
    link::each_enabled_block(payload, offset, block, [&](std::uint64_t number) { visited.push_back(number); });
    ASSERT_EQ(visited, want) << "length " << length << ", offset " << offset << ", block " << block << ", enables "
                             << enables;
  }
}

std::string why_not(const DramParameters& parameters, unsigned line_bytes = 128) {
  std::vector<Contradiction> found;
  check_dram(parameters, line_bytes, found);
  return found.empty() ? "" : found.front().key + ": " + found.front().message;
}

TEST(AddressMap, LettersSayWhatTheNamedOrdersSay) {
  for (const auto& [name, letters] :
       {std::pair{"row-bank-column", "R B3 C5 H2"}, {"row-column-bank", "RCCCCCBBB_HH"}}) {
    DramParameters named;
    named.channels = 4;
    named.mapping = name;
    DramParameters spelled = named;
    spelled.mapping = letters;
    ASSERT_EQ(why_not(spelled), "");
    const AddressMap a(named, 128);
    const AddressMap b(spelled, 128);
    std::mt19937_64 engine(2);
    for (unsigned i = 0; i != 1000; ++i) {
      const std::uint64_t address = engine();
      EXPECT_EQ(a.locate(address), b.locate(address));
      EXPECT_EQ(a.channel(address), b.channel(address));
    }
  }
}

TEST(AddressMap, FieldsInPiecesBitByBit) {
  DramParameters parameters;
  parameters.channels = 2;
  parameters.mapping = "R B2 C3 R2 H B C2";  // from bit 7 up: C C B H R R C C C B B R...
  ASSERT_EQ(why_not(parameters), "");
  const AddressMap map(parameters, 128);
  EXPECT_EQ(map.locate(1U << 6U), (DramLocation{0, 0, 0, 0}));
  EXPECT_EQ(map.locate(1U << 7U), (DramLocation{0, 0, 0, 1}));
  EXPECT_EQ(map.locate(1U << 8U), (DramLocation{0, 0, 0, 2}));
  EXPECT_EQ(map.locate(1U << 9U), (DramLocation{0, 1, 0, 0}));
  EXPECT_EQ(map.locate(1U << 10U), (DramLocation{1, 0, 0, 0}));
  EXPECT_EQ(map.locate(1U << 11U), (DramLocation{0, 0, 1, 0}));
  EXPECT_EQ(map.locate(1U << 12U), (DramLocation{0, 0, 2, 0}));
  EXPECT_EQ(map.locate(1U << 13U), (DramLocation{0, 0, 0, 4}));
  EXPECT_EQ(map.locate(1U << 15U), (DramLocation{0, 0, 0, 16}));
  EXPECT_EQ(map.locate(1U << 16U), (DramLocation{0, 2, 0, 0}));
  EXPECT_EQ(map.locate(1U << 17U), (DramLocation{0, 4, 0, 0}));
  EXPECT_EQ(map.locate(1U << 18U), (DramLocation{0, 0, 4, 0}));
  EXPECT_EQ(map.locate(std::uint64_t{1} << 63U).row, std::uint64_t{1} << 47U);
}

TEST(AddressMap, AnyNumberOfChannels) {
  for (const char* mapping : {"row-bank-column", "row-column-bank", "R B3 C3 H C2", "R H B3 C5"}) {
    DramParameters parameters;
    parameters.channels = 6;
    parameters.mapping = mapping;
    ASSERT_EQ(why_not(parameters), "") << mapping;
    const AddressMap map(parameters, 128);
    std::mt19937_64 engine(5);
    std::vector<unsigned> seen(6);
    for (unsigned i = 0; i != 6000; ++i) {
      const std::uint64_t line = engine() >> 7U << 7U;
      const DramLocation location = map.locate(line);
      ASSERT_EQ(map.address(location), line) << mapping;
      ASSERT_LT(location.channel, 6U);
      ASSERT_EQ(map.channel(line + 127), location.channel);
      ++seen[location.channel];
    }
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 800U) << mapping;
  }
  DramParameters parameters;
  parameters.channels = 3;
  const AddressMap map(parameters, 128);
  EXPECT_EQ(map.locate(128 * 7), (DramLocation{1, 0, 0, 2}));
}

TEST(AddressMap, ExclusiveOrSpreadsRowsAndIsItsOwnInverse) {
  DramParameters parameters;
  parameters.channels = 4;
  parameters.bank_xor = parameters.channel_xor = true;
  const AddressMap map(parameters, 128);
  const std::uint64_t stride = std::uint64_t{4096} * 8 * 4;  // next row: without the exclusive or always bank 0
  for (unsigned row = 0; row != 16; ++row) {
    const DramLocation location = map.locate(stride * row);
    EXPECT_EQ(location.bank, row % 8);
    EXPECT_EQ(location.channel, row % 4);
    EXPECT_EQ(map.channel(stride * row), row % 4);
    EXPECT_EQ(map.address(location), stride * row);
  }
}

TEST(AddressMap, RefusesWhatMakesNoSense) {
  const auto refusal = [](const char* mapping, unsigned channels = 1) {
    DramParameters parameters;
    parameters.mapping = mapping;
    parameters.channels = channels;
    return why_not(parameters);
  };
  EXPECT_EQ(refusal("R B3 C5"), "");
  EXPECT_EQ(refusal("R B2 C5"), "dram.mapping: dram.mapping: the bank has 2 bits, but dram.banks (8) takes 3");
  EXPECT_EQ(
      refusal("R B3 C4"),
      "dram.mapping: dram.mapping: the column has 4 bits, but lines of a row (dram.row_bytes / line) (32) takes 5");
  EXPECT_EQ(refusal("R B3 C5 H"), "dram.mapping: dram.mapping: the channel has 1 bit, but dram.channels (1) takes 0");
  EXPECT_EQ(refusal("B3 R C5"),
            "dram.mapping: dram.mapping: the first field must be R: the row takes the address bits above all others");
  EXPECT_NE(refusal("R X3 B3 C5").find("'X' is no field"), std::string::npos);
  EXPECT_NE(refusal("R B3 C0 C5").find("1 to 64 bits, not 0"), std::string::npos);
  EXPECT_NE(refusal("R B99999999999999999999 C5").find("1 to 64 bits"), std::string::npos);
  EXPECT_NE(refusal("R B3 C5 R50").find("leave none of 64"), std::string::npos);
  EXPECT_NE(refusal("R C R C R C R C R C B3").find("5 pieces; the most is 4"), std::string::npos);
  EXPECT_NE(refusal("").find("first field must be R"), std::string::npos);
  EXPECT_NE(refusal("row-bank-colum").find("did you mean 'row-bank-column'?"), std::string::npos);
  EXPECT_NE(refusal("R B3 C5 H2", 3).find("no power of two: there must be one H"), std::string::npos);
  EXPECT_NE(refusal("R B3 C5", 3).find("there must be one H"), std::string::npos);
  DramParameters parameters;
  parameters.channels = 3;
  parameters.channel_xor = true;
  EXPECT_NE(why_not(parameters).find("channel_xor needs a power of two"), std::string::npos);
}

TEST(AddressMap, IsDrawnWithItsBits) {
  DramParameters parameters;
  parameters.channels = 2;
  EXPECT_EQ(draw_mapping(parameters, 128),
            "  bits        field meaning\n"
            "  63..16      R     row, and everything above\n"
            "  15..13      B     bank, of 8\n"
            "  12..8       C     column: line of the row, of 32\n"
            "  7           H     channel, of 2\n"
            "  6..0              byte of the line\n"
            "\n"
            "  RRRR RRRR RRRR RRRR RRRR RRRR BBBC CCCC H... .... (40 bits; the row goes on to bit 63)\n");
}

TEST(UtilisationSeries, KeepsSumsWhileItWidens) {
  std::mt19937 engine(4);
  UtilisationSeries series;
  std::vector<std::uint64_t> plain(100'000);
  std::uint64_t end = 1;
  for (unsigned i = 0; i != 2000; ++i) {
    end += engine() % 40;
    const std::uint64_t begin = end - std::min<std::uint64_t>(end, engine() % 300);
    series.add(series.bus, begin, end);
    for (std::uint64_t cycle = begin; cycle != end; ++cycle) {
      ++plain[cycle];
    }
  }
  ASSERT_GT(series.bucket_cycles, UtilisationSeries::kFirstWidth);
  ASSERT_EQ(series.bus.size(), UtilisationSeries::kBuckets);
  EXPECT_LE(series.bucket_cycles * UtilisationSeries::kBuckets / 2, end);
  for (unsigned bucket = 0; bucket != UtilisationSeries::kBuckets; ++bucket) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i != series.bucket_cycles; ++i) {
      const std::uint64_t cycle = bucket * series.bucket_cycles + i;
      sum += cycle < plain.size() ? plain[cycle] : 0;
    }
    EXPECT_EQ(series.bus[bucket], sum) << bucket;
  }
}

TEST(BusSchedule, FillsGapsAndNeverOverlaps) {
  std::mt19937 engine(3);
  BusSchedule bus;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> reserved;
  std::uint64_t now = 0;
  for (unsigned i = 0; i != 3000; ++i) {
    now += engine() % 6;
    bus.forget_before(now);
    const std::uint64_t length = 1 + engine() % 5;
    const std::uint64_t from = now + engine() % 200;
    const std::uint64_t got = bus.first_free(from, length);
    // The first fit, by trying every start.
    std::uint64_t want = from;
    const auto overlaps = [&](std::uint64_t start) {
      return std::any_of(reserved.begin(), reserved.end(),
                         [&](const auto& slot) { return start < slot.second && slot.first < start + length; });
    };
    while (overlaps(want)) {
      ++want;
    }
    ASSERT_EQ(got, want) << i;
    bus.reserve(got, length);
    reserved.emplace_back(got, got + length);
    std::erase_if(reserved, [now](const auto& slot) { return slot.second + 10 < now; });
  }
}

TEST(DramPolicies, AreRegisteredByName) {
  const auto schedulers = dram_schedulers().choices();
  const auto rows = dram_row_policies().choices();
  EXPECT_NE(std::find(schedulers.begin(), schedulers.end(), "fcfs"), schedulers.end());
  EXPECT_NE(std::find(rows.begin(), rows.end(), "open"), rows.end());
}

TEST(PayloadPool, ReusesWhatWasReleasedAndKeepsItsExtension) {
  link::PayloadPool pool;
  link::LinePayload& first = pool.acquire(::tlm::TLM_WRITE_COMMAND, 0x80, 64);
  first.set_byte_enable_ptr(first.enable.data());
  first.set_byte_enable_length(64);
  first.set_response_status(::tlm::TLM_OK_RESPONSE);
  first.set_dmi_allowed(true);
  first.acquire();
  first.release();
  EXPECT_EQ(pool.in_use(), 1U);
  first.release();
  EXPECT_EQ(pool.in_use(), 0U);
  link::LinePayload& second = pool.acquire(::tlm::TLM_READ_COMMAND, 0, 128);
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(second.get_byte_enable_ptr(), nullptr);
  EXPECT_EQ(second.get_response_status(), ::tlm::TLM_INCOMPLETE_RESPONSE);
  EXPECT_FALSE(second.is_dmi_allowed());
  EXPECT_EQ(second.get_extension<link::MemoryExtension>(), &second.extension);
  EXPECT_EQ(pool.made(), 1U);
  second.release();
}

TEST(DirectMemory, FindsRangesAndForgetsWhatIsTakenBack) {
  DirectMemory direct;
  std::byte* const storage = reinterpret_cast<std::byte*>(0x1000);  // never followed
  std::uint64_t begin = 0;
  EXPECT_EQ(direct.find(5, begin), nullptr);
  DirectMemory::Range range;
  range.end = 0x3'ffff;
  range.pointer = storage;
  direct.add(0x1'0000, range);
  for (unsigned i = 0; i != 2; ++i) {  // the second time from the table
    ASSERT_NE(direct.find(0x2'1234, begin), nullptr);
    EXPECT_EQ(begin, 0x1'0000U);
    EXPECT_EQ(direct.find(0x1'0000 - 1, begin), nullptr);
    EXPECT_EQ(direct.find(0x4'0000, begin), nullptr);
  }
  direct.invalidate(0x4'0000, 0x5'0000);
  EXPECT_NE(direct.find(0x2'1234, begin), nullptr);
  direct.invalidate(0x3'ffff, 0x3'ffff);
  EXPECT_EQ(direct.find(0x2'1234, begin), nullptr);
}

TEST(MemoryTarget, ReadsWritesEnablesAndRefusals) {
  isa::DeviceMemory memory;
  MemoryTarget target("target", memory, 1);
  link::PayloadPool pool;
  // Bound so that the call goes through the socket.
  struct Initiator final : sc_core::sc_module, ::tlm::tlm_bw_transport_if<> {
    explicit Initiator(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
      socket.bind(*this);
    }
    ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload&, ::tlm::tlm_phase&, sc_core::sc_time&) override {
      return ::tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
      ++invalidations;
      EXPECT_EQ(start, 0U);
      EXPECT_EQ(end, ~sc_dt::uint64{0});
    }
    unsigned invalidations = 0;
    ::tlm::tlm_initiator_socket<> socket;
  } initiator("initiator");
  initiator.socket.bind(target.channel[0]);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  sc_core::sc_time delay;
  link::LinePayload& write = pool.acquire(::tlm::TLM_WRITE_COMMAND, 0x1000'0000, 8);
  for (unsigned i = 0; i != 8; ++i) {
    write.data[i] = static_cast<std::byte>(i + 1);
  }
  write.enable = {0xff, 0x00};
  write.set_byte_enable_ptr(write.enable.data());
  write.set_byte_enable_length(2);  // repeats
  initiator.socket->b_transport(write, delay);
  EXPECT_EQ(write.get_response_status(), ::tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(memory.get<std::uint64_t>(0x1000'0000), 0x0007'0005'0003'0001U);

  link::LinePayload& read = pool.acquire(::tlm::TLM_READ_COMMAND, 0x1000'0000, 8);
  EXPECT_EQ(initiator.socket->transport_dbg(read), 8U);
  EXPECT_EQ(read.data[2], std::byte{3});
  read.set_streaming_width(4);
  initiator.socket->b_transport(read, delay);
  EXPECT_EQ(read.get_response_status(), ::tlm::TLM_BURST_ERROR_RESPONSE);
  read.set_streaming_width(8);
  read.set_address(~std::uint64_t{0} - 6);
  initiator.socket->b_transport(read, delay);
  EXPECT_EQ(read.get_response_status(), ::tlm::TLM_ADDRESS_ERROR_RESPONSE);

  ::tlm::tlm_dmi dmi;
  read.set_address(0x1000'0005);
  ASSERT_TRUE(initiator.socket->get_direct_mem_ptr(read, dmi));
  EXPECT_EQ(dmi.get_start_address(), 0x1000'0000U);
  EXPECT_EQ(dmi.get_end_address(), 0x1000'ffffU);
  EXPECT_EQ(dmi.get_dmi_ptr()[4], 5);
  target.invalidate_direct_memory();
  EXPECT_EQ(initiator.invalidations, 1U);
}

}  // namespace
}  // namespace heddle::hw::test
