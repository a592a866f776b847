// The results as Markdown: an overview of all claims with a short page for each paper, and the report of everything.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
#include "studies/reproduce/experiments.hpp"
#include "studies/reproduce/reproduce.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {
namespace {

constexpr std::size_t kWidth = 120;

struct Paper {
  std::string_view name;  // that a claim's source begins with
  std::string_view page;  // file name without ".md"
  std::string_view heading;
  std::string_view title;
  std::size_t tables = 0;    // of each claim's first ones, that its short page shows
  std::size_t pictures = 0;  // of its claims' charts, likewise, as files beside it
};

constexpr std::array<Paper, 8> kPapers = {{
    {"LWM report", "lwm-report", "the LWM report",
     "Improving GPU Performance via Large Warps and Two-Level Warp Scheduling (technical report)"},
    {"thesis", "thesis", "the thesis",
     "An Enhanced GPU Architecture for Not-So-Regular Parallelism with Special Implications for Database Search"},
    {"Rogers, O'Connor and Aamodt", "ccws", "cache-conscious scheduling",
     "Cache-Conscious Wavefront Scheduling (Rogers, O'Connor and Aamodt, MICRO 2012), for comparison"},
    {"DWS report", "dws-report", "the DWS report",
     "Dynamic Warp Subdivision for Integrated Branch and Memory Divergence Tolerance: Extended Tradeoff Analysis"},
    {"warp-size study", "warp-size-study", "the warp-size study", "Investigating Warp Size Impact in GPUs"},
    {"ODGS paper", "odgs-paper", "the ODGS paper",
     "Exploring the Limits of GPGPU Scheduling In Control Flow Bound Applications"},
    {"all papers", "all-on-one", "all mechanisms on one machine",
     "What none of the papers has: their mechanisms side by side, on one machine and on the workloads of all", 3, 2},
    {"GPUs of today", "on-h100", "the papers' mechanisms on GPUs of today",
     "What the papers could not measure: their mechanisms on cuts of an H100 and an RTX 3070, on the workloads of all",
     8, 2},
}};

const Paper& paper_of(const ReproducedClaim& claim) {
  const auto* const found = std::find_if(kPapers.begin(), kPapers.end(),
                                         [&](const Paper& paper) { return claim.text.source.starts_with(paper.name); });
  if (found == kPapers.end()) {
    throw InternalError("claim " + claim.id + " is of no paper that has a page: " + claim.text.source);
  }
  return *found;
}

bool needs_a_cause(const Finding& finding) {
  const Shape shape = shape_of(finding.checks);
  return shape != Shape::holds && shape != Shape::not_measured;
}

std::string paragraph(const std::string& text) {
  return wrapped(text, kWidth, 0) + "\n\n";
}

std::string item(const std::string& text) {
  return wrapped("- " + text, kWidth, 2) + "\n";
}

std::string checks_markdown(const std::vector<Check>& checks) {
  std::string out;
  for (const Check& check : checks) {
    out += item(fmt::format("{}{}: {}: {}", check.rule, check.main ? " (main)" : "", check.measured,
                            check.passed ? "yes" : "no"));
  }
  return out;
}

// What a finding rests on. `note`: what was found by looking into a difference.
std::string finding_markdown(const Finding& finding, const std::string& caveat, const std::string& note) {
  std::string out;
  if (!finding.checks.empty()) {
    out += "\n" + checks_markdown(finding.checks);
  }
  if (!caveat.empty()) {
    out += "\n" + wrapped(caveat, kWidth, 0) + "\n";
  }
  if (needs_a_cause(finding) && !note.empty()) {
    out += "\n" + wrapped(note, kWidth, 0) + "\n";
  }
  if (needs_a_cause(finding) && !finding.causes.empty()) {
    out += "\nMeasured:\n\n";
    for (const std::string& cause : finding.causes) {
      out += item(cause);
    }
  }
  for (const ValueTable& table : finding.tables) {
    out += fmt::format("\n{}:\n\n{}", table.caption, markdown_table(table.titles, table.rows));
  }
  return out;
}

// What an experiment came to in a few words: what was measured of its first main statement that is so.
std::string short_outcome(const Finding& finding) {
  const auto found = std::find_if(finding.checks.begin(), finding.checks.end(),
                                  [](const Check& check) { return check.main && check.passed; });
  return found == finding.checks.end() ? "" : ": " + found->measured;
}
std::string long_outcome(const Finding& finding) {
  return ": " + finding.ours;
}

// "Experiments: [2lev-causes](thesis.md#2lev-causes) (holds): row hits first +6 %.": what the experiments of a claim
// that does not hold came to, as far as they are among the claims. `link`: where the section of a claim is.
template <class Link>
std::string experiments_text(const ReproducedClaim& claim, const std::vector<ReproducedClaim>& claims, const Link& link,
                             std::string (*outcome)(const Finding&)) {
  std::string out;
  for (const std::string& id : needs_a_cause(claim.finding) ? experiments_of(claim.id) : std::vector<std::string>{}) {
    for (const ReproducedClaim& other : claims) {
      if (other.id == id && other.shape != Shape::not_measured) {
        out += fmt::format("{}[{}]({}) ({}){}", out.empty() ? "Experiments: " : ". ", id, link(other),
                           shape_text(other.shape), outcome(other.finding));
      }
    }
  }
  return out.empty() ? out : out + ".";
}

// Null: the other reproduction, if there is one, does not have the claim.
const OtherReproduction::Verdict* verdict_of(const OtherReproduction* other, const ReproducedClaim& claim) {
  if (other == nullptr) {
    return nullptr;
  }
  const auto found = other->claims.find(claim.id);
  return found == other->claims.end() ? nullptr : &found->second;
}

std::string claim_markdown(const ReproducedClaim& claim, const std::vector<ReproducedClaim>& all) {
  const std::string on = claim.finding.label.empty() ? "Ours" : "Ours, " + claim.finding.label;
  std::string out = fmt::format("## {}\n\n", claim.id);
  out += wrapped(fmt::format("**{}.** {} ({}). Paper: {}. {}: {}. **{}.**", claim.title, claim.text.statement,
                             claim.text.source, claim.text.paper, on, claim.finding.ours, verdict_text(claim.finding)),
                 kWidth, 0) +
         "\n";
  out += finding_markdown(claim.finding, claim.text.caveat, claim.text.note);
  const std::string experiments = experiments_text(
      claim, all, [](const ReproducedClaim& other) { return "#" + other.id; }, long_outcome);
  if (!experiments.empty()) {
    out += "\n" + wrapped(experiments, kWidth, 0) + "\n";
  }
  for (const Finding& other : claim.finding.beside) {
    out += fmt::format("\n### {}: {}\n\n", claim.id, other.label);
    out += wrapped(fmt::format("Ours: {}. **{}.**", other.ours, verdict_text(other)), kWidth, 0) + "\n";
    out += finding_markdown(other, "", other.note);
  }
  return out + "\n";
}

std::string made_text(const Reproduction& reproduction, const std::string& date) {
  std::string out = paragraph(
      fmt::format("The papers' claims, put to Heddle {} on {} at {}, {} of a processor time of {}. Made by `heddle "
                  "reproduce{} --markdown docs/reproduction.md`, which also draws the figures.",
                  tb::version(), date, scaling_text(reproduction.scaling), counted(reproduction.runs, "run"),
                  time_and_full(reproduction), reproduction.scaling.full ? " --full" : ""));
  if (!reproduction.other_builds.empty()) {
    out += paragraph(other_builds_text(reproduction));
  }
  return out;
}

constexpr const char* kVerdicts =
    "A verdict is computed from the checks listed with each claim: all pass: holds; some of its main checks pass: "
    "partly; none: does not hold. \"Of a size\" means between half and twice the paper's gain. Nothing in the "
    "workloads, "
    "latencies or definitions is tuned towards a verdict. IPC is thread instructions per cycle; means are geometric "
    "unless said otherwise. What was measured stands in the checks and under \"Measured\", and is of these runs. The "
    "text "
    "beside it was written by looking into the differences and has no measured figures of its own.";

std::string failed_text(const Reproduction& reproduction) {
  if (reproduction.failed.empty()) {
    return "";
  }
  std::string out = fmt::format("{} failed:\n\n", counted(reproduction.failed.size(), "run"));
  for (const FailedRun& run : reproduction.failed) {
    out += item(fmt::format("{}: {}", run.run, run.why));
  }
  return out + "\n";
}

// Of all claims. `link`: where the section of a claim is.
template <class Link>
std::string claims_table(const Reproduction& reproduction, const Link& link) {
  std::vector<std::vector<std::string>> rows;
  for (const ReproducedClaim& claim : reproduction.claims) {
    rows.push_back({fmt::format("[{}]({})", claim.id, link(claim)), claim.text.paper, ours_text(claim.finding),
                    shapes_text(claim.finding)});
  }
  return markdown_table({"id", "paper", "ours", "shape"}, rows) + "\n";
}

// Of days as text, which sorts as they come: " (2026-11-29 to 2026-12-02)".
std::string dates_text(const std::set<std::string>& dates) {
  if (dates.empty()) {
    return "";
  }
  return dates.size() == 1 ? fmt::format(" ({})", *dates.begin())
                           : fmt::format(" ({} to {})", *dates.begin(), *dates.rbegin());
}

// What the claims came to that another reproduction has, too; null, or none in common: nothing.
template <class Link>
std::string other_scale_text(const Reproduction& reproduction, const OtherReproduction* beside, const Link& link) {
  std::vector<std::vector<std::string>> rows;
  std::string changed;
  std::set<std::string> dates;
  for (const ReproducedClaim& claim : reproduction.claims) {
    const OtherReproduction::Verdict* const other = verdict_of(beside, claim);
    if (other == nullptr) {
      continue;
    }
    if (!other->date.empty()) {
      dates.insert(other->date);
    }
    const std::string name = fmt::format("[{}]({})", claim.id, link(claim));
    rows.push_back({name, claim.finding.ours, std::string(shape_text(claim.shape)), other->ours, other->shape});
    if (other->shape != shape_text(claim.shape)) {
      changed +=
          fmt::format("{}{} ({}, there: {})", changed.empty() ? "" : ", ", name, shape_text(claim.shape), other->shape);
    }
  }
  if (rows.empty()) {
    return "";
  }
  return fmt::format("## At {}\n\n", beside->scaling) +
         paragraph(fmt::format("Put to the model at {}, too{}: {} of {}. Another verdict there: {}.", beside->scaling,
                               dates_text(dates), rows.size(), counted(reproduction.claims.size(), "claim"),
                               changed.empty() ? "none" : changed)) +
         markdown_table({"id", "ours", "shape", "ours at " + beside->scaling, "shape"}, rows) + "\n";
}

std::string without_blank_lines_at_the_end(std::string text) {
  while (text.ends_with("\n\n")) {
    text.pop_back();
  }
  return text;
}

// "reproduction" of "docs/reproduction.md": the folder of the papers' pages, beside that file.
std::string folder_of_pages(const std::string& overview) {
  return std::filesystem::path(overview).stem().string();
}

std::string in_folder_of_pages(const std::string& overview, const std::string& file) {
  return (std::filesystem::path(overview).parent_path() / folder_of_pages(overview) / file).string();
}

std::string page_path(const std::string& overview, const Paper& paper) {
  return in_folder_of_pages(overview, fmt::format("{}.md", paper.page));
}

std::vector<const ReproducedClaim*> claims_of(const Reproduction& reproduction, const Paper& paper) {
  std::vector<const ReproducedClaim*> out;
  for (const ReproducedClaim& claim : reproduction.claims) {
    if (&paper_of(claim) == &paper) {
      out.push_back(&claim);
    }
  }
  return out;
}

// "3 claims (holds: 1, does not hold: 2)"
std::string tally(const std::vector<const ReproducedClaim*>& claims) {
  std::string verdicts;
  for (const Shape shape : {Shape::holds, Shape::partly, Shape::does_not_hold, Shape::not_measured}) {
    const auto count = std::count_if(claims.begin(), claims.end(),
                                     [&](const ReproducedClaim* claim) { return claim->shape == shape; });
    if (count != 0) {
      verdicts += fmt::format("{}{}: {}", verdicts.empty() ? "" : ", ", shape_text(shape), count);
    }
  }
  return fmt::format("{} ({})", counted(claims.size(), "claim"), verdicts);
}

// The claims' caveats that several of them have, each once with the claims' ids.
std::string shared_caveats(const std::vector<const ReproducedClaim*>& claims) {
  std::string out;
  for (auto first = claims.begin(); first != claims.end(); ++first) {
    const std::string& caveat = (*first)->text.caveat;
    const auto same = [&](const ReproducedClaim* claim) { return claim->text.caveat == caveat; };
    if (caveat.empty() || std::any_of(claims.begin(), first, same) || std::count_if(first, claims.end(), same) == 1) {
      continue;
    }
    std::string ids;
    for (auto claim = first; claim != claims.end(); ++claim) {
      if (same(*claim)) {
        ids += (ids.empty() ? "" : ", ") + (*claim)->id;
      }
    }
    out += item(fmt::format("{}: {}", ids, caveat));
  }
  return out.empty() ? out : out + "\n";
}

// "Passed: it gains (main); ..." and "Not passed: it gains: -1 %; ...": what was measured of those that fail.
std::string short_checks(const std::vector<Check>& checks) {
  std::string passed;
  std::string failed;
  for (const Check& check : checks) {
    const std::string rule = check.rule + (check.main ? " (main)" : "");
    std::string& list = check.passed ? passed : failed;
    list += (list.empty() ? "" : "; ") + (check.passed ? rule : fmt::format("{}: {}", rule, check.measured));
  }
  std::string out;
  if (!failed.empty()) {
    out += item("Not passed: " + failed + ".");
  }
  if (!passed.empty()) {
    out += item("Passed: " + passed + ".");
  }
  return out.empty() ? out : out + "\n";
}

// As many of a text's first sentences as have kShort words together, or the first alone.
std::string first_sentences(const std::string& text) {
  constexpr std::ptrdiff_t kShort = 45;
  std::size_t end = text.find(". ");
  for (std::size_t next = end; next != std::string::npos; next = text.find(". ", next + 1)) {
    if (std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(next), ' ') < kShort) {
      end = next;
    }
  }
  const bool all = end == std::string::npos || std::count(text.begin(), text.end(), ' ') < kShort;
  return all ? text : text.substr(0, end + 1);
}

// The charts that a paper's page shows, of all its claims.
std::vector<const pages::Chart*> shown_charts(const Paper& paper, const std::vector<const ReproducedClaim*>& claims) {
  std::vector<const pages::Chart*> out;
  for (const ReproducedClaim* claim : claims) {
    for (const pages::Chart& chart : claim->finding.charts) {
      if (out.size() < paper.pictures) {
        out.push_back(&chart);
      }
    }
  }
  return out;
}

// "all-on-one-2.svg": the second picture of a page, beside it.
std::string picture_name(const Paper& paper, std::size_t picture) {
  return fmt::format("{}-{}.svg", paper.page, picture + 1);
}

// A claim in short: its checks, and the main cause where it does not hold.
std::string short_claim(const Paper& paper, const ReproducedClaim& claim, bool caveat_is_shared,
                        const std::vector<ReproducedClaim>& all, const OtherReproduction* beside) {
  const Finding& finding = claim.finding;
  std::string out = fmt::format("## {}\n\n", claim.id);
  out += paragraph(fmt::format("{} ({}). Paper: {}. Ours{}: {}. **{}.**", claim.text.statement, claim.text.source,
                               claim.text.paper, finding.label.empty() ? "" : ", " + finding.label, finding.ours,
                               verdict_text(finding)));
  out += short_checks(finding.checks);
  if (const OtherReproduction::Verdict* const other = verdict_of(beside, claim)) {
    out += paragraph(fmt::format("At {}: {}. **{}.**", beside->scaling, other->ours, other->shape));
  }
  if (!claim.text.caveat.empty() && !caveat_is_shared) {
    out += paragraph(first_sentences(claim.text.caveat));
  }
  if (needs_a_cause(finding)) {
    if (!claim.text.note.empty()) {
      out += paragraph(first_sentences(claim.text.note));
    } else if (!finding.causes.empty()) {
      out += paragraph("Measured: " + finding.causes.front());
    }
  }
  const auto link = [&](const ReproducedClaim& other) {
    const Paper& theirs = paper_of(other);
    return fmt::format("{}#{}", &theirs == &paper ? "" : fmt::format("{}.md", theirs.page), other.id);
  };
  const std::string experiments = experiments_text(claim, all, link, short_outcome);
  if (!experiments.empty()) {
    out += paragraph(experiments);
  }
  for (std::size_t i = 0; i < std::min(paper.tables, finding.tables.size()); ++i) {
    const ValueTable& table = finding.tables[i];
    out += paragraph(table.caption + ":") + markdown_table(table.titles, table.rows) + "\n";
  }
  return out;
}

std::string paper_page(const Paper& paper, const std::vector<const ReproducedClaim*>& claims,
                       const std::vector<ReproducedClaim>& all, const std::string& overview,
                       const OtherReproduction* beside) {
  const std::string back = std::filesystem::path(overview).filename().string();
  std::string out = fmt::format("# Reproduction: {}\n\n", paper.heading);
  out += paragraph(
      fmt::format("*{}*. {}. How a verdict comes about stands in the [overview](../{}), with what other forms of "
                  "the workloads give; everything in full lies beside the results (`reproduction.html`, "
                  "`reproduction.md`).",
                  paper.title, tally(claims), back));
  if (const std::string caveats = shared_caveats(claims); !caveats.empty()) {
    out += "What a reader must know of several claims:\n\n" + caveats;
  }
  const std::vector<const pages::Chart*> charts = shown_charts(paper, claims);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    out += fmt::format("![{}]({})\n\n", pages::chart_title(*charts[i]), picture_name(paper, i));
  }
  for (const ReproducedClaim* claim : claims) {
    const auto have = std::count_if(claims.begin(), claims.end(), [&](const ReproducedClaim* other) {
      return other->text.caveat == claim->text.caveat;
    });
    out += short_claim(paper, *claim, have > 1, all, beside);
  }
  return without_blank_lines_at_the_end(out);
}

}  // namespace

std::string reproduction_report(const Reproduction& reproduction, const std::string& date,
                                const OtherReproduction* beside) {
  std::string out = "# Reproduction\n\n" + made_text(reproduction, date) + paragraph(kVerdicts);
  const auto link = [](const ReproducedClaim& claim) { return "#" + claim.id; };
  out += claims_table(reproduction, link) + other_scale_text(reproduction, beside, link);
  std::string scales;
  for (const auto& [workload, scale] : reproduction.scales) {
    scales += fmt::format("{}{} {:g}", scales.empty() ? "" : ", ", workload, scale);
  }
  if (!scales.empty()) {
    out += paragraph("Scale of the inputs (1 is the paper's): " + scales + ".");
  }
  out += failed_text(reproduction);
  for (const ReproducedClaim& claim : reproduction.claims) {
    out += claim_markdown(claim, reproduction.claims);
  }
  return without_blank_lines_at_the_end(out);
}

std::vector<std::string> paper_page_paths(const std::string& overview) {
  std::vector<std::string> out;
  for (const Paper& paper : kPapers) {
    out.push_back(page_path(overview, paper));
  }
  return out;
}

std::vector<std::string> paper_picture_paths(const std::string& overview) {
  std::vector<std::string> out;
  for (const Paper& paper : kPapers) {
    for (std::size_t i = 0; i < paper.pictures; ++i) {
      out.push_back(in_folder_of_pages(overview, picture_name(paper, i)));
    }
  }
  return out;
}

std::vector<MarkdownPage> reproduction_pages(const Reproduction& reproduction, const std::string& overview,
                                             const std::string& date, const OtherReproduction* beside) {
  std::string out = "# Reproduction\n\n" + made_text(reproduction, date) + paragraph(kVerdicts);
  out += "The papers, a short page each:\n\n";
  std::vector<MarkdownPage> files = {{overview, ""}};
  for (const Paper& paper : kPapers) {
    const std::vector<const ReproducedClaim*> claims = claims_of(reproduction, paper);
    if (!claims.empty()) {
      out += item(fmt::format("[{}]({}/{}.md): {}", paper.name, folder_of_pages(overview), paper.page, tally(claims)));
      files.push_back({page_path(overview, paper), paper_page(paper, claims, reproduction.claims, overview, beside)});
      const std::vector<const pages::Chart*> charts = shown_charts(paper, claims);
      for (std::size_t i = 0; i < charts.size(); ++i) {
        files.push_back({in_folder_of_pages(overview, picture_name(paper, i)), pages::chart_file(*charts[i])});
      }
    }
  }
  out += "\n" + paragraph(
                    "Tables of values, charts, the scales of the inputs and the long report stand beside the "
                    "results, in the folder that `--out` names: `reproduction.html` and `reproduction.md`.");
  const auto link = [&](const ReproducedClaim& claim) {
    return fmt::format("{}/{}.md#{}", folder_of_pages(overview), paper_of(claim).page, claim.id);
  };
  out += claims_table(reproduction, link) + other_scale_text(reproduction, beside, link);
  files.front().text = without_blank_lines_at_the_end(out + failed_text(reproduction));
  return files;
}

}  // namespace heddle::studies
