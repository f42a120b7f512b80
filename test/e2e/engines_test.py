#!/usr/bin/env python3
"""Engines of other libraries: who asks for one that is not there is told what to do; islands of two launchers are one job."""
import os
import re
import secrets
import shutil
import subprocess
import tempfile

from harness import check, expect, main
from launching import PROGRAM, PYTHON, Job, free_port, launch, run, sums, until

LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(shutil.which("braid-launch") or "/")), "lib")
LIMIT = 2.0  # seconds from a death to the errors of all survivors
MPIRUN = shutil.which("mpirun.openmpi")


def has_module():
    return MPIRUN and os.path.exists(os.path.join(LIBRARIES, "libbraid-engine-mpi-openmpi.so"))


def refused(words, ranks=2, program=("sum", "shm"), **env):
    status, job = run("-n", ranks, "--", PYTHON, PROGRAM, *program, env={"TEST_DEADLINE": "8", **env})
    expect(status and re.search(words, job.text()), f"{status}, expected '{words}'\n{job.text()}")


@check
def engines_that_are_not_there():
    refused(r"engine \(BRAID_ENGINE\): expected one of braid, .*mpi.*, or several with commas between them, got 'mpj'", BRAID_ENGINE="mpj")
    refused("BRAID_MPI: expected openmpi or mpich, got 'lam'", BRAID_ENGINE="mpi", BRAID_MPI="lam")
    refused(r"engine 'mpi': expected a process that mpirun has started, or BRAID_MPI \(openmpi or mpich\)", BRAID_ENGINE="mpi")
    with tempfile.TemporaryDirectory() as folder:
        refused("engine 'mpi': .*expected libbraid-engine-mpi-mpich.so beside the runtime, which a build with that MPI makes "
                r"\(libopenmpi-dev, libmpich-dev\), or in BRAID_ENGINE_PATH, got '.*No such file", BRAID_ENGINE="mpi", BRAID_MPI="mpich",
                BRAID_ENGINE_PATH=folder)
    refused(r"expected an engine or islands, got engine 'mpi' \(BRAID_ENGINE\) and islands 'braid:0-1' \(BRAID_ISLANDS\)", BRAID_ENGINE="mpi", BRAID_ISLANDS="braid:0-1")


@check
def ranks_that_name_different_engines():
    script = 'if [ $BRAID_RANK = 1 ]; then export BRAID_ENGINE=mpi; fi; exec "$0" "$@"'
    status, job = run("-n", 2, "--", "sh", "-c", script, PYTHON, PROGRAM, "sum", "shm")
    expect(status and "rank 0: communicator: expected version 1, transport 'shm' on all ranks, got version 1, transport 'shm', "
           "engine mpi on rank 1" in job.text(), job.text())


@check
def processes_that_are_no_mpi_job():
    if not has_module():
        return "no Open MPI here"
    refused("engine 'mpi': expected 2 processes in the MPI job, got 1; start them all with one mpirun", BRAID_ENGINE="mpi", BRAID_MPI="openmpi")


@check
def programs_that_are_of_mpi_already():
    """What a program has initialised it finalises, for however few threads; what it then asks of the engine is refused, not its end."""
    if not has_module():
        return "no Open MPI here"
    linked = subprocess.run(["ldd", os.path.join(LIBRARIES, "libbraid-engine-mpi-openmpi.so")], capture_output=True, text=True).stdout
    libmpi = re.search(r"libmpi\.so\S* => (\S+)", linked)[1]
    for level in ("single", "funneled", "serialized", "multiple"):
        job = Job(MPIRUN, "--allow-run-as-root", "--oversubscribe", "-np", 2, PYTHON, PROGRAM, "own_mpi", "shm", 0, level,
                  env={"BRAID_ENGINE": "mpi", "BRAID_JOB_SECRET": secrets.token_hex(16), "TEST_LIBMPI": libmpi, "BRAID_LOG": "on"})
        with job:
            status = job.end()
        expect(status == 0, f"{level}: {status}\n{job.text()}")
        expect("braid: communicator of ranks 0, 1 of the job: operations run by engine 'mpi'" in job.text(), job.text())
        for rank in range(2):
            expect(f"rank {rank} of 2: sum 3" in job.out and f"rank {rank}: still there" in job.out, job.text())
            for call in ("plan", "run"):
                expect(re.search(f"rank {rank}: {call}: status 1: .*got a process that has called MPI_Finalize", job.text()), job.text())
    return "4 levels"


@check
def layouts_that_are_wrong():
    for layout, words in (("braid:0-1,3", "no island for rank 2"), ("braid:0-2;mpi:2-3", "rank 2 twice"),
                          ("braid", "got 'braid'"), ("braid:0-", "ranks '0-'"), ("braid:0-1;mpj:2-3", "got 'mpj'")):
        refused(f"islands .BRAID_ISLANDS.: .*{words}", ranks=4, BRAID_ISLANDS=layout)


@check
def islands_of_one_launcher():
    """Both by Braid, in an order of ranks that is not theirs."""
    status, job = run("-n", 5, "--", PYTHON, PROGRAM, "sum", "shm", env={"BRAID_ISLANDS": "braid:0,3;braid:1-2,4"})
    expect(status == 0, job.text())
    sums(job, 5)


class Islands:
    """Ranks 0 to 4 of braid-launch and 5 to 7 of mpirun, one job."""

    def __init__(self, *program, options=(), script='export BRAID_RANK=$((5 + OMPI_COMM_WORLD_RANK)); exec "$0" "$@"', **more):
        address = f"127.0.0.1:{free_port()}"
        env = {"BRAID_JOB_SECRET": secrets.token_hex(16), "BRAID_ISLANDS": "braid:0-4;mpi:5-7", "TEST_DEADLINE": "10", **more}
        self.braid = launch("-n", 5, "--ranks=8", f"--rendezvous={address}", "--on-failure=keep", "--", PYTHON, PROGRAM, *program, env=env)
        self.mpi = Job(MPIRUN, "--allow-run-as-root", "--oversubscribe", *options, "-np", 3, "sh", "-c", script, PYTHON, PROGRAM, *program,
                       env={**env, "BRAID_RANKS": "8", "BRAID_RENDEZVOUS": address})

    def __enter__(self):
        self.braid.__enter__()
        self.mpi.__enter__()
        return self

    def __exit__(self, *what):
        self.mpi.__exit__(*what)
        self.braid.__exit__(*what)

    def text(self):
        return self.braid.text() + "\n" + self.mpi.text()

    def lines(self):
        return self.braid.out + self.mpi.out


@check
def islands_of_two_launchers():
    if not has_module():
        return "no Open MPI here"
    for transport in ("shm", "tcp"):
        with Islands("sum", transport) as job:
            expect(job.braid.end() == 0 and job.mpi.end() == 0, job.text())
            expect(sorted(job.lines()) == [f"rank {r} of 8: sum 36" for r in range(8)], job.text())
    return "5 ranks of braid-launch and 3 of mpirun"


@check
def some_ranks_of_a_job():
    """mpirun numbers its own from 0; BRAID_FIRST_RANK puts them behind the others."""
    if not has_module():
        return "no Open MPI here"
    with Islands("sum", "shm", script='exec "$0" "$@"', BRAID_FIRST_RANK="5") as job:
        expect(job.braid.end() == 0 and job.mpi.end() == 0, job.text())
        expect(sorted(job.lines()) == [f"rank {r} of 8: sum 36" for r in range(8)], job.text())


@check
def a_death_on_either_island():
    """Every survivor, on both islands, has one error, which names the victim, in time."""
    if not has_module():
        return "no Open MPI here"
    worst = 0.0
    for victim in (2, 6):
        for phase in ("connected", "flight", "between"):
            # What mpirun does by itself when one of its ranks dies is to kill the others: here they shall have their say.
            with Islands("fault", "shm", victim, phase, "SIGKILL", options=["--enable-recovery"]) as job:
                survivors = [r for r in range(8) if r != victim]
                said = lambda: [l for r in survivors for l in job.lines() if l.startswith(f"rank {r}: status ")]
                until(lambda: len(said()) == 7, job.text)
                died = float(next(l for l in job.lines() if l.startswith("victim at ")).split()[-1])
                for line in said():
                    expect(re.search(f"status (3|5) .*rank {victim}", line), line)
                    worst = max(worst, float(re.search(r" at ([\d.]+): ", line)[1]) - died)
    expect(worst < LIMIT, f"{worst:.3f} s from a death to the last error, expected {LIMIT} s")
    return f"2 islands x 3 phases, the last error {worst:.3f} s after the death"


main(__file__)
