"""The TypeScript client's own tests, against a real server."""

import glob
import os

from language_case import LanguageCase, main, skip_without


class TypeScriptClientTest(LanguageCase):

    def test_its_own_tests(self):
        installed = self.attempt("typescript", ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        if installed.returncode != 0:
            self.skipTest("npm can't install here: " + installed.stderr[-500:])
        self.run_there("typescript", ["npm", "run", "build"])
        tests = sorted(glob.glob(os.path.join(self.sources("typescript"), "dist", "test", "*.test.js")))
        self.assertEqual(len(tests), 5)
        done = self.run_there("typescript", ["node", "--test", "--test-reporter=tap", *tests])
        self.assertIn("what was played is seen", done.stdout)
        self.assertRegex(done.stdout, r"# fail 0\n")
        self.assertRegex(done.stdout, r"# skipped 0\n")
        modules = os.path.join(self.sources("examples/typescript"), "node_modules")
        os.mkdir(modules)  # as npm makes it of the path that package.json names
        os.symlink(self.sources("typescript"), os.path.join(modules, "seendb"))
        self.run_there("examples/typescript", [os.path.join(self.sources("typescript"), "node_modules", ".bin", "tsc"), "-p", "."])
        self.try_example("typescript", "feed.ts", ["node", "dist/feed.js"])


if __name__ == "__main__":
    skip_without("node", "npm")
    main()
