// The pass over the text of CUDA files: whole texts, before and behind it.
#include "cuda/compiler/source_pass.hpp"

#include <gmock/gmock.h>

#include "tests/support/program_runner.hpp"

namespace heddle::cuda {
namespace {

struct PassCase {
  const char* before;
  const char* behind;  // null: as it is
};

void check_texts(std::initializer_list<PassCase> cases) {
  for (const PassCase& one : cases) {
    const std::optional<std::string> text = text_for_clang(one.before);
    EXPECT_EQ(text.has_value(), one.behind != nullptr) << one.before << "\n" << text.value_or("");
    if (text && one.behind != nullptr) {
      EXPECT_EQ(*text, one.behind) << one.before;
    }
  }
}

TEST(SourcePass, MarksOfALaunchComeTogether) {
  check_texts({{"k << <1, 4>> >(d);", "k <<< 1, 4>>> (d);"},
               {"k<<< 1, 4 > >>(d);", "k<<< 1, 4 >>> (d);"},
               {"k < < < 1, 4 > > > (d);", "k <<<   1, 4 >>>   (d);"},
               {"k <<\n<1, 4>>\n>(d);", "k <<<\n1, 4>>>\n(d);"},
               {"k << /* a > b */ <1>> // >\n >(d);", "k <<< /* a > b */ 1>>> // >\n (d);"},
               {"#define K(n) k << <n, \\\n 32 >> \\\n >(1)\n", "#define K(n) k <<< n, \\\n 32 >>> \\\n (1)\n"},
               {"a << <1>> >(b), c << <2>> >(d);", "a <<< 1>>> (b), c <<< 2>>> (d);"},
               {"k<T, 2> << <dim3(a >> 1), n >> 3>> >(x >> 2, f<g<h<int> > >(y));",
                "k<T, 2> <<< dim3(a >> 1), n >> 3>>> (x >> 2, f<g<h<int> > >(y));"},
               {"k << <1, f<g<h<int> > >(x)>> >(d);", "k <<< 1, f<g<h<int> > >(x)>>> (d);"},
               {"k << <A<B<int> >::v, s->n>> >(d);", "k <<< A<B<int> >::v, s->n>>> (d);"},
               {"k << <1, max<2>> >>(d);", "k <<< 1, max<2> >>>(d);"},
               {"k<<<1, max<2>>>>(d);", "k<<<1, max<2> >>>(d);"},
               {"k << <a < b, [&] { return c > d; }()>> >(e);", "k <<< a < b, [&] { return c > d; }()>>> (e);"}});
}

TEST(SourcePass, WhatIsNoLaunchStays) {
  check_texts({{"k<<<1, 4>>>(d); k<T><<<g, b>>>(d); k<f<g<h<int>>>><<<1, 2>>>(d);", nullptr},
               {"friend std::ostream& operator<< <T>(std::ostream&, T); a.operator<< <1>(b);", nullptr},
               {"x = a << 2 < c; y = a >> 2 > c; std::vector<std::vector<std::vector<int> > > v;", nullptr},
               {"// k << <1>> >(d)\n/* k << <1>> >(d) */ puts(\"k << <1>> >(d)\");", nullptr},
               {"auto r = R\"x(k << <1>> >(a)\" )x\"; auto l = L\"<< <\"; char c = '<'; int n = 1'000 << 2;", nullptr},
               {"#error don't << here\n", nullptr},
               {"#include <a>\n#include <b>\nint n = 1 << 2;", nullptr},
               {"", nullptr}});
  // An end of the file in the middle of everything.
  const std::string text =
      "k << <f<g>>(\"a\\\"\", R\"x(\n)x\", 'b', 1'0, .5e+3) /* c */ >> >(d); __managed__ int n[2] = {1}, m;"
      " asm(\"%laneid\" : ); #define A \\\n << <\n";
  for (std::size_t end = 0; end <= text.size(); ++end) static_cast<void>(text_for_clang(text.substr(0, end)));
}

TEST(SourcePass, RegistersInAssemblyGetASecondPercentSign) {
  check_texts({{"asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x));", "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));"},
               {"asm volatile(\"add %0, %rd3, %p;\" \"mov %1, %clock_hi;\" : \"=r\"(x) : \"r\"(y));",
                "asm volatile(\"add %0, %%rd3, %%p;\" \"mov %1, %%clock_hi;\" : \"=r\"(x) : \"r\"(y));"},
               {"__asm__ __volatile__(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));", nullptr},
               {"asm(\"mov %c0, %[name], %b[name], %=\" : \"=r\"(x));", nullptr},
               {"asm(\"mov.u32 r, %laneid;\");", nullptr},
               {"printf(\"%laneid\");", nullptr}});
}

TEST(SourcePass, AlignmentsComeBeforeAttributes) {
  check_texts({{"__shared__ alignas(16) int a;", "alignas(16) __shared__             int a;"},
               {"extern __shared__ alignas(alignof(T)) char a[];",
                "alignas(alignof(T)) extern __shared__                     char a[];"},
               {"f(); static __device__ const alignas(T<1, (2)>) T b;",
                "f(); alignas(T<1, (2)>) static __device__ const                    T b;"},
               {"__device__ __shared__ alignas(8) int a;", "alignas(8)            __shared__            int a;"},
               {"#define S __shared__ alignas(8)\nS int a;", "#define S alignas(8) __shared__           \nS int a;"},
               {"#define S __shared__\nalignas(8) int a; struct alignas(8) A {}; static alignas(8) int b;", nullptr},
               {"__shared__ alignas(8", nullptr},
               {"__shared__ int alignas(8) a;", nullptr}});
}

TEST(SourcePass, SharedVariablesAreNotTheDevicesToo) {
  check_texts({{"__device__ __shared__ int a;", "           __shared__ int a;"},
               {"static __shared__ __device__ int a;", "static __shared__            int a;"},
               {"__device__ static __shared__ int a;", "           static __shared__ int a;"},
               {"__device__ __align__(16) __shared__ int a;", "           __align__(16) __shared__ int a;"},
               {"__device__ void f(int) { __shared__ int b; }", nullptr},
               {"__global__  __device__ void k(int* a) {", "__global__             void k(int* a) {"},
               {"__device__ static inline __global__ void k();", "           static inline __global__ void k();"},
               {"__device__ void f(); __global__ void k(); __device__ void g();", nullptr},
               {"__device__ int a; __shared__ int b;", nullptr}});
}

TEST(SourcePass, ManagedVariablesAreTheDevicesAndReferences) {
  const std::string used = "namespace heddle_managed { __device__ __attribute__((used)) ";
  const auto check_one = [&](const char* before, const std::string& behind) {
    EXPECT_EQ(text_for_clang(before), behind) << before;
  };
  check_one("__managed__ int n = 3;", used + "            int n = 3; } HEDDLE_MANAGED_(n)");
  check_one("int a; static __device__ __managed__ float b[2] = {1, 2}, *c;",
            "int a; " + used +
                "static                        float b[2] = {1, 2}, *c; } HEDDLE_MANAGED_STATIC_(b) "
                "HEDDLE_MANAGED_STATIC_(c)");
  check_one(
      "extern __managed__ std::array<int, 3> v;",
      "namespace heddle_managed { __device__ extern             std::array<int, 3> v; } HEDDLE_MANAGED_EXTERN_(v)");
  check_one("#include <a>\n__managed__ __align__(8) struct S s{1, f(2, 3)}, t(4);",
            "#include <a>\n" + used +
                "            __align__(8) struct S s{1, f(2, 3)}, t(4); } HEDDLE_MANAGED_(s) "
                "HEDDLE_MANAGED_(t)");
  check_one("#define M __managed__ /* and */ \\\n __device__\nM __device__ int n;",
            "#define M __managed__ /* and */ \\\n __device__\n" + used + "             int n; } HEDDLE_MANAGED_(n)");
  check_texts({{"#ifdef A\n#define M __managed__\n#else\n#define M\n#endif\nM int n;", nullptr},
               {"#define M(n) __managed__ int n\nM(n);", nullptr},
               {"#define M __managed__ int\nM n;", nullptr},
               {"#define M\n__device__ int m; M int n;", nullptr}});
  check_texts({{"// __managed__ int n;\nconst char* s = \"__managed__ int n;\";\n#define M __managed__\n", nullptr}});
}

TEST(SourcePass, ReadsTheFilesThatAreIncluded) {
  const test::Scratch scratch;
  scratch.write("fine.h", "int fine;\n#include \"main.cu\"\n");
  std::filesystem::create_directory(scratch.path("inc"));
  scratch.write("inc/deep.h", "#include <fine.h>\n # include \"beside.h\" // again\n");
  scratch.write("inc/beside.h", "__device__ __shared__ int a;\n");
  const std::string main =
      scratch.write("main.cu", "#include \"fine.h\"\n#include <deep.h>\n#include \"none.h\"\nk << <1>> >();\n");
  const std::vector<ChangedSource> changed = sources_for_clang(main, {scratch.path("inc"), scratch.path("none")});
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0].path, main);
  EXPECT_EQ(changed[1].path, scratch.path("inc/beside.h"));
  EXPECT_EQ(changed[1].text, "           __shared__ int a;\n");
  EXPECT_TRUE(sources_for_clang(scratch.path("none.cu"), {}).empty());
}

}  // namespace
}  // namespace heddle::cuda
