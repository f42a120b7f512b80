#!/usr/bin/env python3
"""A rank for the tests of launching:  rank_program.py WHAT [TRANSPORT [VICTIM [PHASE [SIGNAL]]]]

  sum       joins, adds, says "rank R of N: sum S"
  fault     rank VICTIM sends SIGNAL to itself in PHASE (start, connected, flight, between); the others print how their
            call failed and when, then go on as a communicator of survivors and print its sum
  masks     joins, adds, says the processors of each of its threads, the one that makes progress among them
  cramped   a second communicator, for which rank VICTIM lacks PHASE (descriptors, file, memory): prints how the call failed
  leaver    rank VICTIM leaves in good order (PHASE: destroy, exit), the others go on and print how their call failed
  vanish    on an emulated fabric (TEST_PROFILE) with clock PHASE, rank VICTIM ends: in good order but without destroying
            anything, or by SIGNAL. The others go on in a subset, then print how a call that wants the victim failed
  relatives ranks 1 and 3 have a communicator of their own, or (PHASE: make) are about to; 3 kills itself, 1 sees it there and
            ends; the others look when both are gone, on that of all: prints how the calls failed
  tidy      rank 1 kills itself; 2 sees it, destroys what has failed and stays; 0, which waits for 2, looks after that (TEST_FLAG, a file):
            prints how its call failed
  worker    rank 1 forks a process that stays, then kills itself; rank 0 prints how its call failed
  lists     ranks 0 and 2 ask for a communicator of 0, 1, 2, the others for one of 0, 1, 3: prints how the call failed
  outsider  ranks 0 and 1 have a communicator of their own, 1 waits for 0, which does not come; 2 fails meanwhile
  abort     rank VICTIM fills its queue to the launcher and then gives up; the others print how their call failed
  own_mpi   initialises MPI itself (PHASE: single, funneled, serialized, multiple), adds by the engine "mpi", finalises MPI, and prints
            how calls failed that came later
  repeated  adds 1 MiB by algorithm PHASE, 4 times
  shrink    the highest rank kills itself in flight, the others go on without it, until one is left: prints each sum
"""
import ctypes
import os
import resource
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
    op = comm.all_reduce(1 << 16, algorithm="ring")
    names = lambda: [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]
    for _ in range(50):  # awaited late: a thread is wanted. All ranks go on equally long
        op.start()
        time.sleep(0.001)
        op.wait()
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/status") as file:
            say("mask " + next(l.split()[1] for l in file if l.startswith("Cpus_allowed_list")))
    say("threads " + " ".join(sorted(names())))
    op.destroy()
    comm.destroy()


def failed(rank, action, began=None):
    """Runs until the runtime has an error, and says which and when."""
    began = began or time.monotonic()
    try:
        action()
    except braid_rt.Error as error:
        say(f"rank {rank}: status {error.status} after {time.monotonic() - began:.3f} s at {time.time():.6f}: {error}")
        sys.exit(3)


def cramped(transport, victim, what):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    if comm.rank == victim:
        used = max(int(fd) for fd in os.listdir("/proc/self/fd"))
        size = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        kind, limit = {"descriptors": (resource.RLIMIT_NOFILE, used + 1), "file": (resource.RLIMIT_FSIZE, 1 << 20),
                       "memory": (resource.RLIMIT_AS, size + (4 << 20))}[what]
        resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))
    failed(comm.rank, lambda: comm.subset(list(range(comm.ranks))))


def leaver(transport, victim, how):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    op = comm.all_reduce(1 << 16)
    for _ in range(3):
        op.run(1)
    if how == "never":
        say("ready")
        failed(comm.rank, lambda: [op.run(1) for _ in iter(int, 1)])
    if comm.rank == victim:
        op.destroy()
        comm.destroy()
        say(f"victim at {time.time():.6f}")
        if how == "exit":
            sys.exit(0)
        signal.pause()
    failed(comm.rank, lambda: op.run(1))


def vanish(transport, victim, clock, number):
    comm = braid_rt.Runtime().comm(transport, DEADLINE, os.environ["TEST_PROFILE"], clock)
    others = comm.subset([r for r in range(comm.ranks) if r != victim]) if comm.rank != victim else None
    op = comm.all_reduce(256)
    if comm.rank == victim:
        op.run(1)
        say(f"victim at {time.time():.6f}")
        if number:
            os.kill(os.getpid(), number)
        sys.exit(0)
    if not number:  # what a rank did before it left counts
        op.run(1)
        totals = {add(others, 256) for _ in range(5)}
        say(f"rank {comm.rank}: sums {sorted(totals)}")
    try:
        op.run(1)
        op.run(1)
    except braid_rt.Error as error:
        say(f"rank {comm.rank}: status {error.status}: {error}")
    again = comm.subset([r for r in range(comm.ranks) if r != victim])
    say(f"rank {comm.rank}: survivors' sum {add(again, 256)}")


def relatives(transport, phase):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    own = comm.all_reduce(1)
    gone = [own.run(os.getpid() if comm.rank == rank else 0) for rank in (1, 3)]
    pair = comm.subset([1, 3]) if comm.rank in (1, 3) and phase != "make" else None
    op = comm.all_reduce(64)
    op.run(1)
    if comm.rank == 3:
        say(f"victim at {time.time():.6f}")
        os.kill(os.getpid(), signal.SIGKILL)
    if comm.rank == 1:
        failed(1, lambda: add(pair or comm.subset([1, 3])))
    while any(os.path.exists(f"/proc/{pid}") for pid in gone):
        time.sleep(0.001)
    failed(comm.rank, lambda: op.run(1))


def tidy(transport):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    op = comm.all_reduce(1 << 16, algorithm="ring")
    op.run(1)
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if comm.rank == 2:
        try:
            op.run(1)
        except braid_rt.Error:
            op.destroy()
            comm.destroy()
        open(os.environ["TEST_FLAG"], "w").close()
        signal.pause()
    while not os.path.exists(os.environ["TEST_FLAG"]):
        time.sleep(0.001)
    failed(0, lambda: op.run(1))


def worker(transport):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    op = comm.all_reduce(64)
    op.run(1)
    if comm.rank == 1:
        if os.fork() == 0:
            os.closerange(0, 3)
            signal.pause()
        say(f"victim at {time.time():.6f}")
        os.kill(os.getpid(), signal.SIGKILL)
    failed(comm.rank, lambda: op.run(1))


def lists(transport):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    failed(comm.rank, lambda: comm.subset([0, 1, 2 + comm.rank % 2]))


def outsider(transport):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    if comm.rank == 2:
        sys.stdin.readline()
        time.sleep(0.2)  # not to be in time: a failure at any moment must be heard
        say(f"victim at {time.time():.6f}")
        sys.exit(5)
    pair = comm.subset([0, 1])
    if comm.rank == 0:
        signal.pause()
    op = pair.all_reduce(64)
    failed(1, lambda: op.run(1))


def abort(transport, victim):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    add(comm)
    if comm.rank != victim:
        failed(comm.rank, lambda: add(comm))
    # The launcher stands still, so that what is sent to it stays where it is.
    word, _, out = os.environ["BRAID_CONTROL"].split(":")[:3]
    launcher, text = int(os.environ["BRAID_LAUNCHER"].split(":")[0]), b"\x01" + b"\0" * 12 + b"not urgent"
    os.kill(launcher, signal.SIGSTOP)
    sent = 0
    while word == "mq" and sent < 7:  # as many as the runtime would send
        expect(ctypes.CDLL(None).mq_send(int(out), text, len(text), 1) == 0)
        sent += 1
    say(f"victim at {time.time():.6f}")
    comm.abort("it is enough")
    os.kill(launcher, signal.SIGCONT)
    sys.exit(4)


def expect(condition):
    if not condition:
        raise SystemExit("rank_program: expected a place in the queue")


def own_mpi(transport, level):
    mpi = ctypes.CDLL(os.environ["TEST_LIBMPI"], mode=ctypes.RTLD_GLOBAL)
    got, finalised = ctypes.c_int(), ctypes.c_int()
    mpi.MPI_Init_thread(None, None, ("single", "funneled", "serialized", "multiple").index(level), ctypes.byref(got))
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    say(f"rank {comm.rank} of {comm.ranks}: sum {add(comm)}")
    op = comm.all_reduce(16)
    mpi.MPI_Finalized(ctypes.byref(finalised))
    say(f"rank {comm.rank}: {'finalised' if finalised.value else 'still there'}")
    mpi.MPI_Finalize()
    for name, call in (("plan", lambda: comm.all_reduce(4096)), ("run", lambda: op.run(1))):
        try:
            call()
            say(f"rank {comm.rank}: {name} works")
        except braid_rt.Error as error:
            say(f"rank {comm.rank}: {name}: status {error.status}: {error}")
    op.destroy()
    comm.destroy()


def repeated(transport, algorithm):
    comm = braid_rt.Runtime().comm(transport, DEADLINE)
    op = comm.all_reduce(1 << 17, algorithm=algorithm)
    totals = {op.run(comm.rank + 1) for _ in range(4)}
    say(f"rank {comm.rank} of {comm.ranks}: sum {totals.pop() if len(totals) == 1 else totals}")
    op.destroy()
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
        op = comm.all_reduce(1 << 17)
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
    alone = {"sum": sum_, "shrink": shrink, "masks": masks, "outsider": outsider, "lists": lists, "tidy": tidy,
             "worker": worker}
    if what in alone:
        alone[what](transport)
    elif what == "relatives":
        relatives(transport, phase)
    elif what == "vanish":
        vanish(transport, int(victim), phase, getattr(signal, number) if number else 0)
    elif what in ("cramped", "leaver"):
        {"cramped": cramped, "leaver": leaver}[what](transport, int(victim), phase)
    elif what == "abort":
        abort(transport, int(victim))
    elif what == "own_mpi":
        own_mpi(transport, phase)
    elif what == "repeated":
        repeated(transport, phase)
    else:
        fault(transport, int(victim), phase, getattr(signal, number))
