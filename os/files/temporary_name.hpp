// Temporary files beside the files whose place they will take, and what dead processes have left of them.
//
// The process that writes a temporary file holds a lock on it (flock), which ends with the process however it does. So
// a file that can be locked has no owner, whatever process has its process's number now. A host clears only what its
// own processes have left: not every network file system passes locks on. Where there are no locks, nothing is cleared.
#pragma once

#include <optional>
#include <string>

namespace heddle::os {

// A temporary file for `target` (a path without links): in its folder, hidden, with this process's number, a random
// part, by which each call gives another name, and a digest of the host's name. A name that would be longer than file
// systems take is cut.
[[nodiscard]] std::string temporary_of_process(const std::string& target);
// A temporary name, or, after keep_temporary_names(), one with a digest of its key and nothing random, which other
// processes may take up: it is never cleared away.
[[nodiscard]] std::string temporary_beside(const std::string& target);
void keep_temporary_names(const std::string& key);
// The target of such a kept file; none: it is none, or its name has been cut.
[[nodiscard]] std::optional<std::string> target_of_kept(const std::string& temporary);

// A descriptor that writes a new file of this name and holds its lock, safe from clear_left_over(). What has the name
// already is refused (a link, too, wherever it leads), except a kept file of this user, which is emptied. -1: errno
// says why.
[[nodiscard]] int create_locked(const std::string& path, unsigned mode = 0666);

// Removes what dead processes of this host have left in a folder, once in the life of this process. Errors are
// ignored.
void clear_left_over(const std::string& folder);
// This process has its memory from another one, which may be dead and have left files since it cleared folders: those
// count as not cleared.
void forget_cleared_folders();

}  // namespace heddle::os
