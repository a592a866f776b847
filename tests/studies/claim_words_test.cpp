// The words of the claims hold no measured figures: the rule of ClaimText (studies/reproduce/claim.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/reproduce.hpp"

namespace heddle::studies {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

struct Number {
  std::string digits;  // "0.84", "1,024", "ten"
  std::string before;  // the word before it
  std::string after;   // what follows it, blanks left out
  bool glued = false;  // to what follows: "0.84x", "2lev-avg"
  bool spelled = false;
};

bool spelled_number(std::string_view word) {
  constexpr std::array<std::string_view, 12> kWords = {"two",   "three", "four", "five",   "six",    "seven",
                                                       "eight", "nine",  "ten",  "eleven", "twelve", "twenty"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

std::vector<Number> numbers_of(const std::string& text) {
  std::vector<Number> out;
  std::string word;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t end = at + 1;
    if (is_letter(c)) {
      while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]) || text[end] == '_')) {
        ++end;
      }
    } else if (is_digit(c)) {
      const auto more = [&] {
        return end < text.size() && (is_digit(text[end]) || ((text[end] == '.' || text[end] == ',') &&
                                                             end + 1 < text.size() && is_digit(text[end + 1])));
      };
      while (more()) {
        ++end;
      }
    } else {
      ++at;
      continue;
    }
    const std::string token = text.substr(at, end - at);
    if (is_digit(c) || spelled_number(token)) {
      Number number{token, word, "", end < text.size() && is_letter(text[end]), !is_digit(c)};
      const std::size_t next = text.find_first_not_of(' ', end);
      number.after = next == std::string::npos ? "" : text.substr(next);
      out.push_back(std::move(number));
    }
    word = token;
    at = end;
  }
  return out;
}

bool has_unit(const Number& number) {
  constexpr std::array<std::string_view, 12> kUnits = {"%",      "per cent", "percent", "times",        "cycle",
                                                       "cycles", "points",   "point",   "instructions", "lanes",
                                                       "lane",   "million"};
  const auto is_word = [&](std::string_view unit) {
    return number.after.starts_with(unit) &&
           (number.after.size() == unit.size() || !is_letter(number.after[unit.size()]));
  };
  return number.glued ? is_word("x") : std::any_of(kUnits.begin(), kUnits.end(), is_word);
}

// "0.84", but not the "8.2" of "section 8.2", nor "8.2.1".
bool is_decimal(const Number& number) {
  constexpr std::array<std::string_view, 6> kPlaces = {"section", "sections", "figure", "figures", "table", "chapter"};
  return std::count(number.digits.begin(), number.digits.end(), '.') == 1 &&
         std::find(kPlaces.begin(), kPlaces.end(), number.before) == kPlaces.end();
}

// The figures in a claim's words that nothing renews: in the form in which they stand there, up to the unit.
std::vector<std::string> figures_of_our_own(const ClaimText& claim) {
  std::set<std::string> allowed;
  std::vector<std::string> sources = claim.given;
  sources.insert(sources.end(), {claim.statement, claim.paper});
  for (const std::string& source : sources) {
    for (const Number& number : numbers_of(source)) {
      allowed.insert(number.digits);
    }
  }
  std::vector<std::string> out;
  for (const std::string& words : {claim.note, claim.beside_note, claim.caveat}) {
    for (const Number& number : numbers_of(words)) {
      if ((has_unit(number) || (is_decimal(number) && !number.spelled)) && allowed.count(number.digits) == 0) {
        out.push_back(number.digits + " " + number.after.substr(0, number.after.find(' ')));
      }
    }
  }
  return out;
}

TEST(ClaimWords, AMeasuredFigureIsFound) {
  using Figures = std::vector<std::string>;
  const auto of = [](const std::string& note) {
    ClaimText claim;
    claim.statement = "It gains 7.6 %";
    claim.paper = "+8 %";
    claim.note = note;
    claim.given = {"20 cycles"};
    return figures_of_our_own(claim);
  };
  EXPECT_EQ(of("It idles for 29 % at full size."), Figures{"29 %"});
  EXPECT_EQ(of("hits fall from 93 to 71 %"), Figures{"71 %"});
  EXPECT_EQ(of("it comes to 0.84x, then to 0.98"), (Figures{"0.84 x,", "0.98 "}));
  EXPECT_EQ(of("2,857 instructions apart; 1.05 before; three times"),
            (Figures{"2,857 instructions", "1.05 before;", "three times"}));
  EXPECT_EQ(of("a third of 31 lanes, 5 points less, 773 cycles, 44 million, 2 per cent"),
            (Figures{"31 lanes,", "5 points", "773 cycles,", "44 million,", "2 per"}));
  EXPECT_EQ(of("7.6 % of the paper's 8 %, every 20 cycles"), Figures{});
  EXPECT_EQ(of("32 warps with 2 x 16 threads, 4 KB, 16 GB/s, see 2lev-avg, section 8.2, thesis 8.2.1, 2Lev8"),
            Figures{});
  ClaimText others;
  others.beside_note = "by 3 %";
  others.caveat = "by 4 %";
  EXPECT_EQ(figures_of_our_own(others), (Figures{"3 %", "4 %"}));
}

TEST(ClaimWords, OfAllClaimsHaveNone) {
  for (const std::string& id : claim_ids()) {
    const ClaimText text = Registry<Claim>::instance().make(id, {})->text();
    EXPECT_EQ(figures_of_our_own(text), std::vector<std::string>{}) << id;
  }
}

// What is given and not named would let a measured figure of that number pass.
TEST(ClaimWords, NameEveryFigureThatIsGiven) {
  for (const std::string& id : claim_ids()) {
    const ClaimText text = Registry<Claim>::instance().make(id, {})->text();
    for (const std::string& given : text.given) {
      EXPECT_NE((text.note + " " + text.beside_note + " " + text.caveat).find(given), std::string::npos)
          << id << ": " << given;
    }
  }
}

}  // namespace
}  // namespace heddle::studies
