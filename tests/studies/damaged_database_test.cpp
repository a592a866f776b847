// A database that was cut short, overwritten in part or robbed of a table is refused when it is opened, by whichever
// command, with what to do; it stays as it is.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "studies/database/sqlite.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG_SANITIZED("DamagedDatabase.OverwrittenInPart", "DamagedDatabase.CutShort", "DamagedDatabase.Robbed*",
                      "DamagedDatabase.AWhole*", "DamagedDatabase.SaysWhat*")

namespace heddle::studies {
namespace {

namespace fs = std::filesystem;
using test::heddle;
using test::Ran;
using test::Scratch;

class DamagedDatabase : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = scratch_.write("x.toml",
                           "config = \"baseline\"\nscale = 0.001\nworkload = \"vecadd\"\n[axes]\n"
                           "core.warp_size = [32, 64]\ntwo_level.fetch_group = [1, 2, 3, 4]\n");
    database_ = scratch_.path("x.db");
    const Ran ran = test::heddle({"sweep", file_, "-d", database_});
    ASSERT_EQ(ran.code, 0) << ran.err << ran.out;
    good_ = Scratch::read(database_);
  }

  // Both commands say `what` of a database with `contents` and leave it alone.
  void expect_refused(const std::string& contents, const std::string& what) {
    std::ofstream(database_, std::ios::binary | std::ios::trunc) << contents;
    expect_refused(what);
    EXPECT_EQ(Scratch::read(database_), contents);
  }
  void expect_refused(const std::string& what) {
    for (const auto& words : {std::vector<std::string>{"sweep", file_, "-d", database_},
                              std::vector<std::string>{"sweep", file_, "-d", database_, "--resume"},
                              std::vector<std::string>{"results", database_},
                              std::vector<std::string>{"results", database_, "--sql", "SELECT count(*) FROM runs"}}) {
      const Ran ran = test::heddle(words);
      EXPECT_EQ(ran.code, 2) << words[0] << ": " << ran.out << ran.err;
      EXPECT_EQ(ran.out, "") << words[0];
      EXPECT_EQ(ran.err.find("heddle: " + database_ + ": " + what), 0U) << words[0] << ": " << ran.err;
      EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
    }
    EXPECT_FALSE(fs::exists(database_ + "-wal"));
    EXPECT_FALSE(fs::exists(database_ + "-journal"));
  }

  Scratch scratch_;
  std::string file_;
  std::string database_;
  std::string good_;
};

TEST_F(DamagedDatabase, CutShort) {
  for (const double share : {0.3, 0.6, 0.95}) {
    expect_refused(good_.substr(0, static_cast<std::size_t>(static_cast<double>(good_.size()) * share)),
                   "the database is damaged: ");
  }
  expect_refused(good_.substr(0, 50), "the database is damaged: ");
}

TEST_F(DamagedDatabase, OverwrittenInPart) {
  // Heads of pages of tables and indices (SQLite's file format, 1.6: their first byte), as if the disk had lost them.
  constexpr std::size_t kPage = 4096;
  std::size_t pages = 0;
  for (std::size_t at = kPage; at < good_.size() && pages < 4; at += kPage) {
    const char kind = good_[at];
    if (kind == 2 || kind == 5 || kind == 10 || kind == 13) {
      std::string text = good_;
      SCOPED_TRACE(at / kPage);
      expect_refused(text.replace(at, 100, 100, '\0'), "the database is damaged: ");
      ++pages;
    }
  }
  EXPECT_EQ(pages, 4U);
  // What SQLite has no means to see: a part of a text.
  std::string json = good_;
  const std::size_t counter = json.find("\"gpu.noc\"");
  ASSERT_NE(counter, std::string::npos);
  expect_refused(json.replace(counter, 100, 100, '\0'), "the database is damaged: row ");
  std::string text = good_;
  expect_refused(text.replace(0, 16, "SQLite format 2\0", 16), "this is no database: ");
}

TEST_F(DamagedDatabase, SaysWhatToDo) {
  std::ofstream(database_, std::ios::binary | std::ios::trunc) << good_.substr(0, good_.size() / 2);
  EXPECT_NE(test::heddle({"results", database_})
                .err.find("; restore a copy of it, or save what can be read (sqlite3 OLD .recover | sqlite3 NEW)\n"),
            std::string::npos);
}

TEST_F(DamagedDatabase, RobbedOfAPartThatSqliteDoesNotMiss) {
  const auto change = [&](const std::string& statements) {
    std::ofstream(database_, std::ios::binary | std::ios::trunc) << good_;
    Database database(database_, Database::Mode::write);
    database.run(statements);
  };
  change("DROP TABLE axes");
  expect_refused("the database is damaged: the table 'axes' is missing; ");
  change("DROP VIEW results");
  expect_refused("the database is damaged: the table 'results' is missing; ");
  change("ALTER TABLE runs RENAME COLUMN modules TO nodules");
  expect_refused("the database is damaged: the table 'runs' has no 'modules'; ");
  change("UPDATE runs SET status = 'dome' WHERE id = 3");
  expect_refused("the database is damaged: row 3 of 'runs' has the status 'dome'; ");
}

TEST_F(DamagedDatabase, AWholeOneIsNot) {
  EXPECT_EQ(test::heddle({"results", database_}).code, 0);
  EXPECT_NE(test::heddle({"sweep", file_, "-d", database_}).out.find("8 of them kept"), std::string::npos);
}

}  // namespace
}  // namespace heddle::studies
