// A library of one of CUDA's names (cuda/cudart/CMakeLists.txt): says of which release a program is that needs it.
#ifdef HEDDLE_CUDART_RELEASE
extern "C" void heddle_cudart_release(int release);

namespace {
struct Teller {
  Teller() { heddle_cudart_release(HEDDLE_CUDART_RELEASE); }
} teller;
}  // namespace
#endif
