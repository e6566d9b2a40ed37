"""What only the suites of plumbd share."""

import pytest


@pytest.fixture(scope="session")
def fault_layer(build_dir):
    layer = build_dir / "tests/libfault_files.so"
    assert layer.is_file(), f"{layer} is not built: run script/build"
    return layer
