// A design review: designs beside a base machine on some workloads, as one document and as figures. Runs are those of
// `heddle run`, kept in the review's folder (runs.hpp); causes are those of `heddle compare`, storage that of `heddle
// cost`, diagrams those of `heddle diagram`. docs/report.md describes the document.
#pragma once

#include <array>
#include <atomic>
#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "studies/review/runs.hpp"

namespace heddle::studies {

// The parts of the document, in their order.
struct ReviewSection {
  std::string_view name;  // of --only and --without
  std::string_view meaning;
};
inline constexpr std::array<ReviewSection, 9> kReviewSections = {{
    {"differences", "each parameter that differs, with its meaning"},
    {"diagrams", "the modules as elaborated, what differs marked; needs Graphviz"},
    {"storage", "storage bit by bit"},
    {"energy", "energy and power, by an energy table"},
    {"use", "instructions per cycle, use of bus and banks, range over seeds and placements"},
    {"causes", "where cycles went, and why they differ"},
    {"closely", "the worst workload: pipeline and waves around the first difference"},
    {"sensitivity", "the two parameters that matter most"},
    {"readings", "what depends on how the papers are read"},
}};

struct ReviewOptions {
  std::vector<std::string> machines;    // names or paths: the base, then the designs
  std::vector<std::string> settings;    // --set, of all machines
  std::vector<std::string> workloads;   // with variants, or paths of launch files
  double scale = 1;                     // of the inputs of workloads
  std::uint64_t seeds = 3;              // likewise: 1, 2, ...
  std::uint64_t placements = 0;         // of buffers at random, 1, 2, ...; 0: where the machines' allocator puts them
  ReviewPricing energy;                 // empty: no energies
  ReviewPricing priced_by;              // without energies: by which runs that are there, which do as well
  std::vector<std::string> parameters;  // of the sensitivity; empty: the two that matter most
  std::set<std::string> sections;       // names of kReviewSections
  std::string folder;                   // of its runs
  unsigned jobs = 1;
  std::string command;  // how the review was called
  std::function<void(const std::string&)> progress;
  const std::atomic<int>* stop = nullptr;
};

struct Review {
  boost::json::object data;           // {"kind": "review", ...}: all figures of the document
  std::string text;                   // of the terminal
  std::size_t ran = 0, kept = 0;      // runs
  std::vector<std::string> failures;  // runs without a result, one line each
  std::vector<std::string> notes;     // what figures do not mean, one line each
};

// Does the runs that are missing. Throws InputError: a machine, workload, parameter or table that is wrong, a folder
// that cannot be used.
[[nodiscard]] Review make_review(const ReviewOptions& options);

// The document, complete in itself.
[[nodiscard]] std::string review_page(const Review& review);

}  // namespace heddle::studies
