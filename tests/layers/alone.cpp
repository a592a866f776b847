// A program that uses nothing: one per layer, linked with all of the layer (tests/CMakeLists.txt).
int main() {
  return 0;
}

extern "C" int sc_main(int /*count*/, char** /*words*/) {  // SystemC's library asks for it
  return 0;
}
