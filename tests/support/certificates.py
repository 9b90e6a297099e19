"""Certificates for tests, made by the program openssl in a folder of their own."""

import os
import subprocess


class Authority:
    """Signs certificates; `path` is its own."""

    def __init__(self, folder, name="ca"):
        self.folder = folder
        self.name = name
        self.path = os.path.join(folder, name + ".pem")
        self.key = os.path.join(folder, name + ".key")
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", self.key, "-out", self.path, "-subj", "/CN=" + name, "-days", "30")

    def make(self, name, alternatives="IP:127.0.0.1", days=30):
        """The files (certificate, key) of a certificate that ends in `days` (below 0: it has)."""
        base = os.path.join(self.folder, "%s-%s" % (self.name, name))
        certificate, key, request = base + ".pem", base + ".key", base + ".csr"
        run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            key, "-out", request, "-subj", "/CN=" + name)
        extensions = base + ".ext"
        with open(extensions, "w", encoding="utf-8") as file:
            file.write("subjectAltName=%s\n" % alternatives if alternatives else "")
        run("x509", "-req", "-in", request, "-CA", self.path, "-CAkey", self.key, "-CAcreateserial",
            "-out", certificate, "-days", str(days), "-extfile", extensions)
        os.chmod(key, 0o600)
        return certificate, key


def run(*arguments):
    """Runs openssl; a failure shows what it said."""
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("openssl %s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout
