"""The image to begin with: a Debian 13 as small as debootstrap makes it, kept as a tar."""

import os
import sys

from report import Failure

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "debian"))
import tree  # noqa: E402

SUITE = "trixie"


def find(options):
    """A tar for buildah, the name of an image otherwise; "" for the Dockerfile's own."""
    if options.base or options.engine != "buildah":
        return options.base
    try:
        return tree.base(SUITE, options.mirror or None)
    except tree.Unavailable as why:
        raise Failure(str(why)) from None
