#include "ptx/parse/lexer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace heddle::ptx {
namespace {

using TokenKind = Token::Kind;

std::vector<Token> lex(std::string_view text) {
  static const std::string file = "t.ptx";
  Lexer lexer(text, file);
  std::vector<Token> tokens;
  for (Token token = lexer.next(); token.kind != TokenKind::end; token = lexer.next()) {
    tokens.push_back(token);
  }
  return tokens;
}

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> out;
  for (const Token& token : lex(text)) {
    out.emplace_back(token.text);
  }
  return out;
}

std::string lexer_error(std::string_view text) {
  try {
    lex(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Lexer, SplitsAnInstruction) {
  const auto tokens = lex("@!%p1 ld.global.L2::128B.v2.u32 {%r1,_}, [%rd2+-8];");
  ASSERT_EQ(tokens.size(), 21U);
  EXPECT_TRUE(tokens[0].punctuation("@"));
  EXPECT_TRUE(tokens[2].is(TokenKind::identifier, "%p1"));
  EXPECT_TRUE(tokens[3].is(TokenKind::identifier, "ld"));
  EXPECT_TRUE(tokens[4].dotted("global"));
  EXPECT_TRUE(tokens[5].dotted("L2::128B"));
  EXPECT_TRUE(tokens[6].dotted("v2"));
  EXPECT_TRUE(tokens[11].is(TokenKind::identifier, "_"));
  EXPECT_TRUE(tokens[16].punctuation("+"));
  EXPECT_TRUE(tokens[17].punctuation("-"));
  EXPECT_TRUE(tokens[18].is(TokenKind::integer, "8"));
}

TEST(Lexer, CountsLinesAndColumnsThroughCommentsAndLineEnds) {
  const auto tokens = lex("a\r\n  /* x\n y */ b // c\n\td");
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_EQ(tokens[0].line, 1U);
  EXPECT_EQ(tokens[0].column, 1U);
  EXPECT_EQ(tokens[1].line, 3U);
  EXPECT_EQ(tokens[1].column, 7U);
  EXPECT_EQ(tokens[2].line, 4U);
  EXPECT_EQ(tokens[2].column, 2U);
}

TEST(Lexer, KnowsTheFormsOfNumbers) {
  const auto kinds = [](std::string_view text) {
    const auto tokens = lex(text);
    return tokens.size() == 1 ? tokens[0].kind : TokenKind::end;
  };
  for (const auto* text : {"0", "12", "12U", "0x1F", "0xffU", "017", "0b101"}) {
    EXPECT_EQ(kinds(text), TokenKind::integer) << text;
  }
  for (const auto* text : {"1.5", "1.", "1e5", "1.5e-3", "1.e+3", "0f3F800000", "0F3f800000", "0d3FF0000000000000"}) {
    EXPECT_EQ(kinds(text), TokenKind::real) << text;
  }
}

TEST(Lexer, NamesMayHoldDollarsUnderscoresAndBeginWithPercent) {
  EXPECT_THAT(texts("$L__BB0_1 _Z1fv %r<13> a$b _"),
              ElementsAre("$L__BB0_1", "_Z1fv", "%r", "<", "13", ">", "a$b", "_"));
}

TEST(Lexer, PercentNotBeforeAWordIsAnOperator) {
  EXPECT_THAT(texts("7 % 3"), ElementsAre("7", "%", "3"));
}

TEST(Lexer, SplitGoesBackBehindThePercent) {
  const std::string file = "t.ptx";
  Lexer lexer("7\n %31", file);
  lexer.next();
  const Token name = lexer.next();
  ASSERT_TRUE(name.is(TokenKind::identifier, "%31"));
  lexer.split(name);
  const Token number = lexer.next();
  EXPECT_TRUE(number.is(TokenKind::integer, "31"));
  EXPECT_EQ(number.line, 2U);
  EXPECT_EQ(number.column, 3U);
}

TEST(Lexer, LongOperatorsAreOneToken) {
  EXPECT_THAT(texts("<<>><=>===!=&&|| <>"), ElementsAre("<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">"));
}

TEST(Lexer, StringsKeepTheirEscapes) {
  const auto tokens = lex(R"("a\"b" "")");
  ASSERT_EQ(tokens.size(), 2U);
  EXPECT_EQ(tokens[0].text, R"(a\"b)");
  EXPECT_EQ(tokens[1].text, "");
}

TEST(Lexer, AnyByteMayStandInComments) {
  EXPECT_THAT(texts(std::string_view("a // \0\xff\n b /* \0\x80 */ c", 21)), ElementsAre("a", "b", "c"));
}

TEST(Lexer, RefusesWhatIsNoPtx) {
  EXPECT_THAT(lexer_error("a\n /* b"), StartsWith("t.ptx:2:2: this comment is never closed"));
  EXPECT_THAT(lexer_error("\"a\n\""), StartsWith("t.ptx:1:1: this string is never closed"));
  EXPECT_THAT(lexer_error("\"a\\"), StartsWith("t.ptx:1:1: this string is never closed"));
  EXPECT_THAT(lexer_error(std::string_view("ab\0c", 4)), StartsWith("t.ptx:1:3: the byte 0x00 is not a part of PTX"));
  EXPECT_THAT(lexer_error("\xc3\xa4"), StartsWith("t.ptx:1:1: the byte 0xC3"));
  EXPECT_THAT(lexer_error("#line 1"), HasSubstr("preprocess the text first"));
  EXPECT_THAT(lexer_error("a `"), StartsWith("t.ptx:1:3: '`' is not a part of PTX"));
  EXPECT_THAT(lexer_error("add..u32"), StartsWith("t.ptx:1:4: a name must follow '.'"));
  EXPECT_THAT(lexer_error("$ a"), StartsWith("t.ptx:1:1: '$' alone is no name"));
  EXPECT_THAT(lexer_error("0f3F80000"), StartsWith("t.ptx:1:1: '0f3F80000' is not a number; write 0f and 8"));
  EXPECT_THAT(lexer_error("0f3F8000000"), StartsWith("t.ptx:1:1: '0f3F8000000' is not a number"));
  EXPECT_THAT(lexer_error("0d3FF"), StartsWith("t.ptx:1:1: '0d3FF' is not a number"));
  EXPECT_THAT(lexer_error("0x"), HasSubstr("hexadecimal digits must follow 0x"));
  EXPECT_THAT(lexer_error("0b2"), HasSubstr("binary digits must follow 0b"));
  EXPECT_THAT(lexer_error("1e+"), HasSubstr("digits must follow the exponent's e"));
  EXPECT_THAT(lexer_error("12abc"), StartsWith("t.ptx:1:1: '12abc' is not a number; separate"));
}

TEST(Lexer, DescribesTokensSafely) {
  EXPECT_EQ(lex("\"\x01\"")[0].describe(), "the string \"?\"");
  EXPECT_EQ(lex(std::string(100, 'a'))[0].describe(), "'" + std::string(40, 'a') + "...'");
  EXPECT_EQ(lex(".v2")[0].describe(), "'.v2'");
}

}  // namespace
}  // namespace heddle::ptx
