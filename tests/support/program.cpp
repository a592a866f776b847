#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/marks.hpp"

namespace heddle::test {
namespace {

#ifdef HEDDLE_SANITIZED_TESTS
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

#ifdef HEDDLE_LONG_TESTS
constexpr bool kAllLong = true;
#else
constexpr bool kAllLong = false;
#endif

constexpr unsigned kSecondsPerCase = 600;
constexpr unsigned kSecondsPerLongCase = 1800;
constexpr std::size_t kCasesPerEntry = 20;
constexpr std::uint32_t kSampled = 3;  // one case in so many
constexpr std::uint32_t kSampledSanitized = 24;

std::vector<std::pair<When, std::string>>& marks() {
  static std::vector<std::pair<When, std::string>> all;
  return all;
}

// As --gtest_filter has it.
bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) {
    return name.empty();
  }
  if (pattern.front() == '*') {
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  }
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         matches(pattern.substr(1), name.substr(1));
}

bool is_marked(When when, const std::string& name) {
  return std::any_of(marks().begin(), marks().end(),
                     [&](const auto& mark) { return mark.first == when && matches(mark.second, name); });
}

// By the name alone (FNV-1a), so that a case that is added changes nothing for others.
bool is_in_sample(const std::string& name, std::uint32_t one_in) {
  std::uint32_t hash = 2166136261U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return (hash >> 16U) % one_in == 0;
}

struct TestCase {
  std::string name;   // as --gtest_filter takes it
  std::string suite;  // without the case's own name
  bool is_long = false;
};

std::vector<TestCase> cases_to_run() {
  std::vector<TestCase> all;
  const ::testing::UnitTest& unit = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *unit.GetTestSuite(s);
    bool has_sample = false;  // a suite has its first case at least
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const ::testing::TestInfo& info = *suite.GetTestInfo(t);
      TestCase one;
      one.suite = suite.name();
      one.name = one.suite + "." + info.name();
      if (one.name.find("DISABLED_") != std::string::npos || (kSanitized && is_marked(When::not_sanitized, one.name))) {
        continue;
      }
      one.is_long = kAllLong || one.suite.starts_with("Long/") || is_marked(When::long_run, one.name) ||
                    (kSanitized && is_marked(When::long_sanitized, one.name));
      const bool few = kSanitized && is_marked(When::sampled_sanitized, one.name);
      if (!one.is_long && (few || is_marked(When::sampled, one.name))) {
        one.is_long = has_sample && !is_in_sample(one.name, few ? kSampledSanitized : kSampled);
        has_sample = true;
      }
      all.push_back(std::move(one));
    }
  }
  return all;
}

bool long_cases_wanted = true;

// The patterns of a filter, one between each two colons.
std::vector<std::string> patterns_of(const std::string& filter) {
  std::vector<std::string> patterns;
  for (std::size_t begin = 0; begin <= filter.size();) {
    const std::size_t end = std::min(filter.find(':', begin), filter.size());
    patterns.push_back(filter.substr(begin, end - begin));
    begin = end + 1;
  }
  return patterns;
}

// Whether a program with this argument may have to run a suite called Long/...: unless it is a filter whose patterns
// all begin otherwise, up to their first wildcard. (Those behind a minus name what does not run.)
bool may_name_long(std::string_view argument) {
  constexpr std::string_view kFilter = "--gtest_filter=";
  constexpr std::string_view kLong = "Long/";
  if (!argument.starts_with(kFilter)) {
    return true;
  }
  const std::string_view filter = argument.substr(kFilter.size());
  const std::vector<std::string> patterns = patterns_of(std::string(filter.substr(0, filter.find('-'))));
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    const std::string_view sure = std::string_view(pattern).substr(0, pattern.find_first_of("*?"));
    return sure.starts_with(kLong) || kLong.starts_with(sure);
  });
}

std::string bracketed(const std::string& text) {
  return "[==[" + text + "]==]";
}

// Cases of one suite, together: one start of the program for all of them.
int write_ctest(const std::string& file, const char* program, const std::string& prefix,
                const std::string& environment) {
  std::ofstream out(file + ".new");
  std::map<std::string, unsigned> entries;  // of each suite, so far
  std::vector<TestCase> all = cases_to_run();
  std::stable_sort(all.begin(), all.end(), [](const TestCase& a, const TestCase& b) {
    return std::tie(a.suite, a.is_long) < std::tie(b.suite, b.is_long);
  });
  for (std::size_t first = 0; first != all.size();) {
    std::size_t end = first + 1;
    std::string filter = all[first].name;
    while (end != all.size() && end - first < kCasesPerEntry && all[end].suite == all[first].suite &&
           all[end].is_long == all[first].is_long) {
      filter += ":" + all[end++].name;
    }
    const unsigned number = ++entries[all[first].suite];
    std::string name = prefix + (end == first + 1 ? all[first].name : all[first].suite);
    name += number != 1 && end != first + 1 ? " " + std::to_string(number) : "";
    const unsigned seconds = (all[first].is_long ? kSecondsPerLongCase : kSecondsPerCase);
    out << "add_test(" << bracketed(name) << " " << bracketed(program) << " --each-apart "
        << bracketed("--gtest_filter=" + filter) << ")\nset_tests_properties(" << bracketed(name)
        << " PROPERTIES TIMEOUT " << seconds << (all[first].is_long ? " LABELS long" : "")
        << (environment.empty() ? "" : " ENVIRONMENT " + bracketed(environment)) << ")\n";
    first = end;
  }
  out.close();
  return out && std::rename((file + ".new").c_str(), file.c_str()) == 0 ? 0 : 1;
}

// One case in this process, which has just been forked.
[[noreturn]] void run_case(const std::string& name, int output, void (*each_process)()) {
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::alarm(kSecondsPerLongCase);  // should its parent be gone
  ::testing::GTEST_FLAG(filter) = name;
  if (each_process != nullptr) {
    each_process();
  }
  const int result = RUN_ALL_TESTS();
  std::fflush(nullptr);
  std::exit(result);  // with what runs at a program's end
}

std::string text_of(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, file)) != 0;) {
    text.append(piece, got);
  }
  return text;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return std::string("ended by signal ") + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) +
           ")";
  }
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

int run_each_apart(void (*each_process)()) {
  const std::vector<std::string> patterns = patterns_of(::testing::GTEST_FLAG(filter));
  unsigned ran = 0;
  unsigned failed = 0;
  for (const TestCase& one : cases_to_run()) {
    if (std::none_of(patterns.begin(), patterns.end(), [&](const auto& each) { return matches(each, one.name); })) {
      continue;
    }
    ++ran;
    std::FILE* const output = std::tmpfile();
    std::printf("[ RUN      ] %s\n", one.name.c_str());  // known, should it never end
    std::fflush(nullptr);
    const auto begin = std::chrono::steady_clock::now();
    const ::pid_t child = ::fork();
    if (child == 0) {
      run_case(one.name, ::fileno(output), each_process);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    const std::string said = text_of(output);
    std::fclose(output);
    const bool good = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const bool skipped = good && said.find("[  SKIPPED ]") != std::string::npos;
    failed += good ? 0 : 1;
    std::printf("%s %s (%lld ms)%s\n", good ? skipped ? "[  SKIPPED ]" : "[       OK ]" : "[  FAILED  ]",
                one.name.c_str(), static_cast<long long>(took.count()),
                good        ? ""
                : child > 0 ? (": " + how_it_ended(status)).c_str()
                            : ": cannot fork");
    if (!good || skipped) {
      std::fputs(said.c_str(), stdout);
    }
  }
  std::printf("%u passed, %u failed\n", ran - failed, failed);
  return failed == 0 && ran != 0 ? 0 : 1;
}

}  // namespace

Mark::Mark(When when, std::initializer_list<const char*> patterns) {
  for (const char* const pattern : patterns) {
    marks().emplace_back(when, pattern);
  }
}

bool wants_long_cases() {
  return long_cases_wanted;
}

int run_program(int argc, char** argv, void (*each_process)()) {
  long_cases_wanted = std::all_of(argv, argv + argc, may_name_long);
  ::testing::InitGoogleMock(&argc, argv);
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first.starts_with("--ctest=") && argc > 2) {
    return write_ctest(std::string(first.substr(8)), argv[0], argv[2], argc > 3 ? argv[3] : "");
  }
  if (first == "--each-apart") {
    return run_each_apart(each_process);
  }
  if (each_process != nullptr) {
    each_process();
  }
  return RUN_ALL_TESTS();
}

}  // namespace heddle::test
