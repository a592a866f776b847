// Whose turn a host thread has just now. For the calendar alone.
#pragma once

namespace heddle::link {

// Of one calendar's parts of the modules (Calendar::Member); null: no module has a turn in this thread.
extern constinit thread_local void* present_member;

}  // namespace heddle::link
