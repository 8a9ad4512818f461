// SPDX-License-Identifier: MIT
// Job systems: on threads that wait between steps, as a step that starts threads would use the
// heap, and on the calling thread.
#pragma once

#include "plush/jobs.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace plush::test {

/// Runs jobs on the calling thread and those that wait, each taking the next index.
class WaitingThreads {
 public:
  explicit WaitingThreads(uint32_t num_threads) {
    for (uint32_t t = 1; t < num_threads; ++t) threads_.emplace_back([this] { Work(); });
  }
  ~WaitingThreads() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  WaitingThreads(const WaitingThreads&) = delete;
  WaitingThreads& operator=(const WaitingThreads&) = delete;

  JobSystem system() { return {Run, this}; }
  /// Jobs that the waiting threads did.
  uint32_t num_shared() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return num_shared_;
  }

 private:
  static void Run(void* user, uint32_t count, JobFunction job, void* context) {
    auto& self = *static_cast<WaitingThreads*>(user);
    std::unique_lock<std::mutex> lock(self.mutex_);
    self.job_ = job;
    self.context_ = context;
    self.next_ = 0;
    self.count_ = self.left_ = count;
    self.wake_.notify_all();
    while (self.next_ < self.count_) self.DoNext(&lock);
    self.done_.wait(lock, [&] { return self.left_ == 0; });
  }
  void DoNext(std::unique_lock<std::mutex>* lock) {
    const uint32_t index = next_++;
    lock->unlock();
    job_(context_, index);
    lock->lock();
    if (--left_ == 0) done_.notify_all();
  }
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return ends_ || next_ < count_; });
      if (ends_) return;
      ++num_shared_;
      DoNext(&lock);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  JobFunction job_ = nullptr;
  void* context_ = nullptr;
  uint32_t next_ = 0, count_ = 0, left_ = 0, num_shared_ = 0;
  bool ends_ = false;
};

/// Runs the last job first: the order must not matter.
inline JobSystem BackwardJobs() {
  return {[](void*, uint32_t count, JobFunction job, void* context) {
            for (uint32_t i = count; i-- > 0;) job(context, i);
          },
          nullptr};
}

}  // namespace plush::test
