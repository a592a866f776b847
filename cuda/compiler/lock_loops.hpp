// Spin locks in PTX that clang has written: loops that threads leave with the lock in their hands.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace heddle::cuda {

// The functions in which a loop takes a lock (by an atomic whose old value decides) and the lock's release, by a store
// or an atomic to the same address, comes behind the loop only. On a re-convergence stack the thread that has the lock
// waits there for threads of its warp that try to get it. That may be what the source says, or what clang has made of a
// loop whose body releases the lock: SimplifyCFG finds out that the thread which has just done so leaves the loop, and
// lets it leave earlier.
[[nodiscard]] std::set<std::string> functions_that_leave_with_a_lock(std::string_view ptx);

}  // namespace heddle::cuda
