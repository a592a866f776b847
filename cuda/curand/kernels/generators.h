// How the generators share their work among threads, which gives each result its place in cuRAND's sequence.
#pragma once

namespace heddle::curand {

// XORWOW: 4,096 threads take turns, thread t has subsequence t; a turn is one result, of normal numbers two.
inline constexpr unsigned kXorwowThreads = 4096;
// Philox: 65,536 threads take turns of four results, thread t has subsequence t.
inline constexpr unsigned kPhiloxThreads = 65536;
inline constexpr unsigned kPhiloxTurn = 4;

struct Scale {  // of normal numbers
  double mean, deviation;
};

}  // namespace heddle::curand
