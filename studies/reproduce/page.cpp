// The page of a reproduction: a table of all claims, then each claim with its figure, checks and causes.
#include <fmt/format.h>

#include "base/text.hpp"
#include "studies/pages/report/html.hpp"
#include "studies/reproduce/experiments.hpp"
#include "studies/reproduce/reproduce.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {
namespace {

constexpr std::string_view kPageStyle = R"css(
.verdict { font-weight: 600; } .holds { color: #00704f; } .partly { color: #8a5a00; } .fails { color: var(--bad); }
@media (prefers-color-scheme: dark) { .holds { color: #4fd1a5; } .partly { color: #f0b429; } }
ul.checks { list-style: none; padding-left: 0; max-width: 60rem; } ul.checks li { margin: .2rem 0; }
details { margin: .6rem 0; } summary { cursor: pointer; } td a { color: inherit; } td.left { white-space: normal; }
@media (max-width: 45rem) {
  table.overview thead { display: none; } table.overview tr { display: block; padding: .5rem 0; }
  table.overview td { display: block; border: 0; padding: .1rem 0; }
  table.overview tr { border-bottom: 1px solid var(--line); }
  table.overview td::before { content: attr(data-what); color: var(--soft); }
}
section { margin-top: 2.6rem; } p.claim { border-left: 3px solid var(--line); padding-left: .8rem; }
)css";

std::string_view verdict_class(Shape shape) {
  switch (shape) {
    case Shape::holds:
      return "holds";
    case Shape::partly:
      return "partly";
    case Shape::does_not_hold:
      return "fails";
    case Shape::not_measured:
      break;
  }
  return "soft";
}

std::string verdict_html(const Finding& finding) {
  return fmt::format("<span class=\"verdict {}\">{}</span>", verdict_class(shape_of(finding.checks)),
                     pages::html_escaped(verdict_text(finding)));
}

std::string verdicts_html(const Finding& finding) {
  std::string out = verdict_html(finding);
  for (const Finding& other : finding.beside) {
    out += "; " + pages::html_escaped(other.label) + ": " + verdict_html(other);
  }
  return out;
}

std::string overview(const Reproduction& reproduction) {
  std::string out =
      "<div class=\"wide\"><table class=\"overview\">\n<thead><tr><th class=\"left\">id</th><th "
      "class=\"left\">paper</th>"
      "<th class=\"left\">ours</th><th class=\"left\">shape</th></tr></thead>\n<tbody>\n";
  for (const ReproducedClaim& claim : reproduction.claims) {
    out += fmt::format(
        "<tr><td class=\"left\"><a href=\"#{0}\">{0}</a></td><td class=\"left\" data-what=\"paper: \">{1}</td>"
        "<td class=\"left\" data-what=\"ours: \">{2}</td><td class=\"left\">{3}</td></tr>\n",
        pages::html_escaped(claim.id), pages::html_escaped(claim.text.paper),
        pages::html_escaped(ours_text(claim.finding)), verdicts_html(claim.finding));
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string table_html(const ValueTable& table) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", pages::html_escaped(table.caption),
                     pages::html_table(table.titles, table.rows, {0}));
}

// Charts, checks, causes and tables. `note`: what was found by looking into a difference.
std::string finding_html(const Finding& finding, const std::string& note) {
  const Shape shape = shape_of(finding.checks);
  std::string out;
  for (const pages::Chart& chart : finding.charts) {
    out += "<div class=\"plot\">" + pages::chart_svg(chart) + "</div>\n";
  }
  if (!finding.checks.empty()) {
    out += "<ul class=\"checks\">\n";
    for (const Check& check : finding.checks) {
      out += fmt::format("<li><span class=\"{}\">{}</span> {}{}: {}</li>\n", check.passed ? "holds" : "fails",
                         check.passed ? "&#10003;" : "&#10007;", pages::html_escaped(check.rule),
                         check.main ? " (main)" : "", pages::html_escaped(check.measured));
    }
    out += "</ul>\n";
  }
  if (shape != Shape::holds && shape != Shape::not_measured) {
    if (!note.empty()) {
      out += "<p>" + pages::html_escaped(note) + "</p>\n";
    }
    for (const std::string& cause : finding.causes) {
      out += "<p class=\"soft\">" + pages::html_escaped(cause) + "</p>\n";
    }
  }
  for (const ValueTable& table : finding.tables) {
    out += table_html(table);
  }
  return out;
}

// What the experiments of a claim that does not hold came to, as far as they are among the claims.
std::string experiments_html(const ReproducedClaim& claim, const std::vector<ReproducedClaim>& all) {
  std::string out;
  if (claim.shape == Shape::holds || claim.shape == Shape::not_measured) {
    return out;
  }
  for (const std::string& id : experiments_of(claim.id)) {
    for (const ReproducedClaim& other : all) {
      if (other.id == id) {
        out += fmt::format("<p>Experiment <a href=\"#{0}\">{0}</a>: {1}. {2}</p>\n", pages::html_escaped(id),
                           pages::html_escaped(other.finding.ours), verdict_html(other.finding));
      }
    }
  }
  return out;
}

std::string section_of(const ReproducedClaim& claim, const std::vector<ReproducedClaim>& all) {
  const std::string on = claim.finding.label.empty() ? "Ours" : "Ours, " + claim.finding.label;
  std::string out = fmt::format(
      "<section id=\"{0}\"><h2>{0}: {1}</h2>\n<p class=\"claim\">{2} <span class=\"soft\">({3})</span></p>\n"
      "<p>Paper: {4}. {5}: {6}. {7}</p>\n",
      pages::html_escaped(claim.id), pages::html_escaped(claim.title), pages::html_escaped(claim.text.statement),
      pages::html_escaped(claim.text.source), pages::html_escaped(claim.text.paper), pages::html_escaped(on),
      pages::html_escaped(claim.finding.ours), verdict_html(claim.finding));
  if (!claim.text.caveat.empty()) {
    out += "<p>" + pages::html_escaped(claim.text.caveat) + "</p>\n";
  }
  out += experiments_html(claim, all);
  out += finding_html(claim.finding, claim.text.note);
  for (const Finding& other : claim.finding.beside) {
    out += fmt::format("<h3>{}: {}</h3>\n<p>Ours: {}. {}</p>\n", pages::html_escaped(claim.id),
                       pages::html_escaped(other.label), pages::html_escaped(other.ours), verdict_html(other));
    out += finding_html(other, other.note);
  }
  return out + "</section>\n";
}

}  // namespace

std::string reproduction_page(const Reproduction& reproduction, const std::string& command) {
  std::string body = fmt::format("<style>{}{}</style>\n", pages::chart_style(), kPageStyle);
  body += fmt::format(
      "<h1>Heddle {}: the papers' claims reproduced</h1>\n<p><code>{}</code></p>\n<p class=\"soft\">{}, {}. IPC is "
      "thread instructions per "
      "cycle; means are geometric unless said otherwise. A claim holds when all its checks pass, partly when some of "
      "its main checks pass.</p>\n",
      pages::html_escaped(tb::version()), pages::html_escaped(command), scaling_text(reproduction.scaling),
      counted(reproduction.runs, "run"));
  if (reproduction.stopped) {
    body += "<p class=\"bad\">Ended early: what was not run is missing.</p>\n";
  }
  if (!reproduction.other_builds.empty()) {
    body += "<p class=\"soft\">" + pages::html_escaped(other_builds_text(reproduction)) + "</p>\n";
  }
  body += overview(reproduction);
  if (!reproduction.failed.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (const FailedRun& run : reproduction.failed) {
      rows.push_back({run.run, run.why});
    }
    body += fmt::format("<details><summary class=\"bad\">{} failed</summary>\n{}</details>\n",
                        counted(rows.size(), "run"), pages::html_table({"run", "why"}, rows, {0, 1}));
  }
  for (const ReproducedClaim& claim : reproduction.claims) {
    body += section_of(claim, reproduction.claims);
  }
  std::vector<std::vector<std::string>> scales;
  for (const auto& [workload, scale] : reproduction.scales) {
    scales.push_back({workload, fmt::format("{:g}", scale)});
  }
  body += "<h2>Scale of the inputs</h2>\n<p>1 is the paper's input.</p>\n" +
          pages::html_table({"workload", "scale"}, scales, {0});
  return pages::html_page("Heddle: reproduction", pages::html_minus_signs(body));
}

}  // namespace heddle::studies
