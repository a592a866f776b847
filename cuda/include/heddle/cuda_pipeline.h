// <cuda/pipeline>: stages that producers fill and consumers empty, in turn.
#pragma once

#include "heddle/cuda_barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

namespace heddle_detail {
template <thread_scope Scope>
struct stage {
  barrier<Scope> produced;
  barrier<Scope> consumed;
};
}  // namespace heddle_detail

// Of a group's pipeline: two barriers per stage.
template <thread_scope Scope, unsigned char Stages>
class pipeline_shared_state {
 public:
  pipeline_shared_state() = default;
  pipeline_shared_state(const pipeline_shared_state&) = delete;
  pipeline_shared_state& operator=(const pipeline_shared_state&) = delete;

  // Of this header.
  heddle_detail::stage<Scope> heddle_stages[Stages];
  unsigned long long heddle_producers;
};

template <thread_scope Scope>
class pipeline {
  using Stage = heddle_detail::stage<Scope>;

 public:
  pipeline(pipeline&&) = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  HEDDLE_SCOPE_ void producer_acquire() { stages_[head_].consumed.wait_parity(consumed_parity_); }
  HEDDLE_SCOPE_ void producer_commit() {
    (void)stages_[head_].produced.arrive();
    if (++head_ == count_) {
      head_ = 0;
      consumed_parity_ = !consumed_parity_;
    }
  }
  HEDDLE_SCOPE_ void consumer_wait() { stages_[tail_].produced.wait_parity(produced_parity_); }
  HEDDLE_SCOPE_ void consumer_release() {
    (void)stages_[tail_].consumed.arrive();
    if (++tail_ == count_) {
      tail_ = 0;
      produced_parity_ = !produced_parity_;
    }
  }
  // This thread takes no further part.
  HEDDLE_SCOPE_ bool quit() {
    for (unsigned int i = 0; i < count_; ++i) {
      if (producer_) stages_[i].produced.arrive_and_drop();
      if (consumer_) stages_[i].consumed.arrive_and_drop();
    }
    return true;
  }

  // Of this header: of the stage that is being filled.
  [[nodiscard]] HEDDLE_SCOPE_ barrier<Scope>& heddle_produced() { return stages_[head_].produced; }
  HEDDLE_SCOPE_ pipeline(Stage* stages, unsigned int count, bool producer, bool consumer)
      : stages_(stages), count_(count), producer_(producer), consumer_(consumer) {}

 private:
  Stage* stages_;
  unsigned int count_;
  bool producer_;
  bool consumer_;
  unsigned int head_ = 0;
  unsigned int tail_ = 0;
  bool consumed_parity_ = true;  // no stage is taken at first
  bool produced_parity_ = false;
};

// Of one thread: its batches of copies, in order.
template <>
class pipeline<thread_scope_thread> {
 public:
  pipeline() = default;
  pipeline(pipeline&&) = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  HEDDLE_SCOPE_ void producer_acquire() {}
  HEDDLE_SCOPE_ void producer_commit() {
    heddle_detail::commit_copies();
    ++committed_;
  }
  // The oldest batch that has not been waited for is there.
  HEDDLE_SCOPE_ void consumer_wait() {
    if (committed_ != waited_) heddle_detail::wait_for_copies(committed_ - ++waited_);
  }
  HEDDLE_SCOPE_ void consumer_release() {}
  HEDDLE_SCOPE_ bool quit() { return true; }

 private:
  unsigned int committed_ = 0;
  unsigned int waited_ = 0;
};

HEDDLE_SCOPE_ pipeline<thread_scope_thread> make_pipeline() {
  return {};
}

namespace heddle_detail {
template <class Group, thread_scope Scope, unsigned char Stages>
HEDDLE_SCOPE_ void begin_stages(const Group& group, pipeline_shared_state<Scope, Stages>* state, ptrdiff_t producers,
                                ptrdiff_t consumers) {
  if (group.thread_rank() == 0) {
    for (auto& stage : state->heddle_stages) {
      init(&stage.produced, producers);
      init(&stage.consumed, consumers);
    }
  }
  group.sync();
}
}  // namespace heddle_detail

// Every thread of the group produces and consumes.
template <class Group, thread_scope Scope, unsigned char Stages>
HEDDLE_SCOPE_ pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state) {
  const auto threads = static_cast<ptrdiff_t>(group.size());
  heddle_detail::begin_stages(group, state, threads, threads);
  return {state->heddle_stages, Stages, true, true};
}
// Each does what it says, `producers` of them or as many as say so.
template <class Group, thread_scope Scope, unsigned char Stages>
HEDDLE_SCOPE_ pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                            size_t producers, pipeline_role role) {
  const auto threads = static_cast<ptrdiff_t>(group.size());
  const auto some = static_cast<ptrdiff_t>(producers);
  heddle_detail::begin_stages(group, state, some, threads - some);
  const bool producer = role == pipeline_role::producer;
  return {state->heddle_stages, Stages, producer, !producer};
}
template <class Group, thread_scope Scope, unsigned char Stages>
HEDDLE_SCOPE_ pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state,
                                            pipeline_role role) {
  if (group.thread_rank() == 0) state->heddle_producers = 0;
  group.sync();
  if (role == pipeline_role::producer) heddle_detail::add(&state->heddle_producers, 1ULL);
  group.sync();
  return make_pipeline(group, state, static_cast<size_t>(heddle_detail::load(&state->heddle_producers)), role);
}

// All but the last `Prior` batches are there.
template <unsigned char Prior>
HEDDLE_SCOPE_ void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {
  heddle_detail::wait_for_copies(Prior);
}
// The barrier's phase waits for what this thread has copied, too: the thread itself does where the barrier cannot.
template <thread_scope Scope, class Completion>
HEDDLE_SCOPE_ void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<Scope, Completion>& barrier) {
  heddle_detail::commit_copies();
  if (barrier.heddle_counts_copies()) {
    barrier.heddle_copies_arrive();
  } else {
    heddle_detail::wait_for_copies(0);
  }
}

}  // namespace cuda
