#include "tb/session/stream_work.hpp"

#include <algorithm>
#include <set>

namespace heddle::tb::session {

void StreamWork::launch(Id stream, std::size_t work, bool in_turn) {
  Step step;
  step.stream = stream;
  step.asked = clock_.host();
  step.work = work;
  step.in_turn = in_turn;
  steps_.push_back(step);
}

void StreamWork::record(Id event, Id stream) {
  Step step;
  step.kind = Step::Kind::record;
  step.stream = stream;
  step.asked = clock_.host();
  step.event = event;
  step.mark = ++marks_;
  records_[event] = step.mark;
  steps_.push_back(step);
}

void StreamWork::hold(Id stream, Id event) {
  Step step;
  step.kind = Step::Kind::hold;
  step.stream = stream;
  step.asked = clock_.host();
  step.event = event;
  if (const auto found = records_.find(event); found != records_.end()) {
    step.mark = found->second;
  } else if (clock_.recorded(event)) {
    step.until = clock_.time(event);
  }
  steps_.push_back(step);
}

bool StreamWork::waits(Id stream) const {
  return std::any_of(steps_.begin(), steps_.end(), [stream](const Step& step) { return step.stream == stream; });
}

// Earlier kernels, which did not run side by side with these kernels, have the GPU to themselves.
StreamWork::Time StreamWork::ready(const Step& step) const {
  return std::max({step.asked, clock_.ready(step.stream), clock_.free(Engine::kernels)});
}

// What takes no time, as far as it can happen now.
void StreamWork::pass() {
  std::set<Id> held;  // streams that have an earlier step
  for (auto step = steps_.begin(); step != steps_.end();) {
    const bool waits_for_record = step->kind == Step::Kind::hold && step->mark != 0 && recorded_.count(step->mark) == 0;
    if (step->kind == Step::Kind::launch || waits_for_record || held.count(step->stream) != 0) {
      held.insert(step->stream);
      ++step;
      continue;
    }
    if (step->kind == Step::Kind::record) {
      const Time time = std::max(step->asked, clock_.ready(step->stream));
      recorded_[step->mark] = time;
      clock_.record_at(step->event, time);
    } else {
      clock_.reach(step->stream, step->mark != 0 ? recorded_.at(step->mark) : step->until);
    }
    step = steps_.erase(step);  // who waits for a record was asked for after it
  }
}

StreamWork::Step* StreamWork::first_ready() {
  Step* first = nullptr;
  std::set<Id> held;
  bool turn_taken = false;  // by an earlier one
  for (Step& step : steps_) {
    const bool is_first = held.insert(step.stream).second;
    const bool has_turn = !step.in_turn || !turn_taken;
    turn_taken = turn_taken || step.in_turn;
    if (is_first && has_turn && step.kind == Step::Kind::launch && !step.begun &&
        (first == nullptr || ready(step) < ready(*first))) {
      first = &step;
    }
  }
  return first;
}

void StreamWork::start(Step& step, KernelEngine& engine) {
  step.begun = true;
  engine.begin(step.work);
}

void StreamWork::end(std::size_t work, const StreamClock::Span& span) {
  const auto step = std::find_if(steps_.begin(), steps_.end(), [work](const Step& one) {
    return one.kind == Step::Kind::launch && one.work == work;
  });
  clock_.reach(step->stream, span.end);
  steps_.erase(step);
  latest_ = std::max(latest_, span.end);
}

}  // namespace heddle::tb::session
