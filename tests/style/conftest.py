"""PLUMB_CHANGED, names of files: of the tests about one file each, only those of these run. script/check sets it."""

import os

from tests.style.test_style import name


def pytest_collection_modifyitems(config, items):
    if "PLUMB_CHANGED" not in os.environ:
        return
    changed = os.environ["PLUMB_CHANGED"].split()

    def wanted(item):
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        return "path" not in parameters or name(parameters["path"]) in changed

    config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    items[:] = [item for item in items if wanted(item)]
