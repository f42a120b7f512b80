#!/usr/bin/env python3
"""Ranks that die or hang, in each phase: every survivor has a clear error in time, and goes on without them."""
import os
import re
import secrets
import signal
import socket
import subprocess
import tempfile
import time

from harness import CLUSTERS, check, expect, main
from launching import PROGRAM, PYTHON, Job, free_port, launch, run, sums, until

DEADLINE = 1.0  # seconds from a death to the errors of all survivors


def judge(job, ranks, victim, words, limit):
    """Every survivor's line: its status, the victim's name, and in time."""
    died = float(job.wait_for("victim at ").split()[-1])
    latest = 0.0
    for rank in set(range(ranks)) - {victim}:
        line = next((l for l in job.out if l.startswith(f"rank {rank}: status ")), None)
        expect(line, f"rank {rank} said nothing\n{job.text()}")
        expect(f"rank {victim}" in line.split(": ", 2)[2] and re.search(words, line), line)
        latest = max(latest, float(re.search(r" at ([\d.]+): ", line)[1]) - died)
    expect(latest < limit, f"{latest:.3f} s from the fault to the last error, expected {limit}\n{job.text()}")
    return latest


@check
def killed_in_each_phase():
    worst = 0.0
    for transport in ("shm", "tcp"):
        for phase in ("start", "connected", "flight", "between"):
            status, job = run("-n", 4, "--on-failure=keep", "--", PYTHON, PROGRAM, "fault", transport, 2, phase, "SIGKILL")
            # Also where the launcher has seen a survivor's end before that of the one that was killed.
            expect(status == 137 and "rank 2 was ended by signal 9" in job.text(), f"{status}\n{job.text()}")
            worst = max(worst, judge(job, 4, 2, "status 3 .*rank 2 died", DEADLINE))
            again = [l for l in job.out if "survivors" in l]
            if phase != "start":
                expect(sorted(again) == [f"rank {r}: survivors' sum 6" for r in (0, 1, 3)], job.text())
    return f"2 transports x 4 phases, the last error at most {worst:.3f} s after the death"


@check
def stopped_ranks_are_late():
    """A live rank that is stuck: the deadline, and its name."""
    for transport in ("shm", "tcp"):
        for phase in ("start", "flight"):
            with launch("-n", 3, "--on-failure=keep", "--grace=0.2", "--", PYTHON, PROGRAM, "fault", transport, 1, phase,
                        "SIGSTOP", env={"TEST_DEADLINE": "2"}) as job:
                until(lambda: sum(": status " in l for l in job.out) == 2, job.text)
                judge(job, 3, 1, "status (4|5) ", 6)  # 5: told by who noticed first
                job.process.send_signal(signal.SIGTERM)
                job.end()
                job.nothing_left()


@check
def the_launcher_ends_the_others():
    """Without --on-failure=keep the survivors have their say, and then are ended."""
    status, job = run("-n", 4, "--", PYTHON, PROGRAM, "fault", "shm", 2, "flight", "SIGKILL")
    expect(status == 137, f"{status}\n{job.text()}")
    judge(job, 4, 2, "status (3|5) ", DEADLINE)


def by_hand(rank, ranks, address, secret, *arguments, **more):
    """A rank without a launcher: rank 0 serves the store."""
    return Job(PYTHON, PROGRAM, *arguments, env={"BRAID_RANK": str(rank), "BRAID_RANKS": str(ranks), "BRAID_JOB_SECRET": secret,
                                                 "BRAID_RENDEZVOUS": address, "TEST_DEADLINE": "8", **more})


def all_of(jobs):
    class All:
        def __enter__(self):
            return jobs

        def __exit__(self, *_):
            for job in jobs:
                job.kill()
    return All()


@check
def rank_zero_serves_without_a_launcher():
    address, secret = f"127.0.0.1:{free_port()}", secrets.token_hex(16)
    with all_of([by_hand(r, 3, address, secret, "sum") for r in (2, 1, 0)]) as jobs:
        for job in jobs:
            expect(job.end() == 0, job.text())
    expect(sorted(l for job in jobs for l in job.out) == [f"rank {r} of 3: sum 6" for r in range(3)], "wrong sums")


@check
def the_store_dies():
    """Rank 0 serves and is killed while the others wait for rank 3, which never comes."""
    address, secret = f"127.0.0.1:{free_port()}", secrets.token_hex(16)
    host, port = address.split(":")

    def served():
        with socket.socket() as link:
            return link.connect_ex((host, int(port))) == 0

    with all_of([by_hand(r, 4, address, secret, "fault", "tcp", "9", "never", "SIGKILL") for r in (0, 1, 2)]) as jobs:
        until(served, "a store")
        # Rank 1 and 2 are known to have met when their connections are there.
        until(lambda: established(int(port)) >= 3, lambda: f"{established(int(port))} connections, expected 3")
        began = time.time()
        os.kill(jobs[0].process.pid, signal.SIGKILL)
        for job in jobs[1:]:
            expect(job.end() == 3, job.text())
            line = job.wait_for("status 3")
            expect("the store at " + address in line and "rank 0" in line, line)
            expect(float(re.search(r" at ([\d.]+): ", line)[1]) - began < DEADLINE, line)


def established(port):
    """Connections to a local port, seen from the server's side."""
    with open("/proc/net/tcp") as file:
        rows = [line.split() for line in file][1:]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


@check
def wrong_secrets_and_ports_in_use():
    secret = secrets.token_hex(16)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with by_hand(0, 2, address, secret, "fault", "tcp", "9", "never", "SIGKILL") as job:
            expect(job.end() == 3, job.text())
            expect("status 7" in job.text() and f"listen on {address}: expected a free port, but it is in use" in job.text(),
                   job.text())
    address = f"127.0.0.1:{free_port()}"
    with all_of([by_hand(0, 2, address, secret, "sum"),
                 by_hand(1, 2, address, secrets.token_hex(16), "fault", "tcp", "9", "never", "SIGKILL")]) as (good, bad):
        expect(bad.end() == 3 and "expected the same job secret" in bad.text() and secret not in bad.text(), bad.text())
        with by_hand(1, 2, address, secret, "sum") as right:  # the job goes on
            expect(right.end() == 0 and good.end() == 0, right.text() + good.text())
    with by_hand(0, 2, address, "", "fault", "tcp", "9", "never", "SIGKILL") as job:
        expect(job.end() == 3 and "BRAID_JOB_SECRET: expected a secret" in job.text(), job.text())


@check
def nobody_comes():
    address, secret = f"127.0.0.1:{free_port()}", secrets.token_hex(16)
    with by_hand(0, 3, address, secret, "fault", "tcp", "9", "never", "SIGKILL", TEST_DEADLINE="0.5") as job:
        expect(job.end() == 3, job.text())
        expect("status 4" in job.text() and "ranks 1, 2 have not come" in job.text(), job.text())
    with by_hand(1, 3, address, secret, "fault", "tcp", "9", "never", "SIGKILL", TEST_DEADLINE="0.5") as job:
        expect(job.end() == 3 and "store of rank 0 not found at " + address in job.text(), job.text())


@check
def several_ranks_and_both_launchers_killed_together():
    """Two ranks at one moment: the others name one of them. Everything but one rank at one moment: nothing is left."""
    with launch("-n", 4, "--on-failure=keep", "--", PYTHON, PROGRAM, "leaver", "tcp", 9, "never") as job:
        pids = until(lambda: ranks_of(job, 4), job.text)
        began = time.time()
        for rank in (1, 3):
            os.kill(pids[rank], signal.SIGKILL)
        until(lambda: sum(": status 3" in l for l in job.out) == 2, job.text)
        for line in (l for l in job.out if ": status 3" in l):
            expect(re.search(r"rank [13] died", line) and float(re.search(r" at ([\d.]+): ", line)[1]) - began < DEADLINE, line)
        job.end()
        job.nothing_left()
    with launch("-n", 4, "--", PYTHON, PROGRAM, "leaver", "shm", 9, "never") as job:
        pids = until(lambda: ranks_of(job, 4), job.text)
        launcher = int(open(f"/proc/{pids[0]}/stat").read().rsplit(")", 1)[1].split()[1])
        for pid in (pids[2], launcher, job.process.pid):  # each may take the ones before it along
            os.kill(pid, signal.SIGKILL)
        job.end()
        job.nothing_left(2)


def ranks_of(job, count):
    """The processes of the ranks once all of them are in flight."""
    if sum("ready" in l for l in job.out) < count:
        return None
    found = {}
    for pid in job.processes():
        with open(f"/proc/{pid}/environ", "rb") as file:
            for entry in file.read().split(b"\0"):
                if entry.startswith(b"BRAID_RANK="):
                    found[int(entry[11:])] = pid
    return found if len(found) == count else None


@check
def who_has_left_is_missed_at_once():
    """A rank that destroyed its communicator, or ended well, while the others want something of it."""
    worst = 0.0
    for transport in ("shm", "tcp"):
        for how in ("destroy", "exit"):
            with launch("-n", 3, "--on-failure=keep", "--grace=0.2", "--", PYTHON, PROGRAM, "leaver", transport, 1, how) as job:
                until(lambda: sum(": status " in l for l in job.out) == 2, job.text)
                worst = max(worst, judge(job, 3, 1, "status (3|5) .*rank 1 has left", DEADLINE))
                job.process.send_signal(signal.SIGTERM)
                job.end()
                job.nothing_left()
    return f"2 transports x destroyed, ended; known within {worst:.3f} s"


@check
def who_ends_after_a_failure_says_so_on_all_communicators():
    """A rank of a communicator of two ends since its peer died: on the communicator of all it is not taken for the cause."""
    for transport in ("shm", "tcp"):
        for phase in ("wait", "make"):
            status, job = run("-n", 4, "--on-failure=keep", "--", PYTHON, PROGRAM, "relatives", transport, 3, phase)
            expect(status == 137, f"{status}\n{job.text()}")
            judge(job, 4, 3, "status (3|5) .*rank 3 (of the job )?died", DEADLINE)


@check
def forks_do_not_hide_a_death():
    """They would hold its connections open."""
    for transport in ("shm", "tcp"):
        with launch("-n", 2, "--on-failure=keep", "--", PYTHON, PROGRAM, "worker", transport) as job:
            job.wait_for("rank 0: status ")
            judge(job, 2, 1, "status 3 .*rank 1 died", DEADLINE)


@check
def who_destroys_what_has_failed_is_not_the_cause():
    for transport in ("shm", "tcp"):
        with tempfile.TemporaryDirectory() as folder, \
                launch("-n", 3, "--on-failure=keep", "--grace=0.2", "--", PYTHON, PROGRAM, "tidy", transport,
                       env={"TEST_FLAG": os.path.join(folder, "destroyed")}) as job:
            line = job.wait_for("rank 0: status ")
            expect(re.search("rank 1 died", line) and "has left" not in line, line)
            job.process.send_signal(signal.SIGTERM)
            job.end()


@check
def the_launcher_tells_who_waits_for_somebody_else():
    """The failure of a rank outside a communicator ends a wait inside: over queues, and over sockets."""
    for wrapper in ([], ["prlimit", "--msgqueue=0"]):
        for transport in ("shm", "tcp"):
            with Job(*wrapper, "braid-launch", "-n", 3, "--", PYTHON, PROGRAM, "outsider", transport) as job:
                status = job.end()
                expect(status in (3, 5), f"{status}\n{job.text()}")
                line = job.wait_for("rank 1: status ")
                expect("status 5" in line and "the launcher says: rank 2 ended with exit status 5" in line, line)
                late = float(re.search(r" at ([\d.]+): ", line)[1]) - float(job.wait_for("victim at ").split()[-1])
                expect(late < DEADLINE, f"{late:.3f} s\n{job.text()}")
                job.nothing_left()


@check
def an_abort_overtakes_a_full_queue():
    with launch("-n", 3, "--verbose", "--", PYTHON, PROGRAM, "abort", "shm", 1) as job:
        job.end()
        said = [l for l in job.err if l.startswith("braid-launch: rank 1") and ("not urgent" in l or "gives up" in l)]
        expect(len(said) == 8 and "rank 1 gives up: rank 1: it is enough" in said[0], job.text())
        for rank in (0, 2):
            line = job.wait_for(f"rank {rank}: status 5")
            expect("rank 1" in line and "it is enough" in line, line)
        job.nothing_left()
    with Job("prlimit", "--msgqueue=0", "braid-launch", "-n", 3, "--", PYTHON, PROGRAM, "abort", "tcp", 1) as job:
        job.end()
        expect("braid-launch: rank 1 gives up: rank 1: it is enough" in job.err, job.text())


@check
def out_of_descriptors_files_and_memory():
    """A rank that is refused something in set-up says what, and which limit; all of them know at once, and by name."""
    worst = 0.0
    for transport, what, words in (("tcp", "descriptors", "Too many open files .*ulimit -n"),
                                   ("shm", "descriptors", "Too many open files .*ulimit -n"),
                                   ("shm", "file", "File too large .*1048576 bytes.*ulimit -f"),
                                   ("shm", "memory", "Cannot allocate memory .*ulimit -v")):
        with launch("-n", 3, "--on-failure=keep", "--", PYTHON, PROGRAM, "cramped", transport, 1, what) as job:
            expect(job.end() == 3, job.text())
            for rank in range(3):
                line = job.wait_for(f"rank {rank}: status ")
                expect(re.search(r"status [67] .*" + ("" if rank == 1 else ".*rank 1: ") + ".*" + words, line), line)
                worst = max(worst, float(re.search(r" after ([\d.]+) s", line)[1]))
            job.nothing_left()
    expect(worst < DEADLINE, f"{worst:.3f} s")
    text = f"[ $BRAID_RANK = 1 ] && ulimit -n 6; exec {PYTHON} {PROGRAM} sum tcp"  # nothing can be opened at all
    status, job = run("-n", 3, "--", "sh", "-c", text, env={"TEST_DEADLINE": "2"})
    expect(status not in (0, 124) and "ulimit -n" in job.text(), f"{status}\n{job.text()}")
    return f"tcp and shm, descriptors, file size, address space; known within {worst:.3f} s"


@check
def no_room_for_the_store():
    """Rank 0, which serves the store, says so before the others call it: one that can't accept is silent."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as program:
        program.write("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %r = braid.all_reduce sum %a groups = "
                      "#braid.groups<[[0, 1, 2, 3]]> : tensor<4xf32>\n  return %r : tensor<4xf32>\n}\n")
        program.flush()
        for limit in (8, 9, 10):
            with Job("prlimit", f"--nofile={limit}", "braid-run", program.name, "-n", 4, "--transport", "tcp") as job:
                expect(job.end() == 70 and re.search("store of 4 ranks.* expected room for 8 descriptors, got .*ulimit -n", job.text()),
                       job.text())


@check
def a_full_dev_shm_does_not_matter():
    """Nothing of ours lies there: memory is anonymous."""
    fill = "mount -t tmpfs -o size=4k none /dev/shm && head -c 4096 /dev/zero > /dev/shm/full; "
    wrapper = ["unshare", "-m", "sh", "-c"]
    if subprocess.run([*wrapper, fill + "exec true"], capture_output=True).returncode:
        return "skipped: no mount namespace can be made here"
    with Job(*wrapper, fill + 'exec "$@"', "-", "braid-launch", "-n", 3, "--", PYTHON, PROGRAM, "sum", "shm") as job:
        expect(job.end() == 0, job.text())
        sums(job, 3)


@check
def who_vanishes_on_an_emulated_clock_has_left_and_who_dies_has_died():
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "fabric.json")
        subprocess.run(["braid-sim", "emit-profile", "--cluster", os.path.join(CLUSTERS, "h100-roce-4x2.yaml"), "--placement",
                        "0:0,1:0,2:0", "-o", profile], check=True)
        for transport in ("emulated+shm", "emulated+tcp"):
            for clock in ("virtual", "wall"):
                for how, status in (((), 0), (("SIGKILL",), 137)):
                    for victim in (0, 2):
                        got, job = run("-n", 3, "--on-failure=keep", "--", PYTHON, PROGRAM, "vanish", transport, victim, clock,
                                       *how, env={"TEST_PROFILE": profile})
                        place = f"{transport}, {clock}, {how or 'exit'}, rank {victim}: {got}\n{job.text()}"
                        expect(got == status, place)
                        others = [r for r in range(3) if r != victim]
                        words = "died" if how else "has left"
                        for r in others:
                            expect(how or f"rank {r}: sums [3]" in job.out, place)
                            expect(any(f"rank {r}: status 3" in l and f"rank {victim} {words}" in l for l in job.out), place)
                            expect(f"rank {r}: survivors' sum 3" in job.out, place)


@check
def different_lists_of_members_are_told_at_once():
    for transport in ("shm", "tcp"):
        began = time.monotonic()
        status, job = run("-n", 4, "--on-failure=keep", "--", PYTHON, PROGRAM, "lists", transport, env={"TEST_DEADLINE": "60"})
        took = time.monotonic() - began
        lines = [l for l in job.out if "status 8" in l]
        expect(status == 3 and len(lines) == 4, f"{status}\n{job.text()}")
        for line in lines:
            expect("expected the same members on all ranks" in line and "ranks 0, 1, 2 on rank" in line
                   and "ranks 0, 1, 3 on rank" in line, line)
        expect(took < 20, f"{took:.1f} s, expected much less than the deadline of 60 s")


@check
def a_small_stack_is_enough():
    with Job("prlimit", "--stack=65536:65536", "braid-launch", "-n", 2, "--", "true") as job:
        expect(job.end() == 0, job.text())
    address, secret = f"127.0.0.1:{free_port()}", secrets.token_hex(16)
    small = lambda rank: Job("prlimit", "--stack=262144:262144", PYTHON, PROGRAM, "sum", env={
        "BRAID_RANK": str(rank), "BRAID_RANKS": "2", "BRAID_JOB_SECRET": secret, "BRAID_RENDEZVOUS": address})
    with all_of([small(0), small(1)]) as jobs:  # rank 0 serves the store, in a thread whose stack is as small
        for job in jobs:
            expect(job.end() == 0, job.text())


main(__file__)
