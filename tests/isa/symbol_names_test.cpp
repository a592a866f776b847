// Names in PTX against names in the source: what find_named takes for equal, and what it keeps apart.
#include "isa/symbol_names.hpp"

#include <gmock/gmock.h>

namespace heddle::isa {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kNames = {
    "_Z7prescanILb1ELb0EEvPfPKfS0_iii",  // 0: void prescan<true, false>(float*, float const*, ...)
    "_Z7prescanILb0ELb0EEvPfPKfS0_iii",  // 1
    "_Z6reduceIfLj256EEvPT_PKS0_j",      // 2: void reduce<float, 256u>(float*, float const*, unsigned int)
    "_Z6reduceIdLj256EEvPT_PKS0_j",      // 3
    "plain",                             // 4: extern "C"
    "_ZN6filter5scaleEPfi",              // 5: filter::scale(float*, int)
    "_ZN5other5scaleEPfi",               // 6
    "_ZN12_GLOBAL__N_15localEPyl",       // 7: (anonymous namespace)::local(unsigned long long*, long)
    "_Z4sizei",                          // 8: size(int)
    "_Z4sizef",                          // 9
    "_Z3runILs5ELc65EEvv",               // 10: void run<(short)5, (char)65>()
    "_Z4listISt4pairIiPKcEEvv",          // 11: void list<std::pair<int, char const*> >()
    "_Znonsense",                        // 12
    "_Z4onceILi3EEvv",                   // 13
};

std::vector<std::size_t> found(const char* wanted) {
  return find_named(kNames, wanted);
}

TEST(SymbolNames, TemplateArgumentsTellInstancesApart) {
  EXPECT_THAT(found("prescan<true, false>"), ElementsAre(0));
  EXPECT_THAT(found("prescan<true,false>"), ElementsAre(0));
  EXPECT_THAT(found(" void prescan < false , false >"), ElementsAre(1));
  EXPECT_THAT(found("prescan<true, true>"), IsEmpty());
  EXPECT_THAT(found("prescan"), ElementsAre(0, 1)) << "which of them?";
  EXPECT_THAT(found("once"), ElementsAre(13));
  EXPECT_THAT(found("_Z7prescanILb1ELb0EEvPfPKfS0_iii"), ElementsAre(0));
}

TEST(SymbolNames, LiteralsAndTypesAreComparedByTheirMeaning) {
  EXPECT_THAT(found("reduce<float, 256>"), ElementsAre(2));
  EXPECT_THAT(found("reduce<double, 256u>"), ElementsAre(3));
  EXPECT_THAT(found("reduce<float, 255>"), IsEmpty());
  EXPECT_THAT(found("reduce<float, 256>(float*, const float*, unsigned)"), ElementsAre(2));
  EXPECT_THAT(found("reduce<float, 256>(float*, float*, unsigned)"), IsEmpty());
  EXPECT_THAT(found("run<5, 65>"), ElementsAre(10));
  EXPECT_THAT(found("run<(short)5, (char)65>"), ElementsAre(10));
  EXPECT_THAT(found("run<5, 66>"), IsEmpty());
  EXPECT_THAT(found("list<std::pair<int, const char*>>"), ElementsAre(11));
  EXPECT_THAT(found("list<std::pair<int, char*>>"), IsEmpty());
  EXPECT_THAT(found("size(int)"), ElementsAre(8));
  EXPECT_THAT(found("size"), ElementsAre(8, 9));
}

TEST(SymbolNames, NamespacesMayBeLeftOutWhereOnlyOneFits) {
  EXPECT_THAT(found("filter::scale"), ElementsAre(5));
  EXPECT_THAT(found("filter::scale(float*, int)"), ElementsAre(5));
  EXPECT_THAT(found("scale"), ElementsAre(5, 6));
  EXPECT_THAT(found("local"), ElementsAre(7));
  EXPECT_THAT(found("(anonymous namespace)::local"), ElementsAre(7));
  EXPECT_THAT(found("(anonymous namespace)::local(unsigned long long*, long int)"), ElementsAre(7));
  EXPECT_THAT(found("anything::local"), IsEmpty());
}

TEST(SymbolNames, ANameInPtxGoesBeforeAllOthers) {
  const std::vector<std::string> names = {"_Z1kv", "k"};
  EXPECT_THAT(find_named(names, "k"), ElementsAre(1));
  EXPECT_THAT(find_named(names, "k()"), ElementsAre(0));
  EXPECT_THAT(find_named(names, ""), IsEmpty());
}

TEST(SymbolNames, OddTextsAreNoNames) {
  for (const char* text : {"<", ">", "(", ")", "k(", "prescan<true", "prescan<<<>>>", "a<b(c>d)", "::", ",",
                           "prescan<>", "_Z", "plain plain", "const"}) {
    EXPECT_THAT(found(text), IsEmpty()) << text;
  }
  EXPECT_THAT(found((std::string(5000, '<') + "x" + std::string(5000, '>')).c_str()), IsEmpty());
  EXPECT_THAT(found(std::string(100000, 'x').c_str()), IsEmpty());
  EXPECT_THAT(found("_Znonsense"), ElementsAre(12));
}

TEST(SymbolNames, AreListedAsTheSourceHasThem) {
  EXPECT_EQ(source_name(kNames[0]), "prescan<true, false>");
  EXPECT_EQ(source_name(kNames[8], true), "size(int)");
  EXPECT_EQ(source_name("plain"), "plain");
  EXPECT_THAT(listed_names(std::vector<std::string>{"_Z4sizei", "_Z4sizef", "plain"}),
              ElementsAre("size(int)", "size(float)", "plain"));
}

TEST(SymbolNames, VariablesAreFoundToo) {
  Module module;
  for (const char* name : {"_ZN6filter12coefficientsE", "_ZL5table", "counter", "kernel.local"}) {
    module.variables.emplace_back().name = name;
  }
  EXPECT_EQ(find_variable(module, "filter::coefficients"), module.variables.data());
  EXPECT_EQ(find_variable(module, "coefficients"), module.variables.data());
  EXPECT_EQ(find_variable(module, "table"), module.variables.data() + 1);
  EXPECT_EQ(find_variable(module, "counter"), module.variables.data() + 2);
  EXPECT_EQ(find_variable(module, "kernel.local"), module.variables.data() + 3);
  EXPECT_EQ(find_variable(module, "local"), nullptr);
}

}  // namespace
}  // namespace heddle::isa
