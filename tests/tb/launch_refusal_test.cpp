// What a LAUNCH.toml may not say, and how it is told: file, line, column, key, and what to write instead.
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "tests/support/launch_folder.hpp"

namespace heddle::tb {
namespace {

using test::LaunchFolder;

constexpr const char* kKernel = R"(.version 6.0
.target sm_60
.address_size 32
.visible .entry scale(.param .u32 scale_data, .param .f32 scale_by, .param .u16 scale_count) { ret; }
.const .align 4 .b8 _ZN5table7weightsE[16];
.global .u32 _ZN1a5totalE;
.global .u32 _ZN1b5totalE;
.visible .entry _Z8instanceILi1EEvv() { ret; }
.visible .entry _Z8instanceILi4EEvv() { ret; }
.visible .entry structure(.param .align 4 .b8 structure_s[12]) { ret; }
)";
// Line 1; the rest of a case begins in line 2.
constexpr const char* kSource = "ptx = \"k.ptx\"\n";
constexpr const char* kBuffer = "[[buffer]]\nname = \"data\"\ntype = \"f32\"\ncount = 8\n";  // lines 2 to 5
constexpr const char* kLaunch = "[[launch]]\nentry = \"scale\"\ngrid = [1]\nblock = [32]\n";

struct RefusalCase {
  std::string text;      // the whole file
  std::string expected;  // start of the message
};

std::string refused(const std::string& text) {
  const LaunchFolder folder;
  folder.write("k.ptx", kKernel);
  folder.write("six.bin", "123456");
  folder.write("launch.toml", text);
  return folder.refusal([&] { static_cast<void>(LaunchFile::read(folder.path("launch.toml"))); });
}

void expect_refusals(const std::vector<RefusalCase>& cases) {
  for (const RefusalCase& each : cases) {
    const std::string message = refused(each.text);
    EXPECT_EQ(message.substr(0, each.expected.size()), each.expected) << each.text << "\nsays: " << message;
  }
}

const std::string kTop = kSource;
const std::string kData = kTop + kBuffer;
const std::string kGood = kData + kLaunch + "arguments = [{ buffer = \"data\" }, { f32 = 2 }, { u16 = 8 }]\n";

TEST(LaunchRefusal, TheGoodFileIsAccepted) {
  EXPECT_EQ(refused(kGood), "");
}

std::string many_parts(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) {
    key += ".a";
  }
  return key;
}

TEST(LaunchRefusal, OfTheFileItself) {
  expect_refusals({
      {"ptx = \n", "launch.toml:1:"},
      {"", "launch.toml: there is neither 'cuda' nor 'ptx'; name one file"},
      {"cuda = \"k.ptx\"\nptx = \"k.ptx\"\n", "launch.toml:2:7: there are both 'cuda' and 'ptx'"},
      {"ptx = \"nothing.ptx\"\n", "launch.toml:1:7: 'ptx' of the launch file: cannot read the file 'nothing.ptx'"},
      {"ptx = 3\n", "launch.toml:1:7: 'ptx' of the launch file must be a string, not an integer"},
      {kTop, "launch.toml: there is no [[launch]]; "},
      {kTop + many_parts(33) + " = 1\n", "launch.toml:2:64: a key or a table's name has more than 32 parts; "},
      {kTop + many_parts(50000) + " = 1\n", "launch.toml:2:64: a key or a table's name has more than 32 parts; "},
      {kTop + many_parts(32) + " = 1\n", "launch.toml:2:1: there is no key 'a' in the launch file"},
      {kTop + "bufer = 1\n", "launch.toml:2:1: there is no key 'bufer' in the launch file; did you mean 'buffer'?"},
      {kTop + "buffer = 1\n", "launch.toml:2:10: 'buffer' of the launch file must be an array of tables ([[buffer]])"},
      {kTop + "address_bits = 32\n", "launch.toml:2:16: 'address_bits' belongs to 'cuda'"},
      {"cuda = \"k.ptx\"\naddress_bits = 48\n", "launch.toml:2:16: 'address_bits' is 48; give 32 or 64"},
      {kTop + "architecture = \"sm_80\"\n", "launch.toml:2:16: 'architecture' belongs to 'cuda'"},
      {"cuda = \"k.ptx\"\narchitecture = \"80\"\n", "launch.toml:2:16: '80' names no architecture; sm_80, for example"},
      {kTop + "heap_bytes = -1\n", "launch.toml:2:14: 'heap_bytes' of the launch file"},
  });
}

TEST(LaunchRefusal, OfBuffers) {
  const std::string head = kTop + "[[buffer]]\nname = \"x\"\n";
  expect_refusals({
      {kTop + "[[buffer]]\ntype = \"f32\"\n", "launch.toml:2:1: [[buffer]] number 1 has no 'name'; add name = ..."},
      {head + "type = \"f23\"\n", "launch.toml:4:8: there is no element type 'f23'; did you mean 'f32'?"},
      {head + "type = \"pred\"\ncount = 1\n", "launch.toml:4:8: there is no element type 'pred'"},
      {head + "type = \"u8\"\n", "launch.toml:2:1: [[buffer]] number 1 has no 'count'"},
      {head + "type = \"u8\"\ncount = 0\n", "launch.toml:5:9: 'count' of [[buffer]] number 1 is 0; give 1 to "},
      {head + "type = \"u8\"\ncount = 4294967297\n", "launch.toml:5:9: 'count' of [[buffer]] number 1 is 4294967297"},
      {head + "type = \"u8\"\ncount = 4\nvalue = 256\n",
       "launch.toml:6:9: 'value' of [[buffer]] number 1: 256 is outside u8, which is 0 to 255"},
      {head + "type = \"s8\"\ncount = 4\nvalue = -129\n",
       "launch.toml:6:9: 'value' of [[buffer]] number 1: -129 is outside s8, which is -128 to 127"},
      {head + "type = \"b8\"\ncount = 4\nvalue = 256\n",
       "launch.toml:6:9: 'value' of [[buffer]] number 1: 256 is outside b8, which is -128 to 255"},
      {head + "type = \"u32\"\ncount = 4\nvalue = 1.5\n",
       "launch.toml:6:9: 'value' of [[buffer]] number 1: 1.5 is not an integer, as u32 needs"},
      {head + "type = \"f32\"\ncount = 4\nvalue = 1e39\n",
       "launch.toml:6:9: 'value' of [[buffer]] number 1: 1e+39 is too"},
      {head + "type = \"u64\"\ncount = 4\nvalue = \"18446744073709551616\"\n", "launch.toml:6:9: 'value' of"},
      {head + "type = \"u32\"\ncount = 4\nvalue = 1\nramp = { start = 0, step = 1 }\n",
       "launch.toml:7:8: [[buffer]] number 1 has both 'value' and 'ramp'"},
      {head + "type = \"u8\"\ncount = 257\nramp = { start = 0, step = 1 }\n",
       "launch.toml:6:28: the ramp leaves u8, which is 0 to 255; 257 elements"},
      {head + "type = \"u8\"\ncount = 2\nramp = { start = 0, stop = 1 }\n",
       "launch.toml:6:21: there is no key 'stop' in 'ramp' of [[buffer]] number 1; did you mean 'step'?"},
      {head + "type = \"u8\"\ncount = 2\nrandom = { low = 5, high = 4 }\n",
       "launch.toml:6:18: 'random' of [[buffer]] number 1: 'low' must be at most 'high'"},
      {head + "type = \"u8\"\ncount = 2\nfile = \"six.bin\"\n",
       "launch.toml:6:8: 'six.bin' has 6 bytes, but 2 elements of u8 take 2; leave 'count' out"},
      {head + "type = \"u32\"\nfile = \"six.bin\"\n",
       "launch.toml:5:8: 'six.bin' has 6 bytes, which is no number of u32"},
      {kData + kBuffer, "launch.toml:7:8: there are two buffers 'data'; the first is in line 2"},
  });
}

TEST(LaunchRefusal, OfImages) {
  const auto buffer = [](const std::string& type, int count, const std::string& image) {
    return kTop + "[[buffer]]\nname = \"x\"\ntype = \"" + type + "\"\ncount = " + std::to_string(count) +
           "\nimage = " + image + "\n";
  };
  const std::string name = "launch.toml:6:";
  expect_refusals({
      {buffer("u8", 12, "3"), name + "9: 'image' of [[buffer]] number 1 must be a table"},
      {buffer("u8", 12, "{ width = 2, height = 2 }"), name + "9: 'image' of [[buffer]] number 1 has no 'format'"},
      {buffer("u8", 12, "{ width = 2, format = \"rgb\" }"), name + "9: 'image' of [[buffer]] number 1 has no 'height'"},
      {buffer("u8", 12, "{ width = 2, heigth = 2, format = \"rgb\" }"),
       name + "22: there is no key 'heigth' in 'image' of [[buffer]] number 1; did you mean 'height'?"},
      {buffer("u8", 12, "{ width = 0, height = 2, format = \"rgb\" }"),
       name + "19: 'width' of 'image' of [[buffer]] number 1 is 0; give 1 to 4096"},
      {buffer("u8", 12, "{ width = 2, height = 4097, format = \"rgb\" }"),
       name + "31: 'height' of 'image' of [[buffer]] number 1 is 4097; give 1 to 4096"},
      {buffer("u8", 12, "{ width = 2, height = 2, format = \"gray\" }"),
       name + "43: there is no format of pixels 'gray'; did you mean 'grey'?"},
      {buffer("u16", 12, "{ width = 2, height = 2, format = \"rgb\" }"),
       name + "43: pixels of format 'rgb' are elements of u8, b8, f16, f32 or f64, not of u16; format 'scaled' takes"},
      {buffer("s32", 4, "{ width = 2, height = 2, format = \"rgba\" }"),
       name + "43: pixels of format 'rgba' are elements of u8, b8, f16, f32 or f64, or one of u32 or b32, not of s32"},
      {buffer("u8", 11, "{ width = 2, height = 2, format = \"rgb\" }"),
       name + "9: 2 x 2 pixels of format 'rgb' are 12 elements of u8, but 'x' has 11; the picture is the whole buffer"},
      {buffer("u32", 16, "{ width = 2, height = 2, format = \"rgba\" }"),
       name + "9: 2 x 2 pixels of format 'rgba' are 4 elements of u32, but 'x' has 16"},
  });
  const std::string rest = std::string(kLaunch) + "arguments = [{ buffer = \"x\" }, { f32 = 2 }, { u16 = 8 }]\n";
  EXPECT_EQ(refused(buffer("f32", 16, "{ width = 2, height = 2, format = \"rgba\" }") + rest), "");
  EXPECT_EQ(refused(buffer("u32", 4, "{ width = 2, height = 2, format = \"rgba\" }") + rest), "");
  EXPECT_EQ(refused(buffer("s64", 4, "{ width = 2, height = 2, format = \"scaled\" }") + rest), "");
}

TEST(LaunchRefusal, OfLaunches) {
  const std::string head = kData + "[[launch]]\nentry = \"scale\"\n";  // lines 6 and 7
  expect_refusals({
      {kData + "[[launch]]\ngrid = [1]\n", "launch.toml:6:1: [[launch]] number 1 has no 'entry'"},
      {head + "block = [1]\n", "launch.toml:6:1: [[launch]] number 1 has no 'grid'"},
      {head + "grid = [1, 2, 3, 4]\n",
       "launch.toml:8:8: 'grid' of [[launch]] number 1 has 4 numbers; give one to three"},
      {head + "grid = [1, 0]\n", "launch.toml:8:12: 'grid' of [[launch]] number 1: y is 0; give 1 to 65535"},
      {head + "grid = [1, 65536]\n", "launch.toml:8:12: 'grid' of [[launch]] number 1: y is 65536"},
      {head + "grid = [1]\nblock = [1025]\n",
       "launch.toml:9:10: 'block' of [[launch]] number 1: x is 1025; give 1 to 1024"},
      {head + "grid = [1, 1, 65536]\n", "launch.toml:8:15: 'grid' of [[launch]] number 1: z is 65536; give 1 to 65535"},
      {head + "grid = [2147483648]\n",
       "launch.toml:8:9: 'grid' of [[launch]] number 1: x is 2147483648; give 1 to 2147483647"},
      {head + "grid = [1]\nblock = [1, 1, 65]\n",
       "launch.toml:9:16: 'block' of [[launch]] number 1: z is 65; give 1 to 64"},
      {head + "grid = [1]\nblock = [32, 33]\n",
       "launch.toml:9:9: 'block' of [[launch]] number 1 has 1056 threads; give at most 1024 in all"},
      {head + "grid = [1]\nblok = [1]\n",
       "launch.toml:9:1: there is no key 'blok' in [[launch]] number 1; did you mean 'block'?"},
      {head + "grid = [1]\nblock = [32]\nshared = -1\n", "launch.toml:10:10: 'shared' of [[launch]] number 1 is -1"},
      {head + "grid = [1]\nblock = [32]\narguments = [3]\n",
       "launch.toml:10:14: 'arguments' of [[launch]] number 1 must be an array of tables such as { u32 = 1 }"},
      {head + "grid = [1]\nblock = [32]\narguments = [{ buffer = \"date\" }]\n",
       "launch.toml:10:25: there is no buffer 'date'; did you mean 'data'?"},
      {head + "grid = [1]\nblock = [32]\narguments = [{ u23 = 1 }]\n",
       "launch.toml:10:16: there is no key 'u23' in argument 1 of [[launch]] number 1; did you mean 'u32'?"},
      {head + "grid = [1]\nblock = [32]\narguments = [{ pred = 1 }]\n",
       "launch.toml:10:23: a kernel parameter cannot be a predicate"},
      {head + "grid = [1]\nblock = [32]\narguments = [{ u32 = 1, f32 = 1 }]\n",
       "launch.toml:10:14: argument 1 of [[launch]] number 1 has 2 keys"},
      {head + "grid = [1]\nblock = [32]\narguments = [{}]\n",
       "launch.toml:10:14: argument 1 of [[launch]] number 1 has 0"},
      {head + "grid = [1]\nblock = [32]\narguments = [{ s16 = 32768 }]\n",
       "launch.toml:10:22: 's16' of argument 1 of [[launch]] number 1: 32768 is outside s16"},
      {head + "grid = [1]\nblock = [32]\narguments = [{ bytes = [1, 256] }]\n",
       "launch.toml:10:28: 'bytes' of argument 1 of [[launch]] number 1 holds something that is no byte"},
      {head + "grid = [1]\nblock = [32]\narguments = [{ buffer = \"data\", offset = 8 }]\n",
       "launch.toml:10:42: 'offset' of argument 1 of [[launch]] number 1 is 8; give 0 to 7"},
      {head + "grid = [1]\nblock = [32]\nrepeat_while = { buffer = \"data\", index = 8 }\n",
       "launch.toml:10:43: 'index' of 'repeat_while' of [[launch]] number 1 is 8; give 0 to 7"},
      {kData + "[[launch]]\n[[launch.launch]]\nentry = \"scale\"\ngrid = [1]\nblock = [1]\n",
       "launch.toml:7:1: [[launch]] number 1 has launches of its own but no 'repeat_while', 'repeat' or 'run_if'"},
      {kData + "[[launch]]\nrepeat_while = { buffer = \"data\" }\nentry = \"scale\"\nlaunch = []\n",
       "launch.toml:8:1: there is no key 'entry' in [[launch]] number 1"},
      {kData + "[[launch]]\nrepeat_while = { buffer = \"data\" }\nlaunch = []\n",
       "launch.toml:8:10: the group of launches is empty"},
  });
}

TEST(LaunchRefusal, OfCopiesAndFills) {
  const std::string head = kData + "[[buffer]]\nname = \"small\"\ntype = \"u16\"\ncount = 3\n";  // lines 6 to 9
  expect_refusals({
      {head + "[[copy]]\nto = \"data\"\n", "launch.toml:10:1: [[copy]] number 1 has no 'from'"},
      {head + "[[copy]]\nfrom = \"data\"\n", "launch.toml:10:1: [[copy]] number 1 has no 'to'"},
      {head + "[[copy]]\nfrom = \"data\"\nto = \"smal\"\n",
       "launch.toml:12:6: there is no buffer 'smal'; did you mean 'small'?"},
      {head + "[[copy]]\nfrom = \"data\"\nto = \"small\"\n",
       "launch.toml:12:6: [[copy]] number 1 copies 32 bytes, but buffer 'small' has room for 6 there"},
      {head + "[[copy]]\nfrom = \"small\"\nto = \"data\"\nto_offset = 7\ncount = 3\n",
       "launch.toml:14:9: [[copy]] number 1 copies 6 bytes, but buffer 'data' has room for 4 there"},
      {head + "[[copy]]\nfrom = \"small\"\nfrom_offset = 2\nto = \"data\"\ncount = 2\n",
       "launch.toml:14:9: 'count' of [[copy]] number 1 is 2; give 1 to 1"},
      {head + "[[copy]]\nfrom = \"small\"\nto = \"data\"\nof = 2\n",
       "launch.toml:13:1: there is no key 'of' in [[copy]] number 1"},
      {head + "[[fill]]\nvalue = 2\n", "launch.toml:10:1: [[fill]] number 1 has no 'buffer'"},
      {head + "[[fill]]\nbuffer = \"small\"\nvalue = -1\n",
       "launch.toml:12:9: 'value' of [[fill]] number 1: -1 is outside u16"},
      {head + "[[fill]]\nbuffer = \"small\"\noffset = 3\n",
       "launch.toml:12:10: 'offset' of [[fill]] number 1 is 3; give 0 to 2"},
      {head + "[[fill]]\nbuffer = \"small\"\noffset = 2\nvalues = [1, 2]\n",
       "launch.toml:13:10: [[fill]] number 1 has 2 elements, but buffer 'small' has room for 1 there"},
      {head + "[[fill]]\nbuffer = \"small\"\nvalues = [1, 65536]\n",
       "launch.toml:12:14: 'values' of [[fill]] number 1: 65536 is outside u16"},
      {head + "[[fill]]\nbuffer = \"small\"\nvalues = [1]\ncount = 2\n",
       "launch.toml:12:10: 'values' of [[fill]] number 1 has 1 numbers, but 'count' is 2"},
      {head + "[[fill]]\nbuffer = \"small\"\nvalues = []\n",
       "launch.toml:12:10: 'values' of [[fill]] number 1 is empty"},
      {head + "[[fill]]\nbuffer = \"small\"\nfile = \"six.bin\"\ncount = 2\n",
       "launch.toml:12:8: 'six.bin' has 6 bytes, but 2 elements of u16 take 4"},
      {head + "[[fill]]\nbuffer = \"small\"\nfile = \"no.bin\"\n",
       "launch.toml:12:8: 'file' of [[fill]] number 1: cannot read the file 'no.bin'"},
      {head + "[[fill]]\nbuffer = \"small\"\n", "launch.toml: there is no [[launch]]"},
  });
}

TEST(LaunchRefusal, OfLoopsConditionsAndCounters) {
  const std::string head = kData + kLaunch;  // lines 6 to 9; line 10 is the case's
  const std::string counted = head + "repeat = { times = 10, counter = \"i\" }\n";
  const auto argument = [&](const std::string& text) { return counted + "arguments = [" + text + "]\n"; };
  expect_refusals({
      {head + "repeat = 10\n", "launch.toml:10:10: 'repeat' of [[launch]] number 1 must be a table, not an integer"},
      {head + "repeat = { counter = \"i\" }\n", "launch.toml:10:10: 'repeat' of [[launch]] number 1 has no 'times'"},
      {head + "repeat = { times = 0 }\n", "launch.toml:10:20: 'times' of 'repeat' of [[launch]] number 1 is 0; give 1"},
      {head + "repeat = { times = 1 }\nrepeat_while = { buffer = \"data\" }\n",
       "launch.toml:10:10: [[launch]] number 1 has both 'repeat' and 'repeat_while'"},
      {head + "repeat_while = { buffer = \"data\", less = 1, greater = 0 }\n",
       "launch.toml:10:55: 'repeat_while' of [[launch]] number 1 has both 'less' and 'greater'"},
      {head + "repeat_while = { buffer = \"data\", equal = \"x\" }\n",
       "launch.toml:10:43: 'equal' of 'repeat_while' of [[launch]] number 1 is \"x\", which is no number"},
      {head + "run_if = { buffer = \"data\", index = 8 }\n",
       "launch.toml:10:37: 'index' of 'run_if' of [[launch]] number 1 is 8; give 0 to 7"},
      {head + "run_if = { buffer = \"data\", max = 8 }\n",
       "launch.toml:10:29: there is no key 'max' in 'run_if' of [[launch]] number 1"},
      {kData + "[[launch]]\nrepeat = { times = 2, counter = \"i\" }\n[[launch.launch]]\nentry = \"scale\"\ngrid = "
               "[1]\nblock = [1]\nrepeat = { times = 2, counter = \"i\" }\n",
       "launch.toml:12:33: a loop around this one counts 'i' too"},
      {argument("{ u32 = { counter = \"j\" } }"),
       "launch.toml:11:34: no loop around this counts 'j'; did you mean 'i'?"},
      {argument("{ u32 = { counter = \"ii\" } }"),
       "launch.toml:11:34: no loop around this counts 'ii'; did you mean 'i'?"},
      {head + "arguments = [{ u32 = { counter = \"i\" } }]\n",
       "launch.toml:10:34: no loop around this counts 'i'; name the counter of a loop"},
      {argument("{ u8 = { counter = \"i\", step = 29 } }"),
       "launch.toml:11:21: 'u8' of argument 1 of [[launch]] number 1 is 261 in pass 10 of up to 10 of 'i'; it may be 0 "
       "to 255"},
      {argument("{ s8 = { counter = \"i\", start = 1, factor = 2 } }"),
       "launch.toml:11:21: 's8' of argument 1 of [[launch]] number 1 is 512 in pass 10"},
      {argument("{ u64 = { counter = \"i\", start = 1, factor = 4000000000 } }"),
       "launch.toml:11:22: 'u64' of argument 1 of [[launch]] number 1 is beyond 64 bits in pass 10"},
      {argument("{ u32 = { counter = \"i\", step = 0.5 } }"),
       "launch.toml:11:46: 'step' of 'u32' of argument 1 of [[launch]] number 1 is not an integer; u32 needs one"},
      {argument("{ u32 = { counter = \"i\", factor = 1 } }"),
       "launch.toml:11:48: 'factor' of 'u32' of argument 1 of [[launch]] number 1 is 1; give 2 to"},
      {argument("{ f32 = { counter = \"i\", factor = 2 } }"),
       "launch.toml:11:48: 'factor' of 'f32' of argument 1 of [[launch]] number 1 is for integers"},
      {argument("{ u32 = { counter = \"i\", step = 1, divisor = 2 } }"),
       "launch.toml:11:59: 'u32' of argument 1 of [[launch]] number 1 has both 'step' and 'divisor'"},
      {argument("{ buffer = \"data\", offset = { counter = \"i\" } }"),
       "launch.toml:11:42: 'offset' of argument 1 of [[launch]] number 1 is 9 in pass 10 of up to 10 of 'i'; it may be "
       "0 to 7"},
      {kData + "[[launch]]\nentry = \"scale\"\nblock = [1]\ngrid = [{ counter = \"i\" }]\nrepeat = { times = 2, "
               "counter = \"i\" }\n",
       "launch.toml:9:9: 'grid' of [[launch]] number 1, x is 0 in pass 1 of up to 2 of 'i'; it may be 1 to"},
      {kData + "[[launch]]\nentry = \"scale\"\nblock = [1]\ngrid = [{ counter = \"i\", start = 1 }]\nrepeat_while = { "
               "buffer = \"data\", counter = \"i\" }\n",
       "launch.toml:9:9: 'grid' of [[launch]] number 1, x is counted by a loop whose passes nobody knows beforehand"},
  });
}

TEST(LaunchRefusal, OfPointersAndStructures) {
  const std::string buffer = kTop + "[[buffer]]\nname = \"heads\"\ntype = \"u16\"\ncount = 8\n";  // lines 2 to 5
  const std::string head = buffer + "pointers = [";
  const std::string tail = "]\n" + std::string(kBuffer);
  expect_refusals({
      {buffer + "pointers = 3\n" + kBuffer, "launch.toml:6:12: 'pointers' of [[buffer]] number 1 must be an array of"},
      {head + "{ buffer = \"dat\" }" + tail, "launch.toml:6:24: there is no buffer 'dat'; did you mean 'data'?"},
      {head + "{ index = 7, buffer = \"data\" }" + tail,
       "launch.toml:6:23: 'index' of a pointer of [[buffer]] number 1 is 7; give 0 to 6"},
      {head + "{ buffer = \"data\", offset = 8 }" + tail,
       "launch.toml:6:41: 'offset' of a pointer of [[buffer]] number 1 is 8; give 0 to 7"},
      {head + "{ buffer = \"data\", count = 5 }" + tail,
       "launch.toml:6:40: 5 pointers leave the buffer; the last one may begin at element 6"},
      {head + "{ buffer = \"data\", count = 2, index_step = 1 }" + tail,
       "launch.toml:6:56: the pointers overlap: one has 4 bytes"},
      {head + "{ buffer = \"data\", count = 3, offset_step = 4 }" + tail,
       "launch.toml:6:57: the pointers leave buffer 'data', which has 8 elements"},
      {kTop + "[[buffer]]\nname = \"x\"\ntype = \"u8\"\ncount = 3\npointers = [{ buffer = \"x\" }]\n",
       "launch.toml:6:13: [[buffer]] number 1 has 3 bytes, a pointer has 4"},
      {kData + kLaunch + "arguments = [{ struct = [] }]\n",
       "launch.toml:10:25: 'struct' of argument 1 of [[launch]] number 1 has no members"},
      {kData + kLaunch + "arguments = [{ struct = [3] }]\n",
       "launch.toml:10:26: 'struct' of argument 1 of [[launch]] number 1 must be an array of tables"},
      {kData + kLaunch + "arguments = [{ struct = [{ u32 = -1 }] }]\n",
       "launch.toml:10:34: 'u32' of member 1 of argument 1 of [[launch]] number 1: -1 is outside u32"},
      {kData + kLaunch + "arguments = [{ struct = [{ u32 = 1 }], align = 3 }]\n",
       "launch.toml:10:48: 'align' of argument 1 of [[launch]] number 1 is 3; give a power of two"},
      {kData + kLaunch + "arguments = [{ bool = 1 }]\n",
       "launch.toml:10:23: 'bool' of argument 1 of [[launch]] number 1 must be true or false, not an integer"},
      {kData + kLaunch + "arguments = [{ u32 = 1, align = 4 }]\n",
       "launch.toml:10:14: argument 1 of [[launch]] number 1 has 2 keys"},
  });
}

TEST(LaunchRefusal, OfOutputs) {
  const std::string head = kData + kLaunch + "[[output]]\n";  // line 10
  expect_refusals({
      {head + "file = \"y\"\n", "launch.toml:10:1: [[output]] number 1 has no 'buffer'"},
      {head + "buffer = \"data\"\n", "launch.toml:10:1: [[output]] number 1 has neither 'file' nor 'expect'"},
      {head + "buffer = \"data\"\nfile = \"../y\"\n",
       "launch.toml:12:8: 'file' of [[output]] number 1: '../y' is not a file below"},
      {head + "buffer = \"data\"\nfile = \"a/../../y\"\n", "launch.toml:12:8: 'file' of [[output]] number 1"},
      {head + "buffer = \"data\"\nfile = \"/y\"\n",
       "launch.toml:12:8: 'file' of [[output]] number 1: '/y' is not a file below"},
      {head + "buffer = \"data\"\nfile = \"y\"\n[[output]]\nbuffer = \"data\"\nfile = \"./y\"\n",
       "launch.toml:15:8: 'file' of [[output]] number 2: 'y' is written by another output"},
      {head + "buffer = \"data\"\nfile = \"./stats.json\"\n",
       "launch.toml:12:8: 'file' of [[output]] number 1: heddle run writes its own 'stats.json' there"},
      {head + "buffer = \"data\"\nfile = \"host.json/y\"\n",
       "launch.toml:12:8: 'file' of [[output]] number 1: heddle run writes its own 'host.json' there"},
      {head +
           "buffer = \"data\"\nfile = \"a/stats.json\"\n[[output]]\nbuffer = \"data\"\nfile = \"stats.jso\"\nx = 1\n",
       "launch.toml:16:1: there is no key 'x'"},
      {head + "buffer = \"data\"\nexpect = \"six.bin\"\n",
       "launch.toml:12:10: 'six.bin' has 6 bytes, but buffer 'data' has 32"},
      {head + "buffer = \"data\"\nfile = \"y\"\ntolerance = 1e-6\n",
       "launch.toml:13:13: 'tolerance' of [[output]] number 1 does"},
  });
}

// What only the kernel tells is refused before anything runs.
TEST(LaunchRefusal, OfArgumentsThatDoNotFitTheKernel) {
  const std::string head = kData + "[[launch]]\ngrid = [1]\nblock = [32]\n";  // lines 6 to 8
  const std::vector<RefusalCase> cases = {
      {head + "entry = \"scal\"\n", "launch.toml:9:9: there is no kernel 'scal' in 'k.ptx'; did you mean 'scale'?"},
      {head + "entry = \"instance<2>\"\n",
       "launch.toml:9:9: there is no kernel 'instance<2>' in 'k.ptx'; did you mean 'instance<1>'?"},
      {head + "entry = \"instance\"\n",
       "launch.toml:9:9: several kernels of 'k.ptx' are called 'instance'; name one: instance<1>, instance<4>"},
      {head + "entry = \"instance<1>\"\narguments = [{ bool = true }]\n",
       "launch.toml:6:1: 1 argument for kernel 'instance<1>', which has 0 parameters"},
      {head + "entry = \"scale\"\narguments = [{ buffer = \"data\" }, { buffer = \"data\" }, { u16 = 8 }]\n",
       "launch.toml:10:35: argument 2 of 'scale', { buffer = \"data\" }, does not fit parameter 'scale_by'; the "
       "parameter is .f32"},
      {head + "entry = \"structure\"\narguments = [{ struct = [{ s16 = 1 }, { u32 = 1 }] }]\n",
       "launch.toml:10:14: argument 1 of 'structure', { struct = [...] }, does not fit parameter 'structure_s': it has "
       "8 bytes; the parameter is .b8 and takes 12 bytes"},
      {kTop + "[[buffer]]\nsymbol = \"weigths\"\ntype = \"s32\"\ncount = 1\n" + kLaunch,
       "launch.toml:3:10: there is no __device__ or __constant__ variable 'weigths' in 'k.ptx'; did you mean "
       "'weights'?"},
      {kTop + "[[buffer]]\nsymbol = \"weights\"\ntype = \"s32\"\ncount = 5\n" + kLaunch,
       "launch.toml:2:1: buffer 'weights' has 20 bytes, but variable 'weights' has 16; give a smaller 'count'"},
      {kTop + "[[buffer]]\nsymbol = \"total\"\ntype = \"s32\"\ncount = 1\n" + kLaunch,
       "launch.toml:3:10: several variables are called 'total' in 'k.ptx'; name one as in the PTX: _ZN1a5totalE, "
       "_ZN1b5totalE"},
      {head + "entry = \"scale\"\n", "launch.toml:6:1: 0 arguments for kernel 'scale', which has 3 parameters"},
      {head + "entry = \"scale\"\narguments = [{ buffer = \"data\" }, { f64 = 2 }, { u16 = 8 }]\n",
       "launch.toml:10:35: argument 2 of 'scale', { f64 = 2 }, does not fit parameter 'scale_by': it has 8 bytes; the "
       "parameter is .f32 and takes 4 bytes"},
      {head + "entry = \"scale\"\narguments = [{ buffer = \"data\" }, { u32 = 2 }, { u16 = 8 }]\n",
       "launch.toml:10:35: argument 2 of 'scale', { u32 = 2 }, does not fit parameter 'scale_by'; the parameter is "
       ".f32"},
      {head + "entry = \"scale\"\narguments = [{ buffer = \"data\" }, { f32 = 2 }, { buffer = \"data\" }]\n",
       "launch.toml:10:48: argument 3 of 'scale', { buffer = \"data\" }, does not fit parameter 'scale_count': it has "
       "4"},
      {head + "entry = \"structure\"\narguments = [{ bytes = [1, 2, 3] }]\n",
       "launch.toml:10:14: argument 1 of 'structure', { bytes = [...] }, does not fit parameter 'structure_s': it has "
       "3 "
       "bytes; the parameter is .b8 and takes 12 bytes"},
  };
  for (const RefusalCase& each : cases) {
    const LaunchFolder folder;
    folder.write("k.ptx", kKernel);
    folder.write("launch.toml", each.text);
    const LaunchFile file = LaunchFile::read(folder.path("launch.toml"));
    ReferenceExecutor executor;
    executor.load(file.compile(ptx::CodeOptions{}));
    const std::string message = folder.refusal([&] { static_cast<void>(file.run(executor, std::nullopt)); });
    EXPECT_EQ(message.substr(0, each.expected.size()), each.expected) << each.text << "\nsays: " << message;
    EXPECT_EQ(executor.thread_instructions(), 0U);
  }
}

TEST(LaunchRefusal, OfAMissingFile) {
  const LaunchFolder folder;
  EXPECT_EQ(folder.refusal([&] { static_cast<void>(LaunchFile::read(folder.path("none.toml"))); }),
            "none.toml: the launch file cannot be read: No such file or directory; check its name and permissions");
  EXPECT_NE(folder.refusal([&] { static_cast<void>(LaunchFile::read(folder.path())); }), "");
}

// Looking each name up among all others would take tens of seconds.
TEST(LaunchFile, ManyBuffersAreReadInAMoment) {
  constexpr unsigned kBuffers = 100'000;
  std::string text = kSource;
  for (unsigned i = 0; i != kBuffers; ++i) {
    text += "[[buffer]]\nname = \"b" + std::to_string(i) + "\"\ntype = \"u8\"\ncount = 1\n[[output]]\nbuffer = \"b" +
            std::to_string(i) + "\"\nfile = \"" + std::to_string(i) + "\"\n";
  }
  text += kLaunch;
  const std::clock_t before = std::clock();
  EXPECT_EQ(refused(text), "");
  EXPECT_LT(std::clock() - before, 15 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace heddle::tb
