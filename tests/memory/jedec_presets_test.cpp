// DRAM devices by name: what their channels can move, and every distance between commands to the clock: legal at N,
// illegal at N - 1.
#include <gtest/gtest.h>

#include <iterator>

#include "channel.hpp"
#include "hw/dram/jedec_timing.hpp"

namespace heddle::hw::test {
namespace {

DramParameters preset_device(const char* preset) {
  DramParameters parameters;
  parameters.timing = "jedec";
  parameters.preset = preset;
  parameters.scheduler = "fr-fcfs";
  parameters.banks = 32;
  parameters.jedec.refresh = false;
  return parameters;
}

// What one channel of each device moves at most, of the data rate and width that its data sheet or standard gives.
TEST(JedecPresets, PeakBandwidthIsThatOfTheDataSheet) {
  const struct {
    const char* preset;
    double gigabits;  // per pin
    unsigned pins;
  } devices[] = {{"ddr4-2400", 2.4, 64}, {"gddr5", 4, 32}, {"gddr6", 14, 16},   {"gddr6-16", 16, 16},
                 {"gddr6x", 21, 16},     {"hbm2", 2, 64},  {"hbm2e", 3.2, 128}, {"hbm3", 5.2, 64}};
  EXPECT_EQ(std::size(devices), jedec_presets().size());
  for (const auto& one : devices) {
    const double expected = one.gigabits * one.pins / 8;
    EXPECT_NEAR(peak_bandwidth_gbs(resolve_jedec(preset_device(one.preset))), expected, expected * 0.002) << one.preset;
  }
}

// Back-to-back reads of open rows in all bank groups reach it.
TEST(JedecPresets, RowHitsReachThePeakBandwidth) {
  std::vector<std::unique_ptr<Channel>> channels;
  const std::vector<std::string> presets = jedec_presets();
  constexpr unsigned kReads = 512;
  for (const std::string& preset : presets) {
    DramParameters parameters = preset_device(preset.c_str());
    parameters.banks = 32;
    parameters.mapping = "R C5 B5";  // neighbours in different pseudo channels and groups
    parameters.queue = 64;
    const unsigned burst = resolve_jedec(parameters).burst_bytes;
    parameters.row_bytes = 32 * burst;
    channels.push_back(std::make_unique<Channel>(parameters, burst, 1.0, preset.c_str()));
    for (unsigned i = 0; i != 32; ++i) {
      channels.back()->read(0, std::uint64_t{i} * burst);
    }
    for (unsigned i = 0; i != kReads; ++i) {
      channels.back()->read(2000, std::uint64_t{32 + i} * burst);
    }
  }
  for (std::size_t i = 0; i != presets.size(); ++i) {
    DramParameters parameters = preset_device(presets[i].c_str());
    const JedecParameters figures = resolve_jedec(parameters);
    Channel& channel = *channels[i];
    channel.run();
    std::vector<std::uint64_t> reads;
    for (const DramCommand& command : channel.commands) {
      if (command.kind == DramCommand::Kind::read) {
        reads.push_back(command.clock);
      }
    }
    ASSERT_EQ(reads.size(), kReads + 32) << presets[i];
    // From the 100th on, when the queue is full.
    const double clocks = static_cast<double>(reads.back() - reads[100 + 32]);
    const double bytes = (kReads - 101.0) * figures.burst_bytes;
    const double sent = bytes * 1000 / (clocks * figures.tck_ps);
    const double peak = peak_bandwidth_gbs(figures);
    // A request arrives per ns, so that the fastest devices wait for requests.
    EXPECT_GT(sent, std::min(peak, 32.0) * 0.97) << presets[i];
    EXPECT_LE(sent, peak * 1.001) << presets[i];
  }
}

// One device whose cycles are its clocks.
class PresetDevice {
 public:
  explicit PresetDevice(const char* preset)
      : figures(resolve_jedec(preset_device(preset))),
        timing(preset_device(preset), figures.burst_bytes, figures.tck_ps / 1000.0),
        name_(preset) {}

  // Of the first pseudo channel: a bank of a group.
  [[nodiscard]] unsigned bank(unsigned group, unsigned number = 0) const {
    return (group + number * figures.bank_groups) * figures.pseudo_channels;
  }
  [[nodiscard]] static DramRequest request(unsigned bank, std::uint64_t row, bool write = false) {
    DramRequest out;
    out.location.bank = bank;
    out.location.row = row;
    out.write = write;
    return out;
  }
  void take(const DramRequest& of, Cycle now) {
    DramRequest copy = of;
    ASSERT_EQ(timing.earliest_start(copy, now), now) << name_;
    timing.start(copy, now, false);
  }
  // Legal from `at` on, and not in the clock before.
  void expect(const char* rule, const DramRequest& of, Cycle at) {
    EXPECT_EQ(timing.earliest_start(of, at - 1), at) << name_ << ", " << rule;
    EXPECT_EQ(timing.earliest_start(of, at), at) << name_ << ", " << rule;
  }

  const JedecParameters figures;
  JedecTiming timing;

 private:
  const char* name_;
};

void check_rows(const char* preset) {
  PresetDevice device(preset);
  const JedecParameters& f = device.figures;
  const auto read = [](unsigned bank, std::uint64_t row) { return PresetDevice::request(bank, row); };
  const Cycle begin = 1000;
  const unsigned bank = device.bank(0);
  device.take(read(bank, 1), begin);
  device.expect("tRCD", read(bank, 1), begin + f.trcd_rd);
  device.expect("tRCD (write)", PresetDevice::request(bank, 1, true), begin + f.trcd_wr);
  device.expect("tRRD_S", read(device.bank(1), 1), begin + f.trrd_s);
  device.expect("tRRD_L", read(device.bank(0, 1), 1), begin + f.trrd_l);
  device.expect("tRAS", read(bank, 2), begin + f.tras);
  device.take(read(bank, 2), begin + f.tras);  // a precharge
  device.expect("tRP, tRC", read(bank, 2), std::max(begin + f.tras + f.trp, begin + f.trc));
  const Cycle again = 2000;
  Cycle at = again;
  for (unsigned group = 0; group != 4; ++group, at += f.trrd_s) {
    device.take(read(device.bank(group, 2), 1), at);
  }
  device.expect("tFAW", read(device.bank(1, 1), 1), std::max({again + f.tfaw, again + f.trrd_s + f.trrd_l, at}));
}

void check_columns(const char* preset) {
  PresetDevice device(preset);
  const JedecParameters& f = device.figures;
  const auto read = [](unsigned bank) { return PresetDevice::request(bank, 1); };
  const auto write = [](unsigned bank) { return PresetDevice::request(bank, 1, true); };
  const unsigned bank = device.bank(0);
  const unsigned same = device.bank(0, 1);
  const unsigned other = device.bank(1);
  device.take(read(bank), 100);
  device.take(read(same), 300);
  device.take(read(other), 500);
  device.take(read(bank), 1000);
  device.expect("tCCD_S", read(other), 1000 + f.tccd_s);
  device.expect("tCCD_L", read(same), 1000 + f.tccd_l);
  device.expect("tRTW", write(other), 1000 + f.trtw);
  device.expect("tRTP", PresetDevice::request(bank, 2), 1000 + f.trtp);
  device.take(write(bank), 2000);
  const Cycle written = 2000 + f.cwl + f.burst;
  device.expect("tCCD_S (write)", write(other), 2000 + f.tccd_s);
  device.expect("tCCD_L (write)", write(same), 2000 + f.tccd_l);
  device.expect("tWTR_S", read(other), written + f.twtr_s);
  device.expect("tWTR_L", read(same), written + f.twtr_l);
  device.expect("tWR", PresetDevice::request(bank, 2), written + f.twr);
}

TEST(JedecPresets, KeepEveryDistanceToTheClock) {
  for (const std::string& preset : jedec_presets()) {
    check_rows(preset.c_str());
    check_columns(preset.c_str());
  }
}

}  // namespace
}  // namespace heddle::hw::test
