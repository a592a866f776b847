// Runs a launch on a GPU bench and records its waves.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_sink.hpp"
#include "hw/state/observers.hpp"
#include "hw/waves/gpu_waves.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "traces/vcd_file.hpp"

namespace heddle::test {

class TextSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override { text += bytes; }
  std::string text;
};

// A launch with every signal of the GPU recorded. `beside`: somebody observes the cores, too.
inline std::string record_text(const hw::Machine& machine, const Code& code, const LaunchShape& shape,
                               hw::CoreObserver* beside = nullptr) {
  GpuBench bench(machine);
  hw::GpuWaves waves(machine, bench.gpu.name());
  TextSink sink;
  traces::VcdFile file(sink, bench.gpu.clock(), {"heddle test"});
  for (const link::Signal& signal : waves.catalogue().signals()) {
    sc_trace(&file, *signal.wave, signal.path(), static_cast<int>(signal.type.width));
  }
  waves.attach(bench.gpu);
  hw::CoreObservers observers;
  observers.add(waves);
  if (beside != nullptr) {
    observers.add(*beside);
  }
  bench.gpu.observe(observers.get());
  bench.gpu.dram(0).observe(waves.dram(0));
  bench.run(code, shape);
  file.finish();
  return sink.text;
}

}  // namespace heddle::test
