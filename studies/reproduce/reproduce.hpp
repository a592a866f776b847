// The reproduction of the papers' claims: runs what the claims need and judges each.
#pragma once

#include <string>
#include <vector>

#include "studies/reproduce/beside.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/runner.hpp"

namespace heddle::studies {

struct ReproduceOptions {
  std::vector<std::string> ids;  // empty: every claim
  Scaling scaling;
  RunnerOptions runner;
};

struct ReproducedClaim {
  std::string id;
  std::string title;  // of the figure, as registered
  ClaimText text;
  Finding finding;
  Shape shape = Shape::not_measured;
  double processor_seconds = 0;  // of its runs, as far as no claim before it has them
};

struct FailedRun {
  std::string run;
  std::string why;
};

struct Reproduction {
  std::vector<ReproducedClaim> claims;  // in the papers' order
  std::vector<FailedRun> failed;
  Scaling scaling;
  std::map<std::string, double> scales;  // by workload, that its runs ran at (the largest)
  std::size_t runs = 0;
  std::size_t reused = 0;
  std::map<std::string, std::size_t> other_builds;  // that measured some of the runs instead of this build: how many
  double wall_seconds = 0;
  double processor_seconds = 0;  // of all its runs, those kept from earlier too
  double full_seconds = 0;       // likewise at the papers' input sizes, as if time were proportional to the scale
  bool stopped = false;          // by a signal; what was not run is missing
};

// The ids that there are, in the papers' order.
[[nodiscard]] std::vector<std::string> claim_ids();

// Throws InputError with the nearest id.
[[nodiscard]] Reproduction reproduce(const ReproduceOptions& options);

// Which runs another build of the program measured, as a sentence; empty: none.
[[nodiscard]] std::string other_builds_text(const Reproduction& reproduction);

// "default scale", "default scale x 0.5", "full scale"
[[nodiscard]] std::string scaling_text(const Scaling& scaling);

[[nodiscard]] std::string verdict_text(const Finding& finding);  // with the workloads that are missing
// The figures and the verdicts of a claim in a few words, with what stands beside: "+8 %; CUDA form: -5 %".
[[nodiscard]] std::string ours_text(const Finding& finding);
[[nodiscard]] std::string shapes_text(const Finding& finding);
[[nodiscard]] std::string reproduction_table(const Reproduction& reproduction);  // for the terminal
// One self-contained HTML page; `command` is the command line that makes it, and stands on it.
[[nodiscard]] std::string reproduction_page(const Reproduction& reproduction, const std::string& command);
// Everything, as one Markdown file: written beside the results. `beside`: another reproduction, whose verdicts stand in
// a section of their own, and on the papers' pages with the claims; null: none.
[[nodiscard]] std::string reproduction_report(const Reproduction& reproduction, const std::string& date,
                                              const OtherReproduction* beside = nullptr);

struct MarkdownPage {
  std::string path;
  std::string text;
};
// What goes into the documents, with pictures: an overview at the path `overview` ("docs/reproduction.md"), then a
// short page for each paper of which there are claims, in the folder of the overview's name
// ("docs/reproduction/lwm-report.md").
[[nodiscard]] std::vector<MarkdownPage> reproduction_pages(const Reproduction& reproduction,
                                                           const std::string& overview, const std::string& date,
                                                           const OtherReproduction* beside = nullptr);
// How long the runs took, and the claims that took most: for the terminal, as it is not the same twice.
// "1 h 20 min (with --full, in proportion to the scales, some 40 h 00 min)"
[[nodiscard]] std::string time_and_full(const Reproduction& reproduction);
[[nodiscard]] std::string processor_time_text(const Reproduction& reproduction);
// Where the short pages of all papers lie.
[[nodiscard]] std::vector<std::string> paper_page_paths(const std::string& overview);
// And the pictures beside them: reproduction_pages() has each whose chart was drawn.
[[nodiscard]] std::vector<std::string> paper_picture_paths(const std::string& overview);
inline constexpr int kReproductionSchema = 1;
[[nodiscard]] std::string reproduction_json(const Reproduction& reproduction);

}  // namespace heddle::studies
