// Replays a recorded trace (traces/warp_trace.hpp) on a machine: heddle run CONFIG FILE.trace.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "hw/state/replay.hpp"
#include "tb/measure/subject.hpp"
#include "traces/warp_trace.hpp"

namespace heddle::tb {

class TraceSubject final : public Subject, public hw::ReplaySource {
 public:
  // Throws InputError with the byte offset where the file is no whole and undamaged trace.
  explicit TraceSubject(std::string path);
  // From a stream that outlives it; `name` stands in messages.
  TraceSubject(std::istream& in, std::string name);

  // Throws InputError when the machine cannot replay it: what its threads did depended on the warps they were in.
  void check(const hw::Machine& machine) const;
  [[nodiscard]] const traces::TraceRun& recorded() const { return reader_->run(); }

  // ---- Subject
  [[nodiscard]] const std::string& name() const override { return recorded().subject; }
  [[nodiscard]] isa::Module compile(std::vector<std::string>* /*notes*/ = nullptr,
                                    const std::atomic<bool>* /*interrupted*/ = nullptr) const override {
    return reader_->modules().front();
  }
  [[nodiscard]] std::uint64_t threads() const override { return recorded().threads; }
  [[nodiscard]] std::optional<double> scale() const override { return recorded().scale; }
  [[nodiscard]] std::optional<std::uint64_t> seed() const override { return recorded().seed; }
  [[nodiscard]] unsigned address_bits() const override { return recorded().address_bits; }
  [[nodiscard]] bool order_dependent() const override { return recorded().order_dependent; }
  // Launches what was recorded, in the same order. There are no results to check.
  [[nodiscard]] Verdict run(Executor& executor, const std::optional<std::string>& output_directory) override;

  // ---- ReplaySource
  [[nodiscard]] std::span<const hw::ThreadRecord> start_block(std::uint64_t block) override;
  void finish_block(std::uint64_t block) override;

 private:
  void begin(const traces::WarpTraceReader::Launch& launch);

  std::string path_;
  std::unique_ptr<std::ifstream> file_;
  std::unique_ptr<traces::WarpTraceReader> reader_;
  const traces::WarpTraceReader::Launch* launch_ = nullptr;  // the present one
  std::unique_ptr<traces::KernelEvents> events_;             // of its kernel
  // Blocks are unpacked part by part; a part stays until its last block has finished.
  struct Part {
    std::vector<traces::ThreadEvents> threads;
    std::vector<hw::ThreadRecord> records;
    std::uint64_t left = 0;  // blocks that have not finished
  };
  std::map<std::uint64_t, Part> parts_;  // by first block
};

}  // namespace heddle::tb
