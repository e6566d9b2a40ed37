"""plumb on a terminal (a pseudo terminal): colours, width and progress are there, and only there."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import threading

import pytest

from tests.cli.conftest import DATA, ENVIRONMENT, PLUMB, CannedServer


class Terminal:
    """Runs plumb with standard output and error on a terminal so many columns wide."""

    def __init__(self, *arguments, columns=100, env=None, stdout=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.process = subprocess.Popen(
            [PLUMB, *arguments],
            stdin=slave,
            stdout=stdout or slave,
            stderr=slave,
            env={**ENVIRONMENT, "TERM": "xterm", **(env or {})},
        )
        os.close(slave)
        self.text = ""

    def read_until(self, pattern, seconds=60):
        """More of what is on the terminal, until it matches."""
        while not re.search(pattern, self.text):
            assert select.select([self.master], [], [], seconds)[0], f"{pattern!r} did not come: {self.text!r}"
            self.text += os.read(self.master, 65536).decode()

    def read_all(self):
        while True:
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # EIO: the other side is closed
                break
            if not piece:
                break
            self.text += piece.decode()
        os.close(self.master)
        assert self.process.wait(timeout=60) == 0, self.text
        return self.text.replace("\r\n", "\n")


def plain(text):
    return re.sub(r"\x1b\[[\d;]*[mK]|\r", "", text)


def test_colours_of_roles(canned):
    canned.answer_file("functions.json")
    text = Terminal("functions", "--server", canned.address, columns=160).read_all()
    assert "\x1b[37mFileSystem#createFileSystem\x1b[0m" in text  # client: white
    assert "\x1b[34msendBlock\x1b[0m" in text  # datanode: blue
    assert plain(text) == (DATA / "functions.txt").read_text()


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb terminal"])
def test_no_colours(env, canned):
    canned.answer_file("functions.json")
    assert "\x1b" not in Terminal("functions", "--server", canned.address, columns=160, env=env).read_all()


def test_no_color_may_be_overruled(canned):
    canned.answer_file("functions.json")
    assert (
        "\x1b[34m"
        in Terminal("functions", "--color", "always", "--server", canned.address, env={"NO_COLOR": "1"}).read_all()
    )


def test_width_of_the_terminal(canned):
    canned.answer_file("functions.json")
    assert (
        plain(Terminal("functions", "--server", canned.address, columns=80).read_all())
        == (DATA / "functions_80.txt").read_text()
    )


class SlowServer(CannedServer):
    """Answers when it is told to go on."""

    def __init__(self):
        super().__init__()
        self.go_on = threading.Event()
        handle = self.server.RequestHandlerClass.do_GET
        self.server.RequestHandlerClass.do_GET = lambda request: (self.go_on.wait(60), handle(request))


@pytest.fixture
def slow():
    server = SlowServer()
    yield server
    server.close()


def test_progress_while_waiting(slow):
    slow.answer_file("verify_same.json")
    terminal = Terminal("verify", "--server", slow.address, columns=60)
    terminal.read_until(r"recomputing all statistics  [1-9]\d* s")
    slow.go_on.set()
    text = terminal.read_all()
    drawn, answer = text.rsplit("\r\x1b[K", 1)  # the line is taken away before the answer comes
    assert "recomputing" in drawn and "recomputing" not in answer
    assert plain(answer) == (DATA / "verify_same.txt").read_text()


def test_progress_goes_to_standard_error_only(slow, tmp_path):
    slow.answer_file("verify_same.json")
    with open(tmp_path / "out", "w") as out:
        terminal = Terminal("verify", "--server", slow.address, stdout=out)
        terminal.read_until("recomputing")
        slow.go_on.set()
        terminal.read_all()
    assert (tmp_path / "out").read_text() == (DATA / "verify_same.txt").read_text()


def test_no_progress_when_told(slow, tmp_path):
    slow.answer_file("forest_none.json")
    path = tmp_path / "analysis.conf"
    path.write_text("[analysis]\nprogress=false\n")
    terminal = Terminal("forest", "--config", str(path), "--server", slow.address)
    # Longer than the first line would take to come: a thing that must not happen can only be waited for.
    assert not select.select([terminal.master], [], [], 1.5)[0]
    slow.go_on.set()
    assert terminal.read_all().startswith("No traces")


def test_progress_of_an_import(plumbd, tmp_path):
    """A pipe that gives some spans and then pauses: the line tells how many went out."""
    from tests.cli.real import json_lines, make_spans

    spans = make_spans(50)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    terminal = Terminal("import", str(fifo), "--thrift", plumbd.thrift_address, "--server", plumbd.http)
    with open(fifo, "w") as out:
        out.write(json_lines(spans))
        out.flush()
        terminal.read_until(rf"importing  {len(spans)} spans  \d+/s")
    text = terminal.read_all()
    assert f"sent {len(spans)} spans: {len(spans)} accepted" in plain(text)
