// What threads say to the host: order, bound, and text, from bytes as ptx/lower/library.cpp sends them.
#include "isa/print.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

namespace heddle::isa {
namespace {

LaunchRequest blocks_of(std::uint32_t threads) {
  LaunchRequest launch;
  launch.grid = {4, 1, 1};
  launch.block = {threads, 1, 1};
  return launch;
}

// One thread's operations of a message whose format has no conversions.
template <class Buffer>
void say(Buffer& buffer, std::uint64_t block, std::uint64_t thread, const std::string& text) {
  buffer.put(block, thread, static_cast<std::uint32_t>(MessageKind::text32), 0);
  for (const char c : text) buffer.put(block, thread, static_cast<unsigned char>(c), 1);
  buffer.put(block, thread, 0, 1);
}

class Sender {
 public:
  explicit Sender(MessageKind kind = MessageKind::text32) {
    buffer.begin_launch(blocks_of(1));
    buffer.put(0, 0, static_cast<std::uint32_t>(kind), 0);
  }
  Sender& text(const std::string& characters) {
    for (const char c : characters) buffer.put(0, 0, static_cast<unsigned char>(c), 1);
    return *this;
  }
  Sender& string(const std::string& characters) {
    buffer.put(0, 0, 1, 1);
    text(characters);
    return end();
  }
  Sender& word(std::uint32_t value) {
    buffer.put(0, 0, value, 4);
    return *this;
  }
  Sender& pair(std::uint64_t value) {
    return word(static_cast<std::uint32_t>(value)).word(static_cast<std::uint32_t>(value >> 32U));
  }
  Sender& real(double value) { return pair(std::bit_cast<std::uint64_t>(value)); }
  Sender& end() {
    buffer.put(0, 0, 0, 1);
    return *this;
  }

  PrintBuffer buffer;
};

TEST(Print, MessagesStandByBlockThreadAndTime) {
  PrintBuffer buffer;
  buffer.begin_launch(blocks_of(64));
  say(buffer, 1, 0, "e");
  say(buffer, 0, 63, "c");
  say(buffer, 0, 2, "a");
  say(buffer, 0, 63, "d");
  say(buffer, 0, 3, "b");
  EXPECT_EQ(buffer.text(), "abcde");
  buffer.begin_launch(blocks_of(64));
  EXPECT_EQ(buffer.text(), "");
}

TEST(Print, Conversions) {
  Sender sender;
  sender.text("%d").word(~0U).text("|%5u").word(42).text("|%-6x").word(0xbeef).text("|%#o").word(8).text("|%c").word(
      'a');
  sender.text("|%5c").word('b').text("|%-3c").word('c').text("|%%|%+.3f").real(1.5).text("|%10.2e").real(-12345.678);
  sender.text("|%g").real(0.1).text("|%A").real(1.0).text("|%lld").pair(1ULL << 63U).text("|%hhd").word(511);
  sender.text("|%*").word(7).text("d").word(3).text("|%-*").word(4).text("d").word(3).text("|%.*").word(2).text("f");
  sender.real(3.14159).text("\n").end();
  EXPECT_EQ(
      sender.buffer.text(),
      "-1|   42|beef  |010|a|    b|c  |%|+1.500| -1.23e+04|0.1|0X1P+0|-9223372036854775808|-1|      3|3   |3.14\n");
}

TEST(Print, SizesFollowTheAddressSize) {
  Sender narrow(MessageKind::text32);
  narrow.text("%ld").word(5).text(" %p").word(0x10).text(" %zu").word(6).text(" %lld").pair(7).end();
  EXPECT_EQ(narrow.buffer.text(), "5 0x10 6 7");
  Sender wide(MessageKind::text64);
  wide.text("%ld").pair(5).text(" %p").pair(0x10).text(" %zu").pair(6).text(" %d").word(7).end();
  EXPECT_EQ(wide.buffer.text(), "5 0x10 6 7");
}

TEST(Print, Strings) {
  Sender sender;
  sender.text("[%s").string("abc").text("][%6s").string("abc").text("][%-6s").string("abc");
  sender.text("][%.2s").string("ab").text("][%s");
  sender.buffer.put(0, 0, 0, 1);  // a null pointer
  sender.text("] %y 50%").end();
  EXPECT_EQ(sender.buffer.text(), "[abc][   abc][abc   ][ab][(null)] %y 50%");
}

TEST(Print, AFormatCannotAskForGigabytes) {
  Sender sender;
  sender.text("%999999999d").word(1).text("%*").word(0x7fffffff).text("d").word(1).text("%.999999999d").word(1).end();
  EXPECT_EQ(sender.buffer.text().size(), 3 * 4096U);
}

TEST(Print, UnfinishedMessagesAreLeftOut) {
  Sender sender;
  sender.text("done").end();
  sender.buffer.put(0, 0, 0, 0);
  sender.text("%d");
  sender.buffer.put(0, 0, 1, 2);
  EXPECT_EQ(sender.buffer.text(), "done");
}

// The bound keeps the first bytes in the order of threads, whatever the order in which they come and whoever's share
// they come into.
TEST(Print, WhatIsKeptDoesNotDependOnTimeAndPlace) {
  std::vector<unsigned> threads;
  for (unsigned i = 0; i < 40; ++i) threads.push_back(i);
  std::string expected;
  for (unsigned i = 0; i < 20; ++i) expected += "thread " + std::to_string(i / 10) + std::to_string(i % 10) + "\n";
  expected += "[20 more printed messages of this launch are left out: they lie beyond 250 bytes]\n";
  std::mt19937 random(1);  // the order only
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(threads.begin(), threads.end(), random);
    PrintBuffer buffer(250);  // 12 bytes a message
    const unsigned shares = static_cast<unsigned>(trial) % 5 + 1;
    buffer.share_among(shares);
    buffer.begin_launch(blocks_of(10));
    for (const unsigned i : threads) {
      say(buffer.share(i * 7 % shares), i / 10, i % 10,
          "thread " + std::to_string(i / 10) + std::to_string(i % 10) + "\n");
    }
    EXPECT_EQ(buffer.text(), expected);
  }
}

TEST(Print, AFailedAssertionExplainsATrap) {
  PrintBuffer buffer;
  buffer.begin_launch(blocks_of(8));
  Fault fault;
  fault.block = {2, 0, 0};
  fault.thread = {5, 0, 0};
  fault.detail = "the program executed trap";
  buffer.explain(fault);
  EXPECT_EQ(fault.kind, Fault::Kind::trap);
  say(buffer, 2, 5, "before\n");
  buffer.put(2, 5, static_cast<std::uint32_t>(MessageKind::assertion), 0);
  for (const std::string text : {"n > 0", "k.cu", "void k(int)"}) {
    buffer.put(2, 5, 1, 1);
    for (const char c : text) buffer.put(2, 5, static_cast<unsigned char>(c), 1);
    buffer.put(2, 5, 0, 1);
  }
  buffer.put(2, 5, 12, 4);
  buffer.explain(fault);
  EXPECT_EQ(fault.kind, Fault::Kind::assertion);
  EXPECT_EQ(fault.detail, "'n > 0' in void k(int), k.cu:12");
  EXPECT_EQ(buffer.text(), "before\n");
}

}  // namespace
}  // namespace heddle::isa
