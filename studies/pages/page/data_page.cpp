#include "studies/pages/page/data_page.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "studies/pages/page/page_files.hpp"
#include "studies/pages/report/appearance.hpp"
#include "studies/pages/report/html.hpp"

namespace heddle::pages {
namespace {

// JSON within a script element: no '<', which could end it or begin a comment. The escape means the same to a parser of
// JSON, and '<' stands in strings only.
std::string embedded_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char letter : text) {
    if (letter == '<') {
      out += "\\u003c";
    } else {
      out += letter;
    }
  }
  return out;
}

}  // namespace

std::string_view page_file(std::string_view name) {
  for (const EmbeddedFile& file : page_files()) {
    if (file.name == name) {
      return file.text;
    }
  }
  throw InternalError(fmt::format("no page file is embedded as '{}'", name));
}

std::string data_page(const DataPage& page) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}</title>\n"
      "<link rel=\"icon\" href=\"data:,\"/>\n<style>\n{}{}</style>\n</head>\n<body>\n<main id=\"page\"></main>\n"
      "<noscript><p>This page draws its charts with JavaScript.</p></noscript>\n"
      "<script type=\"application/json\" id=\"data\">{}</script>\n",
      html_escaped(page.title), page_file("page.css"), appearance_style(), embedded_json(page.data));
  std::vector<std::string_view> scripts = {"vega.js", "charts.js"};
  scripts.insert(scripts.end(), page.scripts.begin(), page.scripts.end());
  for (const std::string_view script : scripts) {
    out += "<script>\n";
    out += page_file(script);
    out += "</script>\n";
  }
  return out + "</body>\n</html>\n";
}

}  // namespace heddle::pages
