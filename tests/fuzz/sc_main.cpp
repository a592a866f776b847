// The SystemC library wants this symbol; a fuzz target has libFuzzer's main() and never elaborates a model.
extern "C" int sc_main(int /*count*/, char** /*words*/) {
  return 0;
}
