"""For the tests of launching: running jobs, waiting for what they say, finding what they leave behind.

Every job carries a mark in its environment, so that its processes are known wherever they went. Nothing here sleeps to be
in time: what is waited for is looked for until it is there or a deadline has passed.
"""
import hashlib
import hmac
import os
import secrets
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from harness import HERE, expect

PROGRAM = os.path.join(HERE, "rank_program.py")
PYTHON = sys.executable


def until(condition, what, seconds=20):
    """Looks again until the condition holds; returns what it gave."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        expect(time.monotonic() < deadline, f"{what() if callable(what) else what} within {seconds} s")
        time.sleep(0.005)


class Job:
    """A command with the mark, its output collected line by line."""

    def __init__(self, *command, env=None, **more):
        self.mark = f"braid-test-{secrets.token_hex(8)}"
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("BRAID_", "OMPI_", "SLURM_", "PMI"))}
        environment.update({"TEST_MARK": self.mark, "LC_ALL": "C.UTF-8"}, **(env or {}))
        self.process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, text=True, errors="replace", env=environment, **more)
        self.out, self.err = [], []
        self.readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.out), (self.process.stderr, self.err))]
        for reader in self.readers:
            reader.start()

    def _read(self, stream, lines):
        for line in stream:
            lines.append(line.rstrip("\n"))

    def text(self):
        return "\n".join(self.out + self.err)

    def wait_for(self, words, seconds=20):
        """The first line with these words."""
        found = until(lambda: [l for l in self.out + self.err if words in l] or (self.process.poll() is not None and [None]),
                      lambda: f"\"{words}\" in the output; it is:\n{self.text()}\n", seconds)
        expect(found[0] is not None or any(words in l for l in self.out + self.err),
               f"\"{words}\": not said before the end; output:\n{self.text()}")
        return found[0]

    def end(self, seconds=30):
        """Waits for the end; the exit status, as a shell gives it."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            expect(False, f"still running after {seconds} s; output:\n{self.text()}")
        for reader in self.readers:
            reader.join(5)
        return status if status >= 0 else 128 - status

    def processes(self):
        """Pids of everything that carries the mark, zombies not counted (they have no environment)."""
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                try:
                    with open(f"/proc/{name}/environ", "rb") as file:
                        if self.mark.encode() in file.read():
                            found.append(int(name))
                except OSError:
                    pass
        return found

    def nothing_left(self, seconds=10):
        until(lambda: not self.processes(), lambda: f"processes {self.processes()} are left, expected none", seconds)

    def kill(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.process.wait(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def launch(*arguments, **more):
    return Job("braid-launch", *arguments, **more)


def run(*arguments, seconds=60, **more):
    """A whole job: (exit status, job); nothing of it is left behind."""
    with launch(*arguments, **more) as job:
        status = job.end(seconds)
        job.nothing_left()
        return status, job


def sums(job, ranks):
    """Every rank has said the right sum, once."""
    expected = sorted(f"rank {r} of {ranks}: sum {ranks * (ranks + 1) // 2}" for r in range(ranks))
    expect(sorted(l for l in job.out if "sum" in l) == expected, job.text())


def free_port(host="127.0.0.1"):
    with socket.socket() as listener:
        listener.bind((host, 0))
        return listener.getsockname()[1]


def call_store(address, secret, rank, ranks, version=1):
    """The rendezvous' handshake, written a second time from its description: (verdict, connected socket)."""
    host, port = address.rsplit(":", 1)
    link = socket.create_connection((host, int(port)), 10)

    def read(count):
        data = b""
        while len(data) < count:
            piece = link.recv(count - len(data))
            if not piece:
                raise ConnectionError("closed")
            data += piece
        return data

    greeting = read(44)
    expect(greeting[:12] == b"BRAIDJOB" + struct.pack("<I", 1), greeting)
    theirs, mine = greeting[12:], secrets.token_bytes(32)
    fields = struct.pack("<IiIQ", version, rank, ranks, 1)
    link.sendall(b"BRAIDJOB" + fields + mine + hmac.digest(secret, b"caller" + theirs + mine + fields, hashlib.sha256))
    answer = read(8 + 120 + 32)
    verdict = struct.unpack("<I", answer[:4])[0]
    if verdict in (0, 3):
        expect(answer[128:] == hmac.digest(secret, b"listener" + theirs + mine + answer[:128], hashlib.sha256), "wrong code")
    return verdict, link
