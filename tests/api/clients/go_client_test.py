"""The Go client that oapi-codegen makes, which reads OpenAPI 3.0 only."""

import os
import shutil

import round_trip
from round_trip import FETCHED, HERE, main

GO = os.path.join(FETCHED, "go")


class GoClientTest(round_trip.RoundTrip):

    document = "/openapi-3.0.json"

    def make(self, document, folder):
        module = os.path.join(folder, "module")
        shutil.copytree(os.path.join(HERE, "go"), module)
        os.mkdir(os.path.join(module, "seendb"))
        self.run_command([os.path.join(GO, "bin", "oapi-codegen"), "-generate", "types,client",
                          "-package", "seendb", "-o", "seendb/seendb.gen.go", document], module)
        self.run_command(["go", "build", "-o", "round_trip", "."], module, GOPATH=GO, GOPROXY="off",
                         GOFLAGS="-mod=readonly -buildvcs=false", GOCACHE=os.path.join(GO, "build"))
        return [os.path.join(module, "round_trip")]


if __name__ == "__main__":
    main("go", os.path.join("go", "go.sum"), "go")
