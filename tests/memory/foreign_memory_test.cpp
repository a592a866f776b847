// The controller in front of memories from elsewhere: every variant of the base protocol, byte enables, direct memory
// that is granted later, blocking transport, and no timing of its own.
#include "foreign_memory.hpp"

#include <gmock/gmock.h>

#include "system.hpp"

namespace heddle::hw::test {
namespace {

constexpr std::uint64_t kHere = 0x1000;

SystemParameters in_front_of(ForeignMemory& memory) {
  SystemParameters parameters;
  parameters.cache.enabled = false;
  parameters.storage = [&](unsigned, auto& storage) { storage.bind(memory.socket); };
  return parameters;
}

// Stores, loads and atomics of three lanes over eight lines: the order within each line shows in every value.
void mixed_traffic(MemorySystem& system, const ForeignMemory& memory) {
  constexpr unsigned kRounds = 96;
  std::vector<const Access*> loads;
  std::vector<const Access*> atomics;
  for (unsigned i = 0; i != kRounds; ++i) {
    const std::uint64_t line = kHere + 128 * (i % 8);
    system.core().store_word(0, line + 4, 1000 + i);
    loads.push_back(&system.core().load(0, line));
    atomics.push_back(&system.core().atomic_add(0, line, {1, 1, 1}, true));
  }
  system.run();
  for (unsigned i = 0; i != kRounds; ++i) {
    EXPECT_EQ(loads[i]->word(1), 1000 + i) << i;
    EXPECT_EQ(atomics[i]->lanes.old[2], 3 * (i / 8) + 2) << i;
  }
  for (unsigned line = 0; line != 8; ++line) {
    EXPECT_EQ(memory.word(kHere + 128 * line), 3 * kRounds / 8);
  }
  EXPECT_TRUE(system.controller().quiet());
}

class EveryVariant : public testing::TestWithParam<Answers> {};

TEST_P(EveryVariant, KeepsOrderWithinLinesAndEndsEveryResponse) {
  ForeignMemory memory("foreign", GetParam());
  MemorySystem system(in_front_of(memory));
  mixed_traffic(system, memory);
  const bool one_at_a_time = GetParam() == Answers::response_alone;
  if (one_at_a_time || GetParam() == Answers::request_in_return || GetParam() == Answers::all_phases) {
    EXPECT_EQ(memory.most_under_way > 1, !one_at_a_time);
  }
}

const char* name_of_answers(Answers answers) {
  switch (answers) {
    case Answers::completed:
      return "completed";
    case Answers::response_in_return:
      return "response_in_return";
    case Answers::request_in_return:
      return "request_in_return";
    case Answers::response_alone:
      return "response_alone";
    case Answers::all_phases:
      return "all_phases";
    case Answers::never:
      break;
  }
  return "never";
}

INSTANTIATE_TEST_SUITE_P(Protocol, EveryVariant,
                         testing::Values(Answers::completed, Answers::response_in_return, Answers::request_in_return,
                                         Answers::response_alone, Answers::all_phases),
                         [](const auto& info) { return name_of_answers(info.param); });

// ---------------------------------------------------------------------------------------------------- write pieces

TEST(WritePieces, AreWhatTheirNamesSay) {
  std::vector<std::uint8_t> enable(16);
  const auto pieces = [&](WritePieces how, std::uint64_t address) {
    std::vector<WritePiece> found;
    const MaskedWrite write{address, 16, enable.data(), 16};
    for (WritePiece piece = next_piece(how, write, 0); !piece.empty(); piece = next_piece(how, write, piece.end)) {
      found.push_back(piece);
    }
    return found;
  };
  using Pieces = std::vector<WritePiece>;
  for (const WritePieces how : {WritePieces::runs, WritePieces::aligned, WritePieces::byte_enables}) {
    EXPECT_EQ(pieces(how, 64), Pieces()) << "nothing is enabled";
  }
  std::fill(enable.begin() + 1, enable.begin() + 8, std::uint8_t{0xff});
  enable[11] = 0xff;
  EXPECT_EQ(pieces(WritePieces::runs, 64), (Pieces{{1, 8, false}, {11, 12, false}}));
  EXPECT_EQ(pieces(WritePieces::aligned, 64), (Pieces{{1, 2, false}, {2, 4, false}, {4, 8, false}, {11, 12, false}}));
  EXPECT_EQ(pieces(WritePieces::aligned, 0), pieces(WritePieces::aligned, 64));
  EXPECT_EQ(pieces(WritePieces::aligned, 67), (Pieces{{1, 5, false}, {5, 7, false}, {7, 8, false}, {11, 12, false}}));
  EXPECT_EQ(pieces(WritePieces::byte_enables, 64), (Pieces{{0, 16, true}}));
  std::fill(enable.begin(), enable.end(), std::uint8_t{0xff});
  for (const WritePieces how : {WritePieces::runs, WritePieces::aligned, WritePieces::byte_enables}) {
    EXPECT_EQ(pieces(how, 64), (Pieces{{0, 16, false}})) << "whole";
  }
}

// Any mask at any place: the pieces are the enabled bytes, in order and each once, and whole powers of two where they
// are to be.
TEST(WritePieces, CoverEveryEnabledByteOnce) {
  std::uint32_t state = 1;
  const auto random = [&](unsigned below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % below;
  };
  for (unsigned round = 0; round != 2000; ++round) {
    const unsigned length = 1 + random(128);
    std::vector<std::uint8_t> enable(round % 4 == 0 ? 1 + random(length) : length);  // may repeat
    const unsigned share = 1 + random(4);
    for (std::uint8_t& one : enable) {
      one = random(share) == 0 ? 0xff : 0;
    }
    const MaskedWrite write{random(4096), length, enable.data(), static_cast<unsigned>(enable.size())};
    for (const WritePieces how : {WritePieces::runs, WritePieces::aligned}) {
      std::vector<bool> written(length);
      unsigned from = 0;
      for (WritePiece piece = next_piece(how, write, 0); !piece.empty(); piece = next_piece(how, write, from)) {
        ASSERT_GE(piece.first, from);
        ASSERT_LE(piece.end, length);
        from = piece.end;
        std::fill(written.begin() + piece.first, written.begin() + piece.end, true);
        const unsigned bytes = piece.end - piece.first;
        if (how == WritePieces::aligned) {
          EXPECT_TRUE(std::has_single_bit(bytes));
          EXPECT_EQ((write.address + piece.first) % bytes, 0U);
        } else {
          EXPECT_TRUE(piece.end == length || !write.enabled(piece.end));
        }
      }
      for (unsigned i = 0; i != length; ++i) {
        EXPECT_EQ(written[i], write.enabled(i)) << i;
      }
    }
  }
}

// Three words in a row from an odd place, written back at once, and an atomic of three words.
struct Written {
  std::vector<std::uint32_t> words;
  unsigned transports = 0, masked = 0;
};
Written write_three_words(const char* pieces, bool cuts, bool enables) {
  ForeignMemory memory("foreign", Answers::completed);
  memory.cuts_addresses = cuts;
  memory.takes_byte_enables = enables;
  SystemParameters parameters = in_front_of(memory);
  parameters.cache.enabled = true;
  parameters.dram.write_pieces = pieces;
  MemorySystem system(parameters);
  for (unsigned i = 1; i != 4; ++i) {
    system.core().store_word(0, kHere + 4 * i, i);
  }
  system.core().atomic_add(5000, kHere + 256, {7, 8, 9}, false);
  system.run();
  system.flush();
  Written written{{}, memory.transports, memory.masked};
  for (const std::uint64_t base : {kHere, kHere + 256}) {
    for (unsigned i = 0; i != 5; ++i) {
      written.words.push_back(memory.word(base + 4 * i));
    }
  }
  return written;
}

const std::vector<std::uint32_t> kThreeWords = {0, 1, 2, 3, 0, 7, 8, 9, 0, 0};

TEST(WritePieces, AlignedIsTheDefaultAndSuitsAMemoryThatCutsAddresses) {
  EXPECT_EQ(DramParameters().write_pieces, "aligned");
  const Written written = write_three_words("aligned", true, false);
  EXPECT_EQ(written.words, kThreeWords);
  // One line read for the stores and one for the atomic; then 4 + 8 bytes and 8 + 4.
  EXPECT_EQ(written.transports, 2 + 2 + 2U);
}
TEST(WritePieces, RunsAreFewer) {
  const Written written = write_three_words("runs", false, false);
  EXPECT_EQ(written.words, kThreeWords);
  EXPECT_EQ(written.transports, 2 + 1 + 1U);
}
TEST(WritePieces, RunsAreMisunderstoodByAMemoryThatCutsAddresses) {
  EXPECT_NE(write_three_words("runs", true, false).words, kThreeWords);
}
TEST(WritePieces, ByteEnablesGoWithTheWholeLine) {
  const Written written = write_three_words("byte-enables", true, true);
  EXPECT_EQ(written.words, kThreeWords);
  EXPECT_EQ(written.transports, 2 + 1 + 1U);
  EXPECT_EQ(written.masked, 2U);
}

// --------------------------------------------------------------------------------------------------- direct memory

TEST(DirectMemoryHint, AsksAgainAfterARefusal) {
  ForeignMemory memory("foreign", Answers::all_phases);
  MemorySystem system(in_front_of(memory));
  system.core().load(0, kHere);
  system.core().load(1000, kHere + 128);
  system.run();
  EXPECT_EQ(memory.asked_for_direct_memory, 1U);
  EXPECT_EQ(memory.transports, 2U);
  memory.grants = true;
  const Cycle now = system.clock.now();
  system.core().load(now + 1, kHere);           // by transport: its response carries the hint
  system.core().load(now + 1000, kHere);        // asks, and is granted
  system.core().load(now + 2000, kHere + 128);  // uses it
  system.core().wake(now + 1);
  system.run();
  EXPECT_EQ(memory.transports, 3U);
  EXPECT_EQ(memory.asked_for_direct_memory, 2U);
}

// ------------------------------------------------------------------------------------------------ blocking transport

// Eight loads at once of a memory that waits 100 ns in each blocking call, behind a controller without timing.
Cycle eight_loads(unsigned calls, unsigned& most_under_way) {
  ForeignMemory memory("foreign", Answers::all_phases);
  memory.latency_ns = 100;
  SystemParameters parameters = in_front_of(memory);
  parameters.dram.timing = "none";
  parameters.dram.blocking_calls = calls;
  MemorySystem system(parameters);
  Cycle last = 0;
  system.core().on_answer = [&](Access& access) { last = std::max(last, access.answered); };
  for (unsigned i = 0; i != 8; ++i) {
    memory.bytes[kHere + 128 * i] = static_cast<unsigned char>(i + 1);
    system.core().load(0, kHere + 128 * i);
  }
  system.run();
  for (unsigned i = 0; i != 8; ++i) {
    EXPECT_EQ(system.core().script()[i].word(), i + 1);
  }
  most_under_way = memory.most_under_way;
  return last;
}

TEST(BlockingCalls, OneAtATime) {
  unsigned most = 0;
  const Cycle last = eight_loads(1, most);
  EXPECT_EQ(most, 1U);
  EXPECT_GE(last, 8 * 103U);  // waited 100 ns and annotated 3
}
TEST(BlockingCalls, FourAtATime) {
  unsigned most = 0;
  const Cycle last = eight_loads(4, most);
  EXPECT_EQ(most, 4U);
  EXPECT_GE(last, 2 * 103U);
  EXPECT_LE(last, 2 * 103 + 30U);
}
TEST(BlockingCalls, KeepOrderWithinLines) {
  ForeignMemory memory("foreign", Answers::never);  // by non-blocking transport
  SystemParameters parameters = in_front_of(memory);
  parameters.dram.blocking_calls = 3;
  MemorySystem system(parameters);
  mixed_traffic(system, memory);
  EXPECT_EQ(memory.most_under_way, 3U);
}

// ------------------------------------------------------------------------------------------------------- no timing

TEST(NoTiming, DeviceMemoryAnswersInTheCycleInWhichARequestArrives) {
  SystemParameters parameters;
  parameters.dram.timing = "none";
  MemorySystem system(parameters);
  const Access& load = system.core().load(0, kBase);
  const Access& other_row = system.core().load(1000, kBase + 0x100000);
  system.run();
  EXPECT_EQ(load.answered, 2 + 2U);  // of the 300 cycles of a row conflict none is left
  EXPECT_EQ(other_row.answered, 1000 + 2 + 2U);
  const DramStatistics& statistics = system.controller().statistics();
  EXPECT_EQ(statistics.reads, 2U);
  EXPECT_EQ(statistics.row_hits + statistics.row_conflicts + statistics.activations, 0U);
  EXPECT_EQ(statistics.bus_busy_cycles + statistics.bank_busy_cycles, 0U);
  EXPECT_EQ(statistics.queue_max, 1U);
}

TEST(NoTiming, TheMemorysOwnTimeCountsOnce) {
  ForeignMemory memory("foreign", Answers::all_phases);
  SystemParameters parameters = in_front_of(memory);
  parameters.dram.timing = "none";
  MemorySystem system(parameters);
  const Access& load = system.core().load(0, kHere + 128);
  system.run();
  // 20 ns of the memory, in whose last the answer comes and counts in the next.
  EXPECT_EQ(load.answered, 2 + 20 + 1 + 2U);
  EXPECT_EQ(system.controller().statistics().queue_wait_cycles, 20 + 1U);
}

TEST(NoTiming, TheQueueBoundsWhatIsUnanswered) {
  ForeignMemory memory("foreign", Answers::request_in_return);
  memory.latency_ns = 400;
  SystemParameters parameters = in_front_of(memory);
  parameters.dram.timing = "none";
  parameters.dram.queue = 5;
  MemorySystem system(parameters);
  for (unsigned i = 0; i != 24; ++i) {
    memory.bytes[kHere + 128 * i] = static_cast<unsigned char>(i);
    system.core().load(0, kHere + 128 * i);
  }
  system.run();
  for (unsigned i = 0; i != 24; ++i) {
    EXPECT_EQ(system.core().script()[i].word(), i);
  }
  EXPECT_EQ(memory.most_under_way, 5U);
  EXPECT_EQ(system.controller().statistics().queue_max, 5U);
  EXPECT_GT(system.controller().statistics().queue_full, 0U);
}

TEST(NoTiming, TheQueueBoundsAnswersThatCompleteWithADelay) {
  ForeignMemory memory("foreign", Answers::completed);
  memory.latency_ns = 400;
  SystemParameters parameters = in_front_of(memory);
  parameters.dram.timing = "none";
  parameters.dram.queue = 4;
  MemorySystem system(parameters);
  Cycle last = 0;
  system.core().on_answer = [&](Access& access) { last = std::max(last, access.answered); };
  for (unsigned i = 0; i != 12; ++i) {
    system.core().load(0, kHere + 128 * i);
  }
  system.run();
  EXPECT_EQ(system.controller().statistics().queue_max, 4U);
  EXPECT_GE(last, 3 * 400U);
  EXPECT_LE(last, 3 * 400 + 60U);
}

// ------------------------------------------------------------------------------------------------- rude memories

// Answers at once, and then says more than it should.
class Rude : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  explicit Rude(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  ::tlm::tlm_target_socket<> socket;
  void say(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase phase) {
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    EXPECT_EQ(socket->nb_transport_bw(payload, phase, delay), ::tlm::TLM_ACCEPTED);
  }
  ::tlm::tlm_generic_payload* last = nullptr;
  bool polite = false;  // an ignorable phase of its own in the middle

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& /*delay*/) override {
    if (phase == ::tlm::BEGIN_REQ) {
      last = &payload;
      say(payload, ::tlm::tlm_phase(1000));  // beyond the base protocol: to be ignored
      payload.set_response_status(::tlm::TLM_OK_RESPONSE);
      say(payload, ::tlm::BEGIN_RESP);  // from within the call
      return ::tlm::TLM_ACCEPTED;
    }
    return ::tlm::TLM_COMPLETED;
  }
  void b_transport(::tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(::tlm::tlm_generic_payload&, ::tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(::tlm::tlm_generic_payload&) override { return 0; }
};

// The controller's own port, without a checker in between that would report them first.
TEST(RudeMemory, IsToldAndChangesNothing) {
  const link::Clock clock(sc_core::sc_time(1, sc_core::SC_NS));
  DramController controller("dram", DramParameters(), 128, clock);
  Rude rude("rude");
  controller.storage.bind(rude.socket);
  struct Asker : sc_core::sc_module, ::tlm::tlm_bw_transport_if<> {
    explicit Asker(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
      socket.bind(*this);
    }
    ::tlm::tlm_initiator_socket<> socket;
    unsigned answers = 0;
    ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload&, ::tlm::tlm_phase& phase,
                                         sc_core::sc_time&) override {
      answers += phase == ::tlm::BEGIN_RESP ? 1 : 0;
      return phase == ::tlm::BEGIN_RESP ? ::tlm::TLM_COMPLETED : ::tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  } asker("asker");
  asker.socket.bind(controller.target);
  link::PayloadPool pool;
  link::LinePayload& payload = pool.acquire(::tlm::TLM_READ_COMMAND, 0, 128);
  ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  asker.socket->nb_transport_fw(payload, phase, delay);
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(asker.answers, 1U);
  EXPECT_TRUE(controller.quiet());
  const ExpectedReports reports;
  rude.say(*rude.last, ::tlm::BEGIN_RESP);
  rude.say(*rude.last, ::tlm::END_REQ);
  rude.say(*rude.last, ::tlm::END_RESP);
  ::tlm::tlm_generic_payload stranger;
  rude.say(stranger, ::tlm::BEGIN_RESP);
  EXPECT_THAT(reports.messages, testing::ElementsAre("the memory answered a request that is not under way",
                                                     "the memory ended a request that is not under way",
                                                     "the memory sent a phase that only an initiator may send",
                                                     "the memory answered a request that is not under way"));
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(asker.answers, 1U);
}

}  // namespace
}  // namespace heddle::hw::test
