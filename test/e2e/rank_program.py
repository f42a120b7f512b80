#!/usr/bin/env python3
"""A rank for the tests of launching:  rank_program.py WHAT [TRANSPORT [VICTIM [PHASE [SIGNAL]]]]

  sum       joins, adds, says "rank R of N: sum S"
  fault     rank VICTIM sends SIGNAL to itself in PHASE (start, connected, flight, between); the others print how their
            call failed and when, then go on as a communicator of survivors and print its sum
  masks     joins, adds, says the processors of each of its threads
  shrink    the highest rank kills itself in flight, the others go on without it, until one is left: prints each sum
"""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import braid_rt  # noqa: E402

DEADLINE = float(os.environ.get("TEST_DEADLINE", "20"))


def say(text):
    os.write(1, (text + "\n").encode())  # one write, so that lines stay whole


def add(comm, count=4096):
    op = comm.all_reduce(count)
    wrong = os.environ.get("TEST_WRONG") and comm.rank == 1 and comm.ranks < 5  # the control of a bar
    total = op.run(comm.rank + (2 if wrong else 1))
    op.destroy()
    return total


def sum_(transport):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    say(f"rank {comm.rank} of {comm.ranks}: sum {add(comm)}")
    comm.destroy()


def masks(transport):
    """Adds, then reads back the processors of every thread of this process while the communicator is there."""
    comm = braid_rt.Runtime().comm(transport)
    add(comm)
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/status") as file:
            say("mask " + next(l.split()[1] for l in file if l.startswith("Cpus_allowed_list")))
    add(comm)
    comm.destroy()


def fault(transport, victim, phase, number):
    rank = int(os.environ["BRAID_RANK"])

    def hit(at):
        if rank == victim and at == phase:
            say(f"victim at {time.time():.6f}")
            os.kill(os.getpid(), number)
    hit("start")
    began = time.monotonic()
    comm = op = None
    try:
        comm = braid_rt.Runtime().comm(transport, DEADLINE)
        hit("connected")
        op = comm.all_reduce(1 << 20)
        op.run(1)
        for step in range(1 << 30):
            began = time.monotonic()
            op.start()
            if step == 3:
                hit("flight")
            op.wait()
            if step == 3:
                hit("between")
    except braid_rt.Error as error:
        say(f"rank {rank}: status {error.status} after {time.monotonic() - began:.3f} s at {time.time():.6f}: {error}")
    if comm and number == signal.SIGKILL:
        survivors = [r for r in range(comm.ranks) if r != victim]
        try:
            again = comm.subset(survivors)
            say(f"rank {rank}: survivors' sum {add(again)}")
        except braid_rt.Error as error:
            say(f"rank {rank}: no communicator of survivors: {error}")
    sys.exit(3)


def shrink(transport):
    comm = braid_rt.Runtime().comm(transport)
    say(f"sum {add(comm)} of {comm.ranks}")
    while comm.ranks > 1:
        op = comm.all_reduce(1 << 16)
        op.run(1)
        victim = comm.ranks - 1
        try:
            while True:
                op.start()
                if comm.rank == victim:
                    os.kill(os.getpid(), signal.SIGKILL)
                op.wait()
        except braid_rt.Error as error:
            if error.status != braid_rt.PEER_DIED or f"rank {victim} died" not in str(error):
                say(f"wrong error: {error}")
                sys.exit(3)
        comm = comm.subset(list(range(victim)))
        say(f"sum {add(comm)} of {comm.ranks}")


if __name__ == "__main__":
    what, transport, victim, phase, number = (sys.argv[1:] + [None] * 5)[:5]
    transport = None if transport in (None, "auto") else transport
    if what in ("sum", "shrink", "masks"):
        {"sum": sum_, "shrink": shrink, "masks": masks}[what](transport)
    else:
        fault(transport, int(victim), phase, getattr(signal, number))
