// Alignments that casts promise, in LLVM's intermediate text and in what is compiled of CUDA files.
#include "cuda/compiler/cast_alignment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/compiler/cuda_compiler.hpp"
#include "tests/support/launch_folder.hpp"

namespace heddle::cuda {
namespace {

using test::LaunchFolder;
using ::testing::HasSubstr;
using ::testing::Not;

// A copy of a structure between a place in @tile, which counts on multiples of 2, and one that has come from elsewhere.
std::string copy(const std::string& structure, const std::string& to_alignment, const std::string& from_alignment,
                 const std::string& tile_alignment) {
  return "@tile = internal addrspace(3) global [64 x [40 x i16]] undef, align " + tile_alignment +
         "\n"
         "define void @k(i16* %0, i64 %1) {\n"
         "  %3 = alloca i16*, align 8\n"
         "  %4 = load i16*, i16** %3, align 8\n"
         "  %5 = getelementptr inbounds i16, i16* %4, i64 %1, !dbg !5\n"
         "  %6 = bitcast i16* %5 to " +
         structure +
         "*, !dbg !5\n"
         "  %7 = getelementptr inbounds [64 x [40 x i16]], [64 x [40 x i16]]* addrspacecast ([64 x [40 x i16]] "
         "addrspace(3)* @tile to [64 x [40 x i16]]*), i64 0, i64 %1\n"
         "  %8 = getelementptr inbounds [40 x i16], [40 x i16]* %7, i64 0, i64 %1\n"
         "  %9 = bitcast i16* %8 to " +
         structure +
         "*\n"
         "  %10 = getelementptr inbounds " +
         structure + ", " + structure +
         "* %9, i64 0\n"
         "  %11 = bitcast " +
         structure +
         "* %10 to i8*\n"
         "  %12 = bitcast " +
         structure +
         "* %6 to i8*\n"
         "  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align " +
         to_alignment + " %11, i8* align " + from_alignment +
         " %12, i64 16, i1 false), !dbg !6\n"
         "  ret void\n}\n";
}

TEST(CastAlignment, OfCudasVectorsIsTheirs) {
  EXPECT_EQ(with_cast_alignments(copy("%struct.float4", "2", "16", "2")), copy("%struct.float4", "16", "16", "16"));
  EXPECT_EQ(with_cast_alignments(copy("%struct.int2", "2", "8", "16")), copy("%struct.int2", "8", "8", "16"));
  EXPECT_EQ(with_cast_alignments(copy("%struct.uint3", "2", "4", "2")), copy("%struct.uint3", "4", "4", "4"));
}

// Of another structure it is known by its other copies alone.
TEST(CastAlignment, OfOtherStructuresIsThatOfOtherCopies) {
  EXPECT_EQ(with_cast_alignments(copy("%struct.Pack", "2", "16", "2")), copy("%struct.Pack", "16", "16", "16"));
  EXPECT_EQ(with_cast_alignments(copy("%\"struct.a::Pack.7\"", "2", "4", "2")),
            copy("%\"struct.a::Pack.7\"", "4", "4", "4"));
  EXPECT_EQ(with_cast_alignments(copy("%struct.Pack", "2", "2", "2")), copy("%struct.Pack", "2", "2", "2"));
}

std::string accesses(const std::string& first, const std::string& load, const std::string& store,
                     const std::string& local) {
  return "define void @k(i8* %0, i64 %1) {\n"
         "  %3 = alloca [64 x i8], align " +
         local +
         "\n"
         "  %4 = getelementptr inbounds [64 x i8], [64 x i8]* %3, i64 0, i64 %1\n"
         "  %5 = bitcast i8* " +
         first +
         " to i32*\n"
         "  %6 = load i32, i32* %5, align " +
         load +
         ", !tbaa !2\n"
         "  %7 = bitcast i8* %4 to double*\n"
         "  store double 0.0, double* %7, align " +
         store + "\n  ret void\n}\n";
}

TEST(CastAlignment, OfWordsIsTheirSize) {
  EXPECT_EQ(with_cast_alignments(accesses("%4", "1", "1", "1")), accesses("%4", "4", "8", "8"));
  // A pointer that has come from elsewhere may be of a type whose alignment is less.
  EXPECT_EQ(with_cast_alignments(accesses("%0", "1", "1", "16")), accesses("%0", "1", "8", "16"));
}

TEST(CastAlignment, StaysWhereNothingIsCast) {
  for (const std::string line :
       {"  %5 = load volatile i32, i32* %4, align 1\n", "  %5 = load i32, ptr %4, align 1\n",
        "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 @a, ptr align 16 %b, i64 16, i1 false)\n",
        // Parts of a structure that is packed.
        "  %4 = getelementptr inbounds %p, %p* @packed, i32 0, i32 1\n  %5 = load i32, i32* %4, align 1\n"}) {
    const std::string text = "@packed = global %p zeroinitializer, align 1\ndefine void @k() {\n" + line + "}\n";
    EXPECT_EQ(with_cast_alignments(text), text);
  }
  EXPECT_EQ(with_cast_alignments(""), "");
}

TEST(CastAlignment, IsLookedForWhereAccessesAreNarrow) {
  const auto narrow = [](const std::string& line) {
    return has_narrow_accesses("define void @k() {\n" + line + "}\n");
  };
  EXPECT_TRUE(narrow("  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 2 %1, i8* align 16 %2, i64 16, i1 false)\n"));
  EXPECT_TRUE(narrow("  %5 = load i32, i32* %4, align 2, !tbaa !2\n"));
  EXPECT_TRUE(narrow("  store double %1, double* %4, align 4\n"));
  EXPECT_FALSE(narrow("  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 16 %1, i8* align 16 %2, i64 16, i1 false)\n"));
  EXPECT_FALSE(narrow("  %5 = load i32, i32* %4, align 4\n"));
  EXPECT_FALSE(narrow("  %5 = load i8, i8* %4, align 1\n"));
}

// As nvcc 13.0: tiles of floats and halves are filled and read by 16 bytes, fragments of halves by words.
TEST(DeviceCode, CastsPromiseTheirAlignment) {
  const LaunchFolder folder;
  folder.write("k.cu", R"(
#define K extern "C" __global__ void
#define FLOAT4(x) (reinterpret_cast<float4*>(&(x))[0])
struct __align__(16) Pack { short v[8]; };
K filled(const float* a, float* b) {
  __shared__ float s[64][68];
  FLOAT4(s[threadIdx.x / 4][threadIdx.x % 4 * 4]) = reinterpret_cast<const float4*>(a)[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = s[63 - threadIdx.x][threadIdx.x];
}
K registers(const float* a, float* b) {
  __shared__ float s[1024];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  float r[8];
#pragma unroll
  for (int i = 0; i < 8; i += 4) FLOAT4(r[i]) = FLOAT4(s[threadIdx.x * 8 + i]);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) sum += r[i] * i;
  b[threadIdx.x] = sum;
}
K packs(const short* a, Pack* b) {
  __shared__ short s[64][40];
  *(Pack*)&s[threadIdx.x][threadIdx.x % 4 * 8] = *(const Pack*)&a[threadIdx.x * 8];
  __syncthreads();
  b[threadIdx.x] = *(Pack*)&s[63 - threadIdx.x][8];
}
K words(const short* a, unsigned* b) {
  __shared__ short s[2048];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = *(unsigned*)&s[2 * threadIdx.x];
}
)");
  for (const unsigned bits : {32U, 64U}) {
    const std::string ptx = compile_cuda(folder.path("k.cu"), bits);
    const auto kernel = [&](const std::string& name) {
      const std::size_t begin = ptx.find(".entry " + name + "(");
      return ptx.substr(begin, ptx.find("\n}\n", begin) - begin);
    };
    EXPECT_THAT(kernel("filled"), HasSubstr("st.shared.v4"));
    EXPECT_THAT(kernel("filled"), HasSubstr("ld.global.v4"));
    EXPECT_THAT(kernel("registers"), HasSubstr("ld.shared.v4"));
    EXPECT_THAT(kernel("registers"), Not(HasSubstr(".local")));
    EXPECT_THAT(kernel("packs"), HasSubstr("st.shared.v4"));
    EXPECT_THAT(kernel("packs"), HasSubstr("ld.shared.v4"));
    EXPECT_THAT(kernel("words"), HasSubstr("ld.shared.u32"));
    EXPECT_THAT(kernel("words"), Not(HasSubstr("ld.shared.u16")));
    EXPECT_THAT(kernel("words"), HasSubstr(".shared .align 4 "));
  }
}

}  // namespace
}  // namespace heddle::cuda
