#include "tb/measure/dram/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::tb {

using hw::Cycle;
using SpanKind = BankTimeline::Kind;

class DramTimeline::Watcher final : public hw::DramObserver {
 public:
  Watcher(Cycle begin, Cycle end, unsigned banks) : begin_(begin), end_(end), banks_(banks) {}

  void access(const hw::DramRequest& request, Cycle /*now*/) override {
    Bank& bank = banks_[request.location.bank];
    bank.data = std::max(bank.data, request.data);
    keep({request.row_hit ? SpanKind::hit : SpanKind::conflict, request.location.bank, request.begin, request.data,
          request.location.row});
  }
  void transfer(Cycle begin, Cycle end) override { keep({SpanKind::transfer, 0, begin, end, 0}); }
  // A hold is worth showing from the data on that the hinted access brought: before, the bank is at work. It began
  // before that access was shown.
  void hold(unsigned bank, Cycle /*begin*/, Cycle /*until*/) override { banks_[bank].held = true; }
  void hold_over(unsigned bank, Cycle at, bool hit) override {
    Bank& held = banks_[bank];
    if (held.held && held.data < at) {
      keep({hit ? SpanKind::hold : SpanKind::lost, bank, held.data, at, 0});
    }
    held.held = false;
  }

  [[nodiscard]] const std::vector<BankTimeline::Span>& spans() const { return spans_; }

 private:
  struct Bank {
    Cycle data = 0;  // of its latest access
    bool held = false;
  };
  void keep(const BankTimeline::Span& span) {
    if (span.end > begin_ && span.begin < end_) {
      spans_.push_back(span);
    }
  }

  const Cycle begin_;
  const Cycle end_;
  std::vector<Bank> banks_;
  std::vector<BankTimeline::Span> spans_;
};

DramTimeline::DramTimeline(std::uint64_t begin, std::uint64_t cycles, unsigned channels, unsigned banks)
    : begin_(begin), end_(begin + cycles), banks_(banks) {
  for (unsigned channel = 0; channel < channels; ++channel) {
    watchers_.push_back(std::make_unique<Watcher>(begin_, end_, banks));
  }
}

DramTimeline::~DramTimeline() = default;

hw::DramObserver& DramTimeline::observer(unsigned channel) {
  return *watchers_.at(channel);
}

BankTimeline DramTimeline::timeline(std::string title) const {
  BankTimeline out{std::move(title), begin_, end_, {}};
  for (std::size_t channel = 0; channel < watchers_.size(); ++channel) {
    out.panels.push_back({fmt::format("dram{}", channel), banks_, watchers_[channel]->spans()});
  }
  return out;
}

}  // namespace heddle::tb
