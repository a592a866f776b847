// The results as Markdown: an overview of all claims with a short page for each paper, and the report of everything.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.hpp"
#include "base/text.hpp"
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
};

constexpr std::array<Paper, 6> kPapers = {{
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

std::string claim_markdown(const ReproducedClaim& claim) {
  const std::string on = claim.finding.label.empty() ? "Ours" : "Ours, " + claim.finding.label;
  std::string out = fmt::format("## {}\n\n", claim.id);
  out += wrapped(fmt::format("**{}.** {} ({}). Paper: {}. {}: {}. **{}.**", claim.title, claim.text.statement,
                             claim.text.source, claim.text.paper, on, claim.finding.ours, verdict_text(claim.finding)),
                 kWidth, 0) +
         "\n";
  out += finding_markdown(claim.finding, claim.text.caveat, claim.text.note);
  for (const Finding& other : claim.finding.beside) {
    out += fmt::format("\n### {}: {}\n\n", claim.id, other.label);
    out += wrapped(fmt::format("Ours: {}. **{}.**", other.ours, verdict_text(other)), kWidth, 0) + "\n";
    out += finding_markdown(other, "", other.note);
  }
  return out + "\n";
}

std::string made_text(const Reproduction& reproduction, const std::string& date) {
  std::string out = paragraph(
      fmt::format("The papers' claims, put to Heddle {} on {} at {}, {}. Made by `heddle reproduce{} --markdown "
                  "docs/reproduction.md`, which also draws the figures.",
                  tb::version(), date, scaling_text(reproduction.scaling), counted(reproduction.runs, "run"),
                  reproduction.scaling.full ? " --full" : ""));
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
std::string claims_table(const Reproduction& reproduction, const OtherReproduction* beside, const Link& link) {
  std::vector<std::vector<std::string>> rows;
  for (const ReproducedClaim& claim : reproduction.claims) {
    rows.push_back({fmt::format("[{}]({})", claim.id, link(claim)), claim.text.paper, ours_text(claim.finding),
                    shapes_text(claim.finding)});
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
  return markdown_table(titles, rows) + "\n";
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

std::string page_path(const std::string& overview, const Paper& paper) {
  const std::filesystem::path parent = std::filesystem::path(overview).parent_path();
  return (parent / folder_of_pages(overview) / fmt::format("{}.md", paper.page)).string();
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

// A claim in short: its checks, and the main cause where it does not hold.
std::string short_claim(const ReproducedClaim& claim, bool caveat_is_shared) {
  const Finding& finding = claim.finding;
  std::string out = fmt::format("## {}\n\n", claim.id);
  out += paragraph(fmt::format("{} ({}). Paper: {}. Ours{}: {}. **{}.**", claim.text.statement, claim.text.source,
                               claim.text.paper, finding.label.empty() ? "" : ", " + finding.label, finding.ours,
                               verdict_text(finding)));
  out += short_checks(finding.checks);
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
  return out;
}

std::string paper_page(const Paper& paper, const std::vector<const ReproducedClaim*>& claims,
                       const std::string& overview) {
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
  for (const ReproducedClaim* claim : claims) {
    const auto have = std::count_if(claims.begin(), claims.end(), [&](const ReproducedClaim* other) {
      return other->text.caveat == claim->text.caveat;
    });
    out += short_claim(*claim, have > 1);
  }
  return without_blank_lines_at_the_end(out);
}

}  // namespace

std::string reproduction_report(const Reproduction& reproduction, const std::string& date,
                                const OtherReproduction* beside) {
  std::string out = "# Reproduction\n\n" + made_text(reproduction, date) + paragraph(kVerdicts);
  out += claims_table(reproduction, beside, [](const ReproducedClaim& claim) { return "#" + claim.id; });
  std::string scales;
  for (const auto& [workload, scale] : reproduction.scales) {
    scales += fmt::format("{}{} {:g}", scales.empty() ? "" : ", ", workload, scale);
  }
  if (!scales.empty()) {
    out += paragraph("Scale of the inputs (1 is the paper's): " + scales + ".");
  }
  out += failed_text(reproduction);
  for (const ReproducedClaim& claim : reproduction.claims) {
    out += claim_markdown(claim);
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

std::vector<MarkdownPage> reproduction_pages(const Reproduction& reproduction, const std::string& overview,
                                             const std::string& date, const OtherReproduction* beside) {
  std::string out = "# Reproduction\n\n" + made_text(reproduction, date) + paragraph(kVerdicts);
  out += "The papers, a short page each:\n\n";
  std::vector<MarkdownPage> pages = {{overview, ""}};
  for (const Paper& paper : kPapers) {
    const std::vector<const ReproducedClaim*> claims = claims_of(reproduction, paper);
    if (!claims.empty()) {
      out += item(fmt::format("[{}]({}/{}.md): {}", paper.name, folder_of_pages(overview), paper.page, tally(claims)));
      pages.push_back({page_path(overview, paper), paper_page(paper, claims, overview)});
    }
  }
  out += "\n" + paragraph(
                    "Tables of values, charts, the scales of the inputs and the long report stand beside the "
                    "results, in the folder that `--out` names: `reproduction.html` and `reproduction.md`.");
  out += claims_table(reproduction, beside, [&](const ReproducedClaim& claim) {
    return fmt::format("{}/{}.md#{}", folder_of_pages(overview), paper_of(claim).page, claim.id);
  });
  pages.front().text = without_blank_lines_at_the_end(out + failed_text(reproduction));
  return pages;
}

}  // namespace heddle::studies
