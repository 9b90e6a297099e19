"""Clients in Java, Go and Python, generated from the document of the running server: they compile,
and a program with each does a round trip (RoundTrip.java, round_trip.go, round_trip.py).

Needs what `tools/setup clients` installs, and the network once. A language whose tools can't be had
is skipped, and the test says so.
"""

import os
import shutil
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "support")]
import generators
from generators import Missing, call
from seendb_client import Server


class ClientsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.server.put("/collections/default", {"history": {"enabled": True}})
        cls.folder = tempfile.mkdtemp(prefix="seendb-clients-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.document = os.path.join(cls.folder, "openapi.json")
        with open(cls.document, "wb") as file:
            file.write(cls.server.get("/openapi.json").body)

    def arguments(self):
        return [f"http://{self.server.host}:{self.server.port}", str(int(time.time() * 1000))]

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def test_java(self):
        generators.need("javac")
        call([*generators.openapi_generator(), "-g", "java", "--library", "native",
              "-i", self.document, "-o", self.path("java"), "--additional-properties",
              "groupId=seendb,artifactId=seendb-client,invokerPackage=seendb.client,"
              "apiPackage=seendb.client.api,modelPackage=seendb.client.model,openApiNullable=false"])
        pom = self.path("java", "pom.xml")
        generators.fetch(["mvn", "-q", "-B", "-f", pom, "dependency:build-classpath",
                          "-Dmdep.outputFile=" + self.path("classpath")])
        shutil.copy(os.path.join(HERE, "RoundTrip.java"), self.path("java", "src", "main", "java"))
        with open(self.path("classpath"), encoding="utf-8") as file:
            libraries = file.read().strip()
        sources = [os.path.join(folder, name)
                   for folder, _, names in os.walk(self.path("java", "src", "main", "java"))
                   for name in names if name.endswith(".java")]
        call(["javac", "-nowarn", "-d", self.path("classes"), "-cp", libraries, *sources])
        call(["java", "-cp", self.path("classes") + ":" + libraries, "RoundTrip",
              *self.arguments()])

    def test_go(self):
        generators.need("go")
        call([*generators.openapi_generator(), "-g", "go", "-i", self.document,
              "-o", self.path("go"), "--git-host", "example.com", "--git-user-id", "x",
              "--git-repo-id", "seendb", "--additional-properties",
              "packageName=seendb,withGoMod=true"])
        # A module of the client's name beside the program that uses it.
        os.makedirs(self.path("go", "round_trip"))
        shutil.copy(os.path.join(HERE, "round_trip.go"), self.path("go", "round_trip"))
        call(["go", "mod", "edit", "-module", "example.com/seendb"], self.path("go"))
        environment = {"GOPATH": os.path.join(generators.CACHE, "go"), "GOTOOLCHAIN": "local",
                       "GOFLAGS": "-mod=mod -modcacherw -buildvcs=false"}
        try:
            call(["go", "get", "gopkg.in/validator.v2@v2.0.1"], self.path("go"), **environment)
        except RuntimeError as failed:
            raise Missing(str(failed)) from failed
        call(["go", "vet", "."], self.path("go"), **environment)
        call(["go", "run", "./round_trip", *self.arguments()], self.path("go"), **environment)

    def test_python(self):
        programs = generators.python_generator()
        call([os.path.join(programs, "openapi-python-client"), "generate", "--meta", "none",
              "--path", self.document, "--output-path", self.path("python", "seendb_client")])
        call([os.path.join(programs, "python"), os.path.join(HERE, "round_trip.py"),
              *self.arguments()], PYTHONPATH=self.path("python"))


def skipping(test):
    """The test, skipped where Missing is raised."""
    def run(self):
        try:
            test(self)
        except Missing as missing:
            print(f"SKIPPED {test.__name__}: {missing}", flush=True)
            self.skipTest(str(missing))
    return run


for NAME in ("test_java", "test_go", "test_python"):
    setattr(ClientsTest, NAME, skipping(getattr(ClientsTest, NAME)))

if __name__ == "__main__":
    RESULT = unittest.main(exit=False).result
    if not RESULT.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if len(RESULT.skipped) == RESULT.testsRun else 0)
