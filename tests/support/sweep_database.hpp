// What a database of a sweep says, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::test {

// The first column of a query, as texts.
[[nodiscard]] std::vector<std::string> column(const std::string& database, const std::string& query);

// All that a database says of the runs, in the order of the points, but what they cost and when.
[[nodiscard]] std::vector<std::string> contents(const std::string& database);

// Runs that are there; 0 while there is no database.
[[nodiscard]] std::uint64_t rows(const std::string& database);

// Waits until there are so many, half a minute at most.
void wait_for_rows(const std::string& database, std::uint64_t wanted);

}  // namespace heddle::test
