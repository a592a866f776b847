// Which tests run when, said in the file that has them. What nothing is said of runs always.
//
//   HEDDLE_LONG("All/Replay*", "Jedec.RandomTraffic*")
//                                 with ./heddle test --long only: it takes long, and others of its kind run always
//   HEDDLE_SAMPLED(...)           some cases of each suite run always, about one in three, chosen by their names; the
//                                 others are long. For suites of many cases that run the same code
//   HEDDLE_LONG_SANITIZED(...)    as HEDDLE_LONG, but only in the build with sanitizers, where it takes long
//   HEDDLE_SAMPLED_SANITIZED(...) as HEDDLE_SAMPLED, but only in that build, and one in 24
//   HEDDLE_NOT_SANITIZED(...)     never in that build: it shows nothing there, or cannot run there
//
// An instantiation that is called Long (INSTANTIATE_TEST_SUITE_P(Long, ...)) is long, too. Patterns are as in
// --gtest_filter: names of test suites and cases, * and ?.
#pragma once

#include <initializer_list>

namespace heddle::test {

enum class When { long_run, sampled, long_sanitized, sampled_sanitized, not_sanitized };

// A static object of the test program.
struct Mark {
  Mark(When when, std::initializer_list<const char*> patterns);
};

}  // namespace heddle::test

#define HEDDLE_MARK_JOIN(a, b) a##b
#define HEDDLE_MARK_NAME(number) HEDDLE_MARK_JOIN(kMark, number)
#define HEDDLE_MARK(when, ...) \
  [[maybe_unused]] static const ::heddle::test::Mark HEDDLE_MARK_NAME(__COUNTER__)(when, {__VA_ARGS__});
#define HEDDLE_LONG(...) HEDDLE_MARK(::heddle::test::When::long_run, __VA_ARGS__)
#define HEDDLE_SAMPLED(...) HEDDLE_MARK(::heddle::test::When::sampled, __VA_ARGS__)
#define HEDDLE_LONG_SANITIZED(...) HEDDLE_MARK(::heddle::test::When::long_sanitized, __VA_ARGS__)
#define HEDDLE_SAMPLED_SANITIZED(...) HEDDLE_MARK(::heddle::test::When::sampled_sanitized, __VA_ARGS__)
#define HEDDLE_NOT_SANITIZED(...) HEDDLE_MARK(::heddle::test::When::not_sanitized, __VA_ARGS__)
