"""The Python client that openapi-python-client makes."""

import os

import round_trip
from round_trip import FETCHED, HERE, main


class PythonClientTest(round_trip.RoundTrip):

    def make(self, document, folder):
        programs = os.path.join(FETCHED, "python", "bin")
        client = os.path.join(folder, "seendb_client")
        self.run_command([os.path.join(programs, "openapi-python-client"), "generate", "--path",
                          document, "--meta", "none", "--output-path", client], folder)
        python = os.path.join(programs, "python")
        self.run_command([python, "-m", "compileall", "-q", client], folder)
        return ["env", "PYTHONPATH=" + folder, python,
                os.path.join(HERE, "python", "round_trip.py")]


if __name__ == "__main__":
    main("python", os.path.join("python", "requirements.txt"), "python3")
