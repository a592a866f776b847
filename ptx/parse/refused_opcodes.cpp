// PTX instructions that this machine does not have, with what to use instead.
#include <algorithm>
#include <array>

#include "ptx/parse/types.hpp"

namespace heddle::ptx {
namespace {

struct Advice {
  std::string_view opcode, advice;
};

constexpr std::string_view kTexture = "textures are fetched from by tex.1d and tex.2d";
constexpr std::string_view kTensor = "matrices are multiplied by mma or wmma and loaded by ldmatrix";
constexpr std::string_view kAsync = "of asynchronous copies there is cp.async";
constexpr std::string_view kStack = "there is no stack; declare a .local array of fixed size";
constexpr std::string_view kCluster = "a cluster is one block here; use global memory";
constexpr std::string_view kVideo = "write it with bfe, add and min/max";

constexpr std::array kAdvice = {
    Advice{"tld4", kTexture},
    Advice{"istypep", kTexture},
    Advice{"sured", "surfaces are accessed by suld and sust; use a buffer with atom.global"},
    Advice{"wgmma", kTensor},
    Advice{"tcgen05", kTensor},
    Advice{"multimem", kAsync},
    Advice{"tensormap", kAsync},
    Advice{"alloca", kStack},
    Advice{"stacksave", kStack},
    Advice{"stackrestore", kStack},
    Advice{"clusterlaunchcontrol", kCluster},
    Advice{"vadd", kVideo},
    Advice{"vsub", kVideo},
    Advice{"vabsdiff", kVideo},
    Advice{"vmin", kVideo},
    Advice{"vmax", kVideo},
    Advice{"vshl", kVideo},
    Advice{"vshr", kVideo},
    Advice{"vmad", kVideo},
    Advice{"vset", kVideo},
};

}  // namespace

std::string_view advice_for(std::string_view opcode) {
  const auto* const found =
      std::find_if(kAdvice.begin(), kAdvice.end(), [&](const Advice& advice) { return advice.opcode == opcode; });
  return found == kAdvice.end() ? std::string_view() : found->advice;
}

}  // namespace heddle::ptx
