"""conf/plumb-bridge.service: its options exist, and it writes only where it may."""

import configparser
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("PLUMB_BUILD") or ROOT / "build/default")
PROGRAM = BUILD / "spark-bridge/plumb-bridge"


def test_unit(tmp_path):
    unit = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes="#")
    unit.optionxform = str
    unit.read(ROOT / "conf/plumb-bridge.service")
    service = unit["Service"]
    program, *arguments = service["ExecStart"].split()
    assert program == "/usr/bin/plumb-bridge"
    known = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    options = [argument for argument in arguments if argument.startswith("--")]
    assert options and all(option in known for option in options)
    state = arguments[arguments.index("--state") + 1]
    assert state.startswith(f"/var/lib/{service['StateDirectory']}/")
    if verify := shutil.which("systemd-analyze"):
        copy = tmp_path / "plumb-bridge.service"
        copy.write_text((ROOT / "conf/plumb-bridge.service").read_text().replace(program, str(PROGRAM)))
        done = subprocess.run([verify, "verify", copy], capture_output=True, text=True, timeout=60)
        assert "plumb-bridge.service:" not in done.stderr, done.stderr
