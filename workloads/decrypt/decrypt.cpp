// decrypt: AES-128 decryption of 256 KB (thesis table 5.2). Little divergence; table look-ups in the scratchpad.
#include <bit>

#include "base/registry.hpp"
#include "workloads/decrypt/aes.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

static_assert(std::endian::native == std::endian::little, "blocks are moved to the device as little-endian words");

class Decrypt final : public KernelWorkload {
 public:
  explicit Decrypt(const tb::WorkloadOptions& options) : KernelWorkload("decrypt", options, {{"pthreads"}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return pthreads() ? team() : resident_threads(); }
  [[nodiscard]] double demo_scale() const override { return 1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t count = scaled(16384, resident_threads());
    executor.plan({2, pthreads() ? 2 : grid(1) + grid(count)});
    const tb::Verdict vector = fips_vector(executor);
    Random random(options().seed);
    aes::Key key;
    for (std::uint8_t& byte : key) {
      byte = static_cast<std::uint8_t>(random.next());
    }
    std::vector<aes::Block> cipher(count);
    for (aes::Block& block : cipher) {
      for (std::uint8_t& byte : block) {
        byte = static_cast<std::uint8_t>(random.next());
      }
    }
    const aes::RoundKeys keys = aes::expand(key);
    std::vector<std::uint8_t> expected;
    expected.reserve(cipher.size() * sizeof(aes::Block));
    for (const aes::Block& block : cipher) {
      const aes::Block plain = aes::decrypt(block, keys);
      expected.insert(expected.end(), plain.begin(), plain.end());
    }
    return both(vector, compare("decrypted bytes", decrypt(executor, cipher, keys, ""), expected));
  }

 private:
  [[nodiscard]] std::uint32_t grid(std::uint32_t count) const {
    return std::min(blocks(), (count + kBlock - 1) / kBlock);
  }
  std::vector<std::uint8_t> decrypt(tb::Executor& executor, const std::vector<aes::Block>& cipher,
                                    const aes::RoundKeys& keys, const std::string& suffix) const {
    const auto count = static_cast<std::uint32_t>(cipher.size());
    const std::uint64_t device_cipher = upload(executor, "cipher" + suffix, cipher);
    const std::uint64_t device_plain = allocate(executor, "plain" + suffix, cipher.size() * sizeof(aes::Block));
    const std::uint64_t device_keys =
        upload(executor, "round_keys" + suffix, std::vector<std::uint8_t>(keys.begin(), keys.end()));
    tb::Arguments arguments(executor.module(), "decrypt");
    arguments.pointer(device_cipher).pointer(device_plain).pointer(device_keys).value(count);
    if (pthreads()) {
      launch_team(executor, "decrypt", arguments);
    } else {
      launch(executor, "decrypt", {grid(count)}, {kBlock}, arguments);
    }
    return download<std::uint8_t>(executor, device_plain, cipher.size() * sizeof(aes::Block));
  }

  // FIPS-197, appendix C.1: key 00 01 .. 0f, plain text 00 11 .. ff. Both the kernel and the host's code must meet it.
  [[nodiscard]] tb::Verdict fips_vector(tb::Executor& executor) const {
    aes::Key key;
    aes::Block plain;
    for (std::size_t i = 0; i < 16; ++i) {
      key[i] = static_cast<std::uint8_t>(i);
      plain[i] = static_cast<std::uint8_t>(0x11 * i);
    }
    const aes::Block cipher = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                               0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    const aes::RoundKeys keys = aes::expand(key);
    if (aes::encrypt(plain, keys) != cipher || aes::decrypt(cipher, keys) != plain) {
      return {false, "the host's AES does not meet the vector of FIPS-197, appendix C.1"};
    }
    tb::Verdict verdict = compare("bytes of the FIPS-197 vector", decrypt(executor, {cipher}, keys, "_fips"),
                                  std::vector<std::uint8_t>(plain.begin(), plain.end()));
    return verdict;
  }
};

const Register<tb::Workload, Decrypt> decrypt_entry{"decrypt", "AES-128 decryption of 256 KB; variant pthreads"};

}  // namespace
}  // namespace heddle::workloads
