// A value change dump (IEEE 1364, clause 18), as text.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/line_sink.hpp"
#include "traces/wave_form.hpp"

namespace heddle::traces {

class VcdText final : public WaveForm {
 public:
  explicit VcdText(ByteSink& out) : out_(out) {}
  explicit VcdText(LineSink& out) : out_(out), lines_of_(out.wants_lines() ? &out : nullptr) {}

  void begin(const Head& head) override;
  void time(std::uint64_t time) override;
  void first_values(bool begin) override { append(begin ? "$dumpvars\n" : "$end\n"); }
  void changes(std::span<const link::WaveChange> changes) override;
  void unknown(std::uint32_t wave) override;
  void text(std::size_t variable, const std::string& value) override;
  void end() override { flush(); }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 18U;
  // The longest line of a wave: "b", 64 digits, a blank, an identifier, a line feed; and what is written over its end.
  static constexpr std::size_t kLongestLine = 96;
  // What a change of a wave is written with.
  struct Line {
    std::array<char, 8> end{};               // behind the digits: a blank, the identifier, a line feed
    std::uint32_t length = 0;                // of it
    std::uint32_t before = 1;                // bytes before the digits: "b", or nothing and no blank either
    std::uint64_t mask = ~std::uint64_t{0};  // of a value's bits
  };

  void scope(const WaveScope& scope, const Head& head);
  // Room for a line, until end_line() says how far it has come.
  [[nodiscard]] char* line() { return bytes_.get() + size_; }
  void end_line(const char* end) {
    size_ = static_cast<std::size_t>(end - bytes_.get());
    if (size_ >= kBytes) {
      flush();
    }
  }
  void append(std::string_view text);
  void flush();
  template <bool kTellsLines>
  void write_changes(std::span<const link::WaveChange> changes);

  ByteSink& out_;
  LineSink* lines_of_ = nullptr;      // null: nobody wants lines
  std::vector<LineSink::Line> told_;  // of bytes_, where all of it are lines that have been told
  bool others_ = false;               // there is other text
  std::unique_ptr<char[]> bytes_ = std::make_unique<char[]>(kBytes + kLongestLine);  // on its way there
  std::size_t size_ = 0;                                                             // less than kBytes between calls
  std::uint64_t time_ = ~std::uint64_t{0};
  std::vector<Line> lines_;       // of each wave
  std::vector<std::string> ids_;  // of each variable
};

}  // namespace heddle::traces
