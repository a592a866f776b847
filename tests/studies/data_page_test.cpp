// Pages that draw themselves from data: complete in themselves, and no data can get out of its element.
#include "studies/pages/page/data_page.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

#include "base/error.hpp"
#include "studies/pages/page/page_files.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::studies {
namespace {

TEST(DataPage, HostileDataStaysData) {
  const boost::json::object data = {
      {"a", "</script><script>alert(1)</script>"}, {"b", "<!-- <script>"}, {"c", "]]>&amp;"}};
  const std::string page = pages::data_page({"<b>title</b>", boost::json::serialize(data), {"report.js"}});
  EXPECT_EQ(test::occurrences(page, "<title>&lt;b&gt;title&lt;/b&gt;</title>"), 1U);
  // The data, Vega, charts.js and report.js.
  EXPECT_EQ(test::occurrences(page, "</script"), 4U);
  EXPECT_EQ(test::occurrences(page, "<!--"), 0U);
  const std::string mark = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(mark);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t from = begin + mark.size();
  EXPECT_EQ(boost::json::parse(page.substr(from, page.find("</script", from) - from)), boost::json::value(data));
}

TEST(DataPage, LoadsNothingFromElsewhere) {
  std::string page = pages::data_page({"title", "{}", {"report.js", "source.js", "compare.js"}});
  const std::string_view vega = pages::page_file("vega.js");  // can load data, but is asked for none
  page.erase(page.find(vega), vega.size());
  for (const char* const part : {"src=", "@import", "url(http", "href=\"http"}) {
    EXPECT_EQ(test::occurrences(page, part), 0U) << part;
  }
}

TEST(DataPage, FilesByName) {
  EXPECT_NE(pages::page_file("vega.js").find("Redistribution and use"), std::string::npos);
  EXPECT_GT(pages::page_file("vega.js").size(), 300000U);
  EXPECT_FALSE(pages::page_file("page.css").empty());
  EXPECT_THROW((void)pages::page_file("d3.js"), InternalError);
}

}  // namespace
}  // namespace heddle::studies
