// Copies of 8 bytes beside words of the same 16 bytes, in LLVM's intermediate text.
#include "cuda/compiler/copied_words.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::cuda {
namespace {

std::string in_function(const std::string& body) {
  return "define void @k(ptr %p, ptr %q) {\n" + body + "  ret void\n}\n";
}

// The first half of 16 bytes is copied, the third word is stored.
TEST(CopiedWords, BesideAWordAreTwo) {
  EXPECT_EQ(with_copied_words("define void @k(%v* %0, %v* %1, i64 %2) {\n"
                              "  %4 = getelementptr inbounds %v, %v* %0, i64 %2, !dbg !5\n"
                              "  %5 = bitcast %v* %4 to i64*, !dbg !5\n"
                              "  %6 = load i64, i64* %5, align 16, !dbg !5, !tbaa !9\n"
                              "  %7 = getelementptr inbounds %v, %v* %1, i64 %2, !dbg !6\n"
                              "  %8 = bitcast %v* %7 to i64*\n"
                              "  store i64 %6, i64* %8, align 16, !dbg !6\n"
                              "  %9 = getelementptr inbounds %v, %v* %1, i64 %2, i32 2\n"
                              "  store i32 3, i32* %9, align 8\n"
                              "  ret void\n\n"
                              "; uselistorder directives\n"
                              "  uselistorder i64 %2, { 2, 1, 0 }\n"
                              "}\n"
                              "uselistorder i32 3, { 1, 0 }\n"),
            "define void @k(%v* %0, %v* %1, i64 %2) {\n"
            "  %4 = getelementptr inbounds %v, %v* %0, i64 %2, !dbg !5\n"
            "  %5 = bitcast %v* %4 to i64*, !dbg !5\n"
            "  %heddle.words.0.low = bitcast i64* %5 to i32*, !dbg !5\n"
            "  %heddle.words.0.high = getelementptr inbounds i32, i32* %heddle.words.0.low, i64 1, !dbg !5\n"
            "  %heddle.word.0.a = load i32, i32* %heddle.words.0.low, align 16, !dbg !5\n"
            "  %heddle.word.0.b = load i32, i32* %heddle.words.0.high, align 4, !dbg !5\n"
            "  %6 = zext i32 %heddle.word.0.a to i64, !dbg !5\n"
            "  %7 = getelementptr inbounds %v, %v* %1, i64 %2, !dbg !6\n"
            "  %8 = bitcast %v* %7 to i64*\n"
            "  %heddle.words.1.low = bitcast i64* %8 to i32*, !dbg !6\n"
            "  %heddle.words.1.high = getelementptr inbounds i32, i32* %heddle.words.1.low, i64 1, !dbg !6\n"
            "  store i32 %heddle.word.0.a, i32* %heddle.words.1.low, align 16, !dbg !6\n"
            "  store i32 %heddle.word.0.b, i32* %heddle.words.1.high, align 4, !dbg !6\n"
            "  %9 = getelementptr inbounds %v, %v* %1, i64 %2, i32 2\n"
            "  store i32 3, i32* %9, align 8\n"
            "  ret void\n\n"
            "; uselistorder directives\n"
            "}\n");
}

TEST(CopiedWords, OfTheSecondHalfAndOpaquePointers) {
  EXPECT_EQ(with_copied_words(in_function("  %z = getelementptr inbounds %v, ptr %p, i64 0, i32 2\n"
                                          "  %x = load float, ptr %p, align 16\n"
                                          "  %zw = load i64, ptr %z, align 8\n"
                                          "  store i64 %zw, ptr %q, align 8\n"
                                          "  store float %x, ptr %q, align 4\n")),
            in_function("  %z = getelementptr inbounds %v, ptr %p, i64 0, i32 2\n"
                        "  %x = load float, ptr %p, align 16\n"
                        "  %heddle.words.0.high = getelementptr inbounds i32, ptr %z, i64 1\n"
                        "  %heddle.word.0.a = load i32, ptr %z, align 8\n"
                        "  %heddle.word.0.b = load i32, ptr %heddle.words.0.high, align 4\n"
                        "  %zw = zext i32 %heddle.word.0.a to i64\n"
                        "  %heddle.words.1.high = getelementptr inbounds i32, ptr %q, i64 1\n"
                        "  store i32 %heddle.word.0.a, ptr %q, align 8\n"
                        "  store i32 %heddle.word.0.b, ptr %heddle.words.1.high, align 4\n"
                        "  store float %x, ptr %q, align 4\n"));
}

TEST(CopiedWords, LeavesTheOthers) {
  const std::string load = "  %v = load i64, ptr %p, align 16\n", store = "  store i64 %v, ptr %q, align 16\n";
  const std::string z = "  %z = getelementptr inbounds %four, ptr %q, i64 0, i32 2\n";
  const std::string word = "  store i32 3, ptr %z, align 8\n";
  EXPECT_NE(with_copied_words(in_function(z + load + store + word)), in_function(z + load + store + word));
  for (const std::string& body : {
           load + store,                                                // no word
           z + load + store + "  store i32 3, ptr %z, align 4\n",       // not known to be a third
           z + load + store + "  store double 3.0, ptr %z, align 8\n",  // no word either
           z + load + store + word + "  %s = add i64 %v, 1\n",          // no copy alone
           z + load + store + word + "  call void @f(i64 %v)\n",        // nor here
           z + load + store + word + "  store i64 7, ptr %v.1, align 8\n" + "  store i64 %v, ptr %q, align 4\n",
           z + load + "  store volatile i64 %v, ptr %q, align 16\n" + word,                       // volatile memory
           "  %v = load atomic i64, ptr %p monotonic, align 16\n" + z + store + word,             // an atomic access
           "  %z = getelementptr inbounds i32, ptr %q, i64 %i, i64 %j\n" + load + store + word,   // anywhere
           "  %z = getelementptr inbounds %four, ptr %q, i64 %i, i32 2\n" + load + store + word,  // another element
       }) {
    EXPECT_EQ(with_copied_words(in_function(body)), in_function(body));
  }
  const std::string longer = "  store i64 %v, ptr %" + std::string(1000000, 'q') + ", align 16\n";
  EXPECT_EQ(with_copied_words(in_function(z + load + longer + word)), in_function(z + load + longer + word));
  EXPECT_EQ(with_copied_words(""), "");
  EXPECT_EQ(with_copied_words("define void @k(\n  %v = load"), "define void @k(\n  %v = load");
}

}  // namespace
}  // namespace heddle::cuda
