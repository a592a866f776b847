// The text of a value change dump, and what its lines are told to be.
#include "traces/vcd_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::traces {
namespace {

// Takes text with its lines, and looks whether all of it is of lines that are what their numbers say.
class LookingSink final : public LineSink {
 public:
  explicit LookingSink(bool wants) : wants_(wants) {}
  void write(std::string_view bytes) override { text_ += bytes; }
  [[nodiscard]] bool wants_lines() const override { return wants_; }
  void take_lines(Text& text) override {
    std::map<std::uint64_t, std::string> by_number;
    std::map<std::string, std::uint64_t> by_line;
    std::size_t at = 0;
    for (std::size_t i = 0; i != text.lines_count; ++i) {
      const Line line = text.lines[i];
      const std::string bytes = text.bytes.substr(at, line.size());
      at += line.size();
      const auto [told, first] = by_number.try_emplace(line.number(), bytes);
      EXPECT_EQ(told->second, bytes) << "lines with one number";
      const bool has_come = !by_line.try_emplace(bytes, line.number()).second;
      if (has_come && bytes.size() > 2) {  // shorter ones are of no use
        ++come_;
        told_ += first ? 0 : 1;
      }
    }
    EXPECT_EQ(at, text.size);
    write({text.bytes.data(), text.size});
    text.size = 0;
    text.lines_count = 0;
  }

  std::string text_;
  std::size_t come_ = 0;  // lines of texts that have come before in them, of three bytes or more
  std::size_t told_ = 0;  // of these, those that are told to have

 private:
  const bool wants_;
};

// The same changes at any time, waves and values.
std::string dump(LookingSink& sink, unsigned waves, bool wide) {
  const std::string version = "test";
  const std::vector<std::string> comments;
  std::vector<WaveForm::Variable> variables;
  std::vector<std::uint32_t> numbers;
  for (unsigned wave = 0; wave != waves; ++wave) {
    variables.push_back({"w" + std::to_string(wave), wave % 3 == 1 ? 1U : 64U, WaveForm::Type::wire, true});
    numbers.push_back(wave);
  }
  variables.push_back({"other", 8, WaveForm::Type::wire, false});
  VcdText text(sink);
  text.begin({version, comments, -9, variables, numbers});
  std::mt19937_64 random(5);
  for (std::uint64_t step = 0; step != 20'000; ++step) {
    // The last ones differ only far above their lowest 40 bits.
    text.time(step < 19'000 ? step : (step - 18'000) * (std::uint64_t{10} << 40U));
    std::vector<link::WaveChange> changes{{0, step / 10}};  // as many times do
    for (std::uint64_t left = random() % 12; left != 0; --left) {
      const auto near_end = static_cast<std::uint32_t>(waves - 1 - random() % 8);
      const std::uint32_t wave = random() % 4 == 0 ? near_end & 0x1ffffU : near_end;
      // Values that differ only above 40 bits, and waves whose numbers differ only above 17.
      const std::uint64_t value = random() % 50;
      changes.push_back({wave, wide && random() % 3 == 0 ? value << 40U | value : value});
    }
    text.changes(changes);
    if (random() % 100 == 0) {
      text.unknown(static_cast<std::uint32_t>(random() % waves));
      text.text(waves, "b" + std::string(random() % 300, 'x') + " ");
    }
  }
  text.end();
  return sink.text_;
}

TEST(VcdText, TellsLinesThatAreTheSame) {
  for (const unsigned waves : {20U, 131'090U}) {  // more than numbers tell apart
    for (const bool wide : {false, true}) {
      LookingSink plain(false);
      LookingSink told(true);
      const std::string text = dump(plain, waves, wide);
      EXPECT_TRUE(dump(told, waves, wide) == text) << waves << " waves";
      EXPECT_EQ(plain.come_, 0U);
      EXPECT_GT(told.come_, 50'000U);
      if (waves == 20 && !wide) {
        EXPECT_GT(10 * told.told_, 9 * told.come_);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::traces
