"""Keeps a host busy with something that is no task: busy.py cpu | disk FOLDER | network [HOST PORT]. 8 processes, until
killed.

cpu: loops over 10^6 random integers. disk: characters written to files again and again, 10^7 at a time. network:
messages of 512 characters exchanged with a peer over TCP; without HOST and PORT it is that peer, and prints its
port."""

import ctypes
import os
import random
import signal
import socket
import sys
import threading

PROCESSES = 8
NUMBERS = 1_000_000
CHARACTERS = 10_000_000
MESSAGE = 512


def cpu():
    numbers = [random.randrange(1 << 30) for _ in range(NUMBERS)]
    while True:
        total = 0
        for number in numbers:
            total += number


def disk(folder):
    path = os.path.join(folder, f"busy-{os.getpid()}")
    text = b"x" * 1_000_000
    with open(path, "wb", buffering=0) as file:
        os.unlink(path)
        while True:
            file.seek(0)
            for _ in range(CHARACTERS // len(text)):
                file.write(text)
                os.fdatasync(file.fileno())


def receive(connection):
    got = 0
    while got < MESSAGE:
        part = connection.recv(MESSAGE - got)
        if not part:
            return False
        got += len(part)
    return True


def network(host, port):
    with socket.create_connection((host, int(port))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            connection.sendall(b"x" * MESSAGE)
            if not receive(connection):
                return


def peer(address="0.0.0.0"):
    def answer(connection):
        with connection:
            while receive(connection):
                connection.sendall(b"y" * MESSAGE)

    with socket.create_server((address, 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            threading.Thread(target=answer, args=[server.accept()[0]], daemon=True).start()


def main():
    kind, arguments = sys.argv[1], sys.argv[2:]
    die_with_parent = ctypes.CDLL(None).prctl
    die_with_parent(1, signal.SIGKILL)
    if kind == "network" and not arguments:
        peer()
    work = {"cpu": cpu, "disk": disk, "network": network}[kind]
    for _ in range(PROCESSES - 1):
        if os.fork() == 0:
            die_with_parent(1, signal.SIGKILL)
            break
    work(*arguments)


if __name__ == "__main__":
    main()
