#include "tests/model/wandering.hpp"

namespace heddle::test {
namespace {

const Register<hw::Divergence, Wandering> wandering_entry{"wandering", "of the tests: threads change their places"};

}  // namespace
}  // namespace heddle::test
