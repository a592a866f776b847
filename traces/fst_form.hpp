// Changes of signals in the form FST, which GTKWave and others read: of each signal its changes one after the other,
// compressed in blocks of some cycles. An eighth to a fifteenth of a value change dump, and as quick to write.
//
// A file is a row of blocks, each a byte that says its kind and its length as eight bytes, which count themselves; all
// numbers of a fixed size have the most significant byte first, others have seven bits a byte, the lowest ones first
// (GTKWave's fstapi.h and fstapi.c; "FST" of its manual). In their order: the header; blocks of changes; the variables'
// widths; their names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/batch_thread.hpp"
#include "traces/fst_blocks.hpp"
#include "traces/wave_form.hpp"

namespace heddle::traces {

// Of waves alone. One thread compresses and writes blocks, each while the next one comes.
class FstForm final : public WaveForm {
 public:
  // `block`: bytes of changes, before they are compressed, that a block has at the most, about.
  explicit FstForm(FstSink& out, std::size_t block = std::size_t{1} << 25U);

  void begin(const Head& head) override;
  void time(std::uint64_t time) override;
  void first_values(bool) override {}
  void changes(std::span<const link::WaveChange> changes) override;
  void unknown(std::uint32_t wave) override;
  void text(std::size_t variable, const std::string& value) override;
  void end() override;

 private:
  struct Signal {
    unsigned width = 0;
    bool known = false;  // the latest value:
    std::uint64_t value = 0;
    std::uint64_t latest = 0;  // number, in the block, of the time of its latest change
  };

  void add(const WaveScope& scope, const Head& head, std::vector<std::uint32_t>& signal_of);
  [[nodiscard]] std::string header() const;
  void begin_block();
  void end_block();
  void come_to_time(bool end);
  void add_time(std::uint64_t difference);
  [[nodiscard]] static char* room(FstBlock::Signal& signal, std::size_t bytes);
  void has_grown(FstBlock::Signal& signal, const char* end);
  [[nodiscard]] std::uint64_t since_latest(Signal& signal);

  FstSink& out_;
  const std::size_t most_;
  std::string version_;
  int unit_ = -9;
  std::vector<Signal> signals_;       // in the order of their names in the file
  std::vector<std::uint32_t> waves_;  // signal of each wave
  std::string names_;                 // and scopes
  std::uint64_t scopes_ = 0;
  std::uint64_t first_time_ = 0;
  std::uint64_t time_ = 0;
  std::uint64_t next_time_ = 0;  // of what comes
  bool begun_ = false;           // there is a time
  FstBlock block_;               // that is being filled
  FstBlocks blocks_;
  BatchThread<FstBlock> thread_;  // whose is blocks_ until it has finished
};

}  // namespace heddle::traces
