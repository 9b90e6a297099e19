#!/usr/bin/env python3
"""No class has more than 40 methods, but for those of LARGE, which may only lose some: a ratchet.

    tools/lint/classes.py     the classes with 25 or more
"""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "lint"))

from classes import classes, classes_in  # noqa: E402

METHODS_MOST = 40
LARGE = {("EngineImpl", "engine/engine_impl.h"): 85, ("Engine", "engine/include/seendb/engine.h"): 47}

SAMPLE = """
class CAPABILITY("mutex") Outer final : public Base<int(char)> {
 public:
  explicit Outer(int size) : size_(size), name_{"a;b{"} {}  // one
  ~Outer() override = default;                               // two
  bool operator<(const Outer& other) const { return size_ < other.size_; }
  template <typename T, std::enable_if_t<sizeof(T) == 8>* = nullptr>
  T As() const;
  std::function<void(int)> OnDone() REQUIRES(mutex_);
  static constexpr int kMost = Count(3);
  using Done = std::function<void(int)>;
  friend bool Same(const Outer& a, const Outer& b);

 private:
  struct Inner {
    int Sum() const {
      for (int i = 0; i < 3; ++i) Add(i);
      return 3;
    }
  };
  enum class Kind { kOne, kTwo };
  std::function<void(int)> done_;
  Mutex mutex_{Rank(3)};
  int size_ GUARDED_BY(mutex_) = 0;
};
namespace a {
void Free(int);
}
"""


class ClassesTest(unittest.TestCase):

    def test_methods_are_counted(self):
        self.assertEqual(dict(classes_in(SAMPLE)), {"Inner": 1, "Outer": 5})

    def test_no_class_is_larger(self):
        for methods, name, path in classes():
            self.assertLessEqual(methods, LARGE.get((name, path), METHODS_MOST), "%s, %s" % (name, path))

    def test_what_became_smaller_stays_so(self):
        found = {(name, path): methods for methods, name, path in classes()}
        for one, methods in LARGE.items():
            self.assertEqual(found.get(one, 0), methods, "lower the number of %s, or take it out" % (one,))


if __name__ == "__main__":
    unittest.main()
