"""The library of script/spark and script/hdfs, for the tests of this folder."""
import sys

from tests.conftest import ROOT

sys.path[:0] = [str(ROOT / "script" / "spark"), str(ROOT / "script" / "hdfs")]

import standalone  # noqa: E402, F401 (where the rest is found)
from hosts import Namespaces, Names, why_no_namespaces  # noqa: E402
from samples import Samples, why_no_samples  # noqa: E402
from scopes import without_scopes  # noqa: E402
from cluster import wait_for  # noqa: E402

__all__ = ["ROOT", "Names", "Namespaces", "Samples", "wait_for", "why_no_namespaces", "why_no_samples",
           "without_scopes"]
