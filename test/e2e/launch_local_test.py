#!/usr/bin/env python3
"""braid-launch on one host: output, exit status, signals, and nothing left behind, however it ends."""
import os
import signal
import socket
import struct
import subprocess
import time

from harness import check, expect, main
from launching import PROGRAM, PYTHON, Job, call_store, launch, run, sums, until


def script(text):
    return ["sh", "-c", text]


@check
def ranks_meet_and_add():
    for transport in ("auto", "shm", "tcp"):
        status, job = run("-n", 4, "--", PYTHON, PROGRAM, "sum", transport)
        expect(status == 0, f"{transport}: exit status {status}\n{job.text()}")
        sums(job, 4)
        expect(job.err == [], f"{transport}: {job.err}")
    return "4 ranks; default, shm, tcp"


@check
def programs_follow_on_each_other():
    """A rank may have ended its first program, and the next one begun it, before the others have."""
    status, job = run("-n", 3, "--", *script(f"for i in 1 2 3; do {PYTHON} {PROGRAM} sum || exit 1; done"))
    expect(status == 0 and len(job.out) == 9 and all(l.endswith("sum 6") for l in job.out), job.text())


@check
def who_am_i_is_in_the_log():
    status, job = run("-n", 2, "--", PYTHON, PROGRAM, "sum", env={"BRAID_LOG": "info"})
    lines = [l for l in job.err if l.startswith("braid: rank ")]
    expect(status == 0 and len(lines) == 2, job.text())
    for words in ("of 2 (braid, local ", "host " + os.uname().nodename, "of 2 there", "threads on processors ",
                  "control over message queues"):
        expect(all(words in l for l in lines), f"\"{words}\" is missing in {lines}")
    return lines[0]


@check
def lines_stay_whole():
    text = "i=0; while [ $i != 400 ]; do echo \"$BRAID_RANK $i " + "x" * 150 + "\"; i=$((i + 1)); done; printf 'no end'"
    status, job = run("-n", 4, "--prefix", "--", *script(text))
    expected = sorted(f"[{r}] {r} {i} " + "x" * 150 for r in range(4) for i in range(400)) + \
        sorted(f"[{r}] no end" for r in range(4))
    expect(status == 0 and sorted(job.out) == sorted(expected), f"{status}, {len(job.out)} lines: {job.out[:2]}")
    return f"{len(job.out)} lines of 4 ranks"


@check
def the_first_failure_ends_all():
    began = time.monotonic()
    status, job = run("-n", 3, "--", *script("if [ $BRAID_RANK = 1 ]; then echo first >&2; echo 'no such thing' >&2; exit 7; "
                                             "fi; exec sleep 1000"))
    expect(status == 7, f"exit status {status}, expected 7\n{job.text()}")
    said = [l for l in job.err if l.startswith("braid-launch:")]
    expect(said == ["braid-launch: rank 1 ended with exit status 7, its last line on stderr: no such thing; ending the other "
                    "2 ranks"], said)
    expect(time.monotonic() - began < 10, "took too long")
    status, job = run("-n", 2, "--", *script("[ $BRAID_RANK = 0 ] && kill -SEGV $$; exec sleep 1000"))
    expect(status == 139 and "rank 0 was ended by signal 11 (Segmentation fault)" in job.text(), f"{status} {job.text()}")
    return said[0]


@check
def others_go_on_if_asked():
    status, job = run("-n", 3, "--on-failure=keep", "--",
                      *script("[ $BRAID_RANK = 0 ] && exit 5; sleep 0.2; echo done; [ $BRAID_RANK != 2 ]"))
    expect(status == 5 and job.out == ["done", "done"], f"{status}\n{job.text()}")
    expect("rank 0 ended with exit status 5; the other 2 go on" in job.text(), job.text())


@check
def a_program_that_is_not_there():
    status, job = run("-n", 2, "--", "/nonexistent/program")
    expect(status == 127 and "program /nonexistent/program: No such file or directory" in job.text(), f"{status} {job.text()}")
    status, job = run("-n", 2, "--", "/etc/passwd")
    expect(status == 126 and "Permission denied" in job.text(), f"{status} {job.text()}")
    for wrong in ([], ["-n", "0", "true"], ["-n", "2x", "true"], ["--frob", "true"], ["-n"], ["--ranks=2", "true"],
                  ["--on-failure=maybe", "true"], ["--prefix=1", "true"]):
        status, job = run(*wrong)
        expect(status == 2 and "error:" in job.text(), f"{wrong}: {status} {job.text()}")


@check
def signals_reach_the_ranks():
    text = "trap 'echo got usr' USR1; trap 'echo got term; exit 0' TERM; echo ready; while :; do sleep 0.02; done"
    with launch("-n", 2, "--", *script(text)) as job:
        until(lambda: job.out.count("ready") == 2, job.text)
        job.process.send_signal(signal.SIGUSR1)
        until(lambda: job.out.count("got usr") == 2, job.text)
        job.process.send_signal(signal.SIGTERM)
        status = job.end()
        expect(status == 143 and job.out.count("got term") == 2, f"{status} {job.text()}")
        expect(job.err == ["braid-launch: asked to end by signal 15; ending the ranks here"], job.text())
        job.nothing_left()


@check
def who_does_not_listen_is_ended():
    text = "trap '' TERM INT; echo ready; while :; do sleep 0.02; done"
    for number in (signal.SIGTERM, signal.SIGINT):
        with launch("-n", 2, "--grace=0.2", "--", *script(text)) as job:
            until(lambda: job.out.count("ready") == 2, job.text)
            job.process.send_signal(number)
            expect(job.end(10) == 128 + number, job.text())
            job.nothing_left()
    # Also a stopped one, when another fails.
    status, job = run("-n", 2, "--grace=0.2", "--", *script("[ $BRAID_RANK = 0 ] && kill -STOP $$; exit 4"))
    expect(status == 4, f"{status} {job.text()}")


@check
def children_of_ranks_are_ended_too():
    # Detached, with the output kept open, ignoring the polite signal.
    text = "setsid sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' & "
    for end, expected in (("exit 0", 0), ("exit 9", 9)):
        status, job = run("-n", 2, "--grace=0.3", "--", *script(text + end))
        expect(status == expected, f"{status} {job.text()}")


def launchers(job):
    """Pids of the job's launcher, by name: front, keeper, launcher."""
    found = {}
    for pid in job.processes():
        try:
            with open(f"/proc/{pid}/comm") as file:
                name = file.read().strip()
            with open(f"/proc/{pid}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if name == "braid-keeper":
            found["keeper"] = pid
        elif name == "braid-launch":
            found["front" if parent == os.getpid() else "launcher"] = pid
    return found


@check
def a_killed_launcher_leaves_nothing():
    """Each of its processes, and each two at once; ranks with detached children."""
    text = "setsid sleep 1000 & echo ready; exec sleep 1000"
    for which in (["front"], ["keeper"], ["launcher"], ["front", "launcher"], ["front", "keeper"], ["keeper", "launcher"]):
        with launch("-n", 2, "--grace=1", "--", *script(text)) as job:
            until(lambda: job.out.count("ready") == 2, job.text)
            pids = until(lambda: len(launchers(job)) == 3 and launchers(job), lambda: f"{launchers(job)}, expected three processes")
            for name in which:
                os.kill(pids[name], signal.SIGKILL)
            expect(job.end() == 137, job.text())
            job.nothing_left()


@check
def output_that_cannot_be_written_is_an_error():
    talk = script("echo something")
    for place, why in ((">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")):
        with Job("sh", "-c", f'exec "$@" {place}', "-", "braid-launch", "-n", 2, "--", *talk) as job:
            expect(job.end() == 1 and job.text().count("error: ") == 1, f"{place}: {job.text()}")
            expect(f"braid-launch: error: standard output: {why}" in job.text(), f"{place}: {job.text()}")
            job.nothing_left()
        with Job("sh", "-c", f'exec "$@" {place}', "-", "braid-launch", "-n", 2, "--", "true") as job:
            expect(job.end() == 0, f"{place}, nothing to say: {job.text()}")
        with Job("sh", "-c", f'exec "$@" {place}', "-", "braid-launch", "--help") as job:
            expect(job.end() == 1 and f"error: standard output: {why}" in job.text(), f"{place}: {job.text()}")


@check
def in_namespaces_of_its_own():
    done = []
    for name, wrapper in (("pid", ["unshare", "-pf", "--mount-proc"]), ("pid, old /proc", ["unshare", "-pf"]),
                          ("ipc", ["unshare", "-i"]), ("user", ["unshare", "-r"]),
                          ("net", ["unshare", "-n", "sh", "-c", "ip link set lo up; exec \"$@\"", "-"])):
        if subprocess.run([*wrapper, "true"], capture_output=True).returncode:
            continue
        with Job(*wrapper, "braid-launch", "-n", 2, "--", PYTHON, PROGRAM, "sum", "tcp") as job:
            expect(job.end(60) == 0, f"{name}: {job.text()}")
            sums(job, 2)
            job.nothing_left()
        done.append(name)
    if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode == 0:
        with Job("unshare", "-n", "braid-launch", "-n", 2, "--", "true") as job:
            expect(job.end() == 1 and "ip link set lo up" in job.text(), job.text())
    expect(done, "no kind of namespace can be made here")
    return ", ".join(done)


CONTROL = r"""
import ctypes, os, select, struct, sys
word, a, b = os.environ["BRAID_CONTROL"].split(":")[:3]
rank = int(os.environ["BRAID_RANK"])
if rank == 1:
    sys.stdin.read(); os.write(1, b"failing\n"); sys.exit(5)
fd = int(a) if word == "mq" else int(b)   # aborts are urgent
select.select([fd], [], [], 20)
if word == "mq":
    buffer = ctypes.create_string_buffer(512)
    size = ctypes.CDLL(None).mq_receive(fd, buffer, 512, None)
    data = buffer.raw[:size]
else:
    data = os.read(fd, 512)
kind, who, scope = struct.unpack("<BiQ", data[:13])
os.write(1, f"{word}: kind {kind} rank {who}: {data[13:].decode()}\n".encode())
"""


@check
def the_reason_reaches_the_ranks_over_queues_or_sockets():
    status, job = run("-n", 2, "--", PYTHON, "-c", CONTROL)
    expect(status == 5 and "mq: kind 3 rank 1: rank 1 ended with exit status 5" in job.out, f"{status} {job.text()}")
    with Job("prlimit", "--msgqueue=0", "braid-launch", "-n", 2, "--", PYTHON, "-c", CONTROL) as job:
        status = job.end()
        expect(status == 5 and "unix: kind 3 rank 1: rank 1 ended with exit status 5" in job.out, f"{status} {job.text()}")
        announced = [l for l in job.err if "message queues refused" in l]
        expect(len(announced) == 1 and "control goes over Unix sockets for 2 of 2 ranks" in announced[0], job.text())
    return announced[0]


@check
def no_queue_keeps_its_name():
    folder = subprocess.run(["mktemp", "-d"], capture_output=True, text=True).stdout.strip()
    if subprocess.run(["mount", "-t", "mqueue", "none", folder], capture_output=True).returncode:
        os.rmdir(folder)
        return "skipped: the mqueue file system can't be mounted here"
    try:
        with launch("-n", 3, "--", *script("echo $BRAID_JOB $BRAID_CONTROL; exec sleep 1000")) as job:
            until(lambda: len(job.out) == 3, job.text)
            name = job.out[0].split()[0]
            expect(all(" mq:" in l for l in job.out), job.out)
            left = [n for n in os.listdir(folder) if name in n]
            expect(left == [], f"queues {left} have names while the job runs: a killed job would leave them")
    finally:
        subprocess.run(["umount", folder])
        os.rmdir(folder)


@check
def strangers_do_not_disturb():
    wait = "import os, sys, time\nprint(os.environ['BRAID_RENDEZVOUS'], os.environ['BRAID_JOB_SECRET'], flush=True)\n" \
           "while not os.path.exists(sys.argv[1]): time.sleep(0.005)\n" \
           "sys.argv = [sys.argv[2], 'sum']\nimport runpy\nrunpy.run_path(sys.argv[0], run_name='__main__')"
    gate = f"/tmp/braid-test-gate-{os.getpid()}"
    try:
        with launch("-n", 2, "--", PYTHON, "-c", wait, gate, PROGRAM) as job:
            until(lambda: len(job.out) == 2, job.text)
            address, secret = job.out[0].split()
            expect(address.startswith("127.0.0.1:"), address)
            verdict, _ = call_store(address, b"not the job's secret", 1, 2)
            expect(verdict == 1, f"a wrong secret: verdict {verdict}, expected 1")
            expect(call_store(address, secret.encode(), 2, 2)[0] == 3, "rank 2 of 2 was not refused")
            verdict, known = call_store(address, secret.encode(), 1, 2)
            expect(verdict == 0, f"the right secret: verdict {verdict}, expected 0")
            expect(call_store(address, secret.encode(), 1, 2)[0] == 3, "rank 1 was admitted twice")
            known.sendall(struct.pack("<IB", 1, 8))  # leaves with a farewell
            expect(known.recv(5) == struct.pack("<IB", 1, 100), "no answer to a farewell")
            host, port = address.split(":")
            crowd = [socket.create_connection((host, int(port))) for _ in range(100)]
            for one in crowd[:50]:
                one.sendall(b"GET / HTTP/1.0\r\n\r\n")
            open(gate, "w").close()
            expect(job.end() == 0, job.text())
            sums(job, 2)
    finally:
        if os.path.exists(gate):
            os.unlink(gate)


@check
def many_ranks():
    began = time.monotonic()
    status, job = run("-n", 96, "--", *script("echo $BRAID_RANK $BRAID_CONTROL"))
    expect(status == 0 and sorted(int(l.split()[0]) for l in job.out) == list(range(96)), job.text()[-500:])
    sockets = sum(" unix:" in l for l in job.out)
    expect(bool(sockets) == any("message queues refused" in l for l in job.err), job.err)
    return f"96 ranks in {time.monotonic() - began:.1f} s, {sockets} of them over sockets"


@check
def threads_stay_inside_the_mask():
    """One allowed CPU, 2 and 8 ranks: nothing hangs, and no thread's mask is wider than what was inherited."""
    for count in (2, 8):
        with Job("taskset", "-c", "0", "braid-launch", "-n", count, "--", PYTHON, PROGRAM, "masks", "auto",
                 env={"BRAID_LOG": "info"}) as job:
            expect(job.end(90) == 0, job.text())
            masks = [l for l in job.out if l.startswith("mask ")]
            expect(len(masks) >= count and set(masks) == {"mask 0"}, f"{count} ranks: {masks}")
            driven = sum("braid-progress" in l for l in job.out)
            expect(driven == count, f"{driven} of {count} ranks have a progress thread, expected all\n{job.text()}")
            expect(sum("threads on processors 0 of 0" in l for l in job.err) == count, job.text())
    with Job("taskset", "-c", "0", "braid-launch", "-n", 2, "--", PYTHON, PROGRAM, "sum",
             env={"BRAID_LOG": "info", "BRAID_AFFINITY": "off"}) as job:
        expect(job.end(60) == 0 and job.text().count("BRAID_AFFINITY=off") == 2, job.text())


main(__file__)
