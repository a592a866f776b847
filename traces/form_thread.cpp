#include "traces/form_thread.hpp"

#include <algorithm>
#include <csignal>
#include <set>
#include <system_error>
#include <utility>

namespace heddle::traces {

namespace {

// Those that live; of the main thread alone.
std::set<FormThread*>& living_forms() {
  static std::set<FormThread*> all;
  return all;
}

}  // namespace

FormThread::FormThread(std::unique_ptr<WaveForm> form) : form_(std::move(form)) {
  living_forms().insert(this);
}

FormThread::~FormThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  living_forms().erase(this);
}

void FormThread::pause_all() {
  for (FormThread* const one : living_forms()) {
    one->finish();
  }
}

void FormThread::time(std::uint64_t time) {
  if (present_.changes.size() >= kChanges) {
    hand_over();
  }
  present_.steps.push_back({time, present_.changes.size()});
}

void FormThread::changes(std::span<const link::WaveLog::Change> changes) {
  if (present_.steps.empty()) {  // of first values
    form_->changes(changes);
    return;
  }
  present_.changes.insert(present_.changes.end(), changes.begin(), changes.end());
  present_.steps.back().end = present_.changes.size();
}

// What is rare is written at once.
void FormThread::first_values(bool begin) {
  finish();
  form_->first_values(begin);
}
void FormThread::unknown(std::uint32_t wave) {
  finish();
  form_->unknown(wave);
}
void FormThread::text(std::size_t variable, const std::string& value) {
  finish();
  form_->text(variable, value);
}

void FormThread::end() {
  finish();
  form_->end();
}

void FormThread::write(const Batch& batch) {
  const std::span<const link::WaveLog::Change> all(batch.changes);
  std::size_t begin = 0;
  for (const Step& step : batch.steps) {
    form_->time(step.time);
    form_->changes(all.subspan(begin, step.end - begin));
    begin = step.end;
  }
}

void FormThread::write_batches() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !batches_.empty(); });
    if (batches_.empty()) {
      return;
    }
    Batch& batch = batches_.front();  // stays where it is while others come
    lock.unlock();
    std::exception_ptr error;
    try {
      write(batch);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) {
      error_ = error;
      batches_.clear();
    } else {
      written_.push_back(std::move(batch));
      batches_.pop_front();
    }
    changed_.notify_all();
    if (error) {
      return;
    }
  }
}

void FormThread::hand_over() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return error_ || batches_.size() < kAhead; });
  if (error_) {
    lock.unlock();
    finish();
    return;
  }
  batches_.push_back(std::move(present_));
  present_ = {};
  if (!written_.empty()) {
    present_ = std::move(written_.back());
    written_.pop_back();
    present_.steps.clear();
    present_.changes.clear();
  }
  lock.unlock();
  changed_.notify_all();
  if (thread_.joinable()) {
    return;
  }
  // Signals are the main thread's.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { write_batches(); });
  } catch (const std::system_error&) {
    // The host lets this process have no more threads; the calling one writes.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread_.joinable()) {
    finish();
  }
}

void FormThread::finish() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
    ending_ = false;
  }
  if (error_) {
    present_ = {};
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  for (const Batch& batch : std::exchange(batches_, {})) {  // where there was no thread
    write(batch);
  }
  const Batch rest = std::exchange(present_, {});
  write(rest);
}

}  // namespace heddle::traces
