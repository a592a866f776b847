// The stages of a core in their order: the one place that says which there are. From write-back back to fetch, so that
// a stage which hands something on makes room in the same cycle, and its successor looks at it in the next.
//
// A core with another front end has other entries; nothing else of it names a stage to join, advance or empty. (A list
// known to the compiler, whose calls are direct, was measured too: it was no faster.)
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "hw/core/pipeline/stage.hpp"

namespace heddle::hw {

class Pipeline {
 public:
  // From the last stage to the first. They outlive the pipeline.
  Pipeline(std::initializer_list<Stage*> stages) : stages_(stages) {}

  // Joins each stage's output to the next one's input. While the modules are built.
  void bind() {
    for (std::size_t i = 1; i < stages_.size(); ++i) {
      stages_[i]->output()->socket.bind(*stages_[i - 1]->input());
    }
  }
  // Cycles from the one in which the first stage hands something on to the one in which `stage` can work on it, when
  // nothing holds it up.
  [[nodiscard]] unsigned latency_to(const Stage& stage) const {
    unsigned latency = 0;
    for (std::size_t i = stages_.size(); i-- != 0;) {
      latency += stages_[i]->latency();
      if (stages_[i] == &stage) {
        return latency;
      }
    }
    throw InternalError("the stage is not in the pipeline");
  }

  void tick(Cycle now) {
    for (Stage* const stage : stages_) {
      stage->tick(now);
    }
  }
  void reset() {
    for (Stage* const stage : stages_) {
      stage->reset();
    }
  }
  // From the front end, which is the busiest.
  [[nodiscard]] bool idle() const {
    return std::all_of(stages_.rbegin(), stages_.rend(), [](const Stage* stage) { return stage->idle(); });
  }
  [[nodiscard]] bool stuck(Cycle now) const {
    return std::all_of(stages_.begin(), stages_.end(), [now](const Stage* stage) { return stage->stuck(now); });
  }
  // All but one are.
  [[nodiscard]] bool stuck_around(const Stage& other, Cycle now) const {
    return std::all_of(stages_.begin(), stages_.end(),
                       [&other, now](const Stage* stage) { return stage == &other || stage->stuck(now); });
  }

 private:
  const std::vector<Stage*> stages_;
};

}  // namespace heddle::hw
