// Which objects of a kind there are, so that a handle that is none, or no longer one, is told and not followed.
#pragma once

#include <unordered_set>

namespace heddle::cudart {

// A member of each object of the kind.
template <class T>
class Living {
 public:
  explicit Living(const T* object) : object_(object) { all().insert(object); }
  ~Living() { all().erase(object_); }
  Living(const Living&) = delete;
  Living& operator=(const Living&) = delete;
  [[nodiscard]] static bool has(const T* object) { return all().count(object) != 0; }

 private:
  static std::unordered_set<const T*>& all() {
    static auto* const objects = new std::unordered_set<const T*>;  // outlives what runs at the program's end
    return *objects;
  }
  const T* object_;
};

}  // namespace heddle::cudart
