"""The Go client's own tests, against a real server."""

import unittest

from language_case import LanguageCase, skip_without


class GoClientTest(LanguageCase):

    def test_its_own_tests(self):
        # It needs nothing but Go's standard library.
        done = self.run_there("go", ["go", "test", "-count=1", "-v", "./..."], {"GOPROXY": "off"})
        self.assertIn("--- PASS: TestWhatWasPlayedIsSeen", done.stdout)
        self.assertIn("--- PASS: TestScenariosOnALiar", done.stdout)
        self.assertNotIn("SKIP", done.stdout)

    def test_it_is_formatted(self):
        for language in ("go", "examples/go"):
            self.assertEqual(self.run_there(language, ["gofmt", "-l", "."]).stdout, "")

    def test_the_example(self):
        self.sources("go")
        self.run_there("examples/go", ["go", "build", "-o", "feed", "."], {"GOPROXY": "off"})
        self.try_example("go", "feed.go", ["./feed"])


if __name__ == "__main__":
    skip_without("go", "gofmt")
    unittest.main()
