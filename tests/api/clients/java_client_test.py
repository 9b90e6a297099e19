"""The Java client that openapi-generator makes: native, which is java.net.http and Jackson."""

import glob
import os

import round_trip
from round_trip import FETCHED, HERE, main

OPTIONS = ("openApiNullable=false,hideGenerationTimestamp=true,invokerPackage=seendb,"
           "apiPackage=seendb.api,modelPackage=seendb.model")


class JavaClientTest(round_trip.RoundTrip):

    def make(self, document, folder):
        jars = glob.glob(os.path.join(FETCHED, "java", "*.jar"))
        generator = next(jar for jar in jars if "openapi-generator-cli" in jar)
        jars.remove(generator)
        self.run_command(["java", "-jar", generator, "generate", "-i", document, "-g", "java",
                          "--library", "native", "-o", "client", "--additional-properties=" + OPTIONS,
                          "--global-property",
                          "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"], folder)
        sources = glob.glob(os.path.join(folder, "client", "src", "main", "**", "*.java"),
                            recursive=True)
        self.run_command(["javac", "-nowarn", "-encoding", "UTF-8", "-d", "classes",
                          "-cp", ":".join(jars), os.path.join(HERE, "java", "RoundTrip.java")] +
                         sources, folder)
        return ["java", "-cp", ":".join(["classes"] + jars), "RoundTrip"]


if __name__ == "__main__":
    main("java", os.path.join("java", "jars.sha256"), "java", "javac")
