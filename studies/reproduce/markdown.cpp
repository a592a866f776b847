// docs/reproduction.md, from the results.
#include <fmt/format.h>

#include "base/text.hpp"
#include "studies/reproduce/reproduce.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {
namespace {

// What a finding rests on. `note`: what was found by looking into a difference.
std::string finding_markdown(const Finding& finding, const std::string& caveat, const std::string& note) {
  const Shape shape = shape_of(finding.checks);
  const bool explain = shape != Shape::holds && shape != Shape::not_measured;
  std::string out;
  if (!finding.checks.empty()) {
    out += "\n";
    for (const Check& check : finding.checks) {
      out += wrapped(fmt::format("- {}{}: {}: {}", check.rule, check.main ? " (main)" : "", check.measured,
                                 check.passed ? "yes" : "no"),
                     120, 2) +
             "\n";
    }
  }
  if (!caveat.empty()) {
    out += "\n" + wrapped(caveat, 120, 0) + "\n";
  }
  if (explain && !note.empty()) {
    out += "\n" + wrapped(note, 120, 0) + "\n";
  }
  if (explain && !finding.causes.empty()) {
    out += "\nMeasured:\n\n";
    for (const std::string& cause : finding.causes) {
      out += wrapped("- " + cause, 120, 2) + "\n";
    }
  }
  for (const ValueTable& table : finding.tables) {
    out += fmt::format("\n{}:\n\n{}", table.caption, markdown_table(table.titles, table.rows));
  }
  return out;
}

std::string claim_markdown(const ReproducedClaim& claim) {
  const std::string on = claim.finding.label.empty() ? "Ours" : "Ours, " + claim.finding.label;
  std::string out = fmt::format("## {}\n\n", claim.id);
  out += wrapped(fmt::format("**{}.** {} ({}). Paper: {}. {}: {}. **{}.**", claim.title, claim.text.statement,
                             claim.text.source, claim.text.paper, on, claim.finding.ours, verdict_text(claim.finding)),
                 120, 0) +
         "\n";
  out += finding_markdown(claim.finding, claim.text.caveat, claim.text.note);
  for (const Finding& other : claim.finding.beside) {
    out += fmt::format("\n### {}: {}\n\n", claim.id, other.label);
    out += wrapped(fmt::format("Ours: {}. **{}.**", other.ours, verdict_text(other)), 120, 0) + "\n";
    out += finding_markdown(other, "", other.note);
  }
  return out + "\n";
}

}  // namespace

std::string reproduction_markdown(const Reproduction& reproduction, const std::string& date,
                                  const OtherReproduction* beside) {
  std::string out = "# Reproduction\n\n";
  out += wrapped(fmt::format("The papers' claims, put to Heddle {} on {} at {}, {}. Made by `heddle reproduce{} "
                             "--markdown docs/reproduction.md`, which also draws the figures.",
                             tb::version(), date, scaling_text(reproduction.scaling), counted(reproduction.runs, "run"),
                             reproduction.scaling.full ? " --full" : ""),
                 120, 0) +
         "\n\n";
  if (!reproduction.other_builds.empty()) {
    out += wrapped(other_builds_text(reproduction), 120, 0) + "\n\n";
  }
  out +=
      wrapped(
          "A verdict is computed from the checks listed with each claim: all pass: holds; some of its main checks "
          "pass: partly; none: does not hold. \"Of a size\" means between half and twice the paper's gain. Nothing "
          "in the workloads, latencies or definitions is tuned towards a verdict. IPC is thread instructions per "
          "cycle; means are geometric unless said otherwise. What stands under \"Measured\" comes from these runs; the "
          "paragraph before it was written by looking into the difference, and its figures are those of the default "
          "scale where it does not say otherwise.",
          120, 0) +
      "\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const ReproducedClaim& claim : reproduction.claims) {
    rows.push_back(
        {fmt::format("[{0}](#{0})", claim.id), claim.text.paper, ours_text(claim.finding), shapes_text(claim.finding)});
    if (beside != nullptr) {
      const auto other = beside->claims.find(claim.id);
      const bool there = other != beside->claims.end();
      rows.back().push_back(there ? other->second.ours : "-");
      rows.back().push_back(there ? other->second.shape : "-");
    }
  }
  std::vector<std::string> titles = {"id", "paper", "ours", "shape"};
  if (beside != nullptr) {
    titles.push_back("ours at " + beside->scaling);
    titles.emplace_back("shape");
  }
  out += markdown_table(titles, rows) + "\n";
  std::string scales;
  for (const auto& [workload, scale] : reproduction.scales) {
    scales += fmt::format("{}{} {:g}", scales.empty() ? "" : ", ", workload, scale);
  }
  if (!scales.empty()) {
    out += wrapped("Scale of the inputs (1 is the paper's): " + scales + ".", 120, 0) + "\n\n";
  }
  if (!reproduction.failed.empty()) {
    out += fmt::format("{} failed:\n\n", counted(reproduction.failed.size(), "run"));
    for (const FailedRun& run : reproduction.failed) {
      out += wrapped(fmt::format("- {}: {}", run.run, run.why), 120, 2) + "\n";
    }
    out += "\n";
  }
  for (const ReproducedClaim& claim : reproduction.claims) {
    out += claim_markdown(claim);
  }
  while (out.ends_with("\n\n")) {
    out.pop_back();
  }
  return out;
}

}  // namespace heddle::studies
