#!/usr/bin/env python3
"""Ranks from other launchers: their environment variables, and the MPIs' own where they are installed."""
import os
import secrets
import shutil
import socket

from harness import check, expect, main
from launching import PROGRAM, PYTHON, Job, free_port


def together(environments, *arguments):
    """One process for each environment; all must end well. Gives their lines."""
    jobs = [Job(PYTHON, PROGRAM, *arguments, env={"BRAID_LOG": "info", **e}) for e in environments]
    try:
        for job in jobs:
            expect(job.end(40) == 0, job.text())
        return [l for job in jobs for l in job.out], [l for job in jobs for l in job.err]
    finally:
        for job in jobs:
            job.kill()


def expect_sums(lines, ranks):
    expect(sorted(lines) == sorted(f"rank {r} of {ranks}: sum {ranks * (ranks + 1) // 2}" for r in range(ranks)), lines)


@check
def torchrun():
    secret, port = secrets.token_hex(16), str(free_port())
    out, err = together([{"RANK": str(r), "WORLD_SIZE": "3", "LOCAL_RANK": str(r), "LOCAL_WORLD_SIZE": "3",
                          "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "BRAID_JOB_SECRET": secret} for r in range(3)], "sum")
    expect_sums(out, 3)
    expect(sum("(torchrun, local" in l for l in err) == 3, err)


@check
def torchrun_while_its_store_listens():
    """The port of MASTER_PORT is torchrun's own; ours must not clash, also with one of our candidates in use."""
    secret = secrets.token_hex(16)
    with socket.socket() as theirs:
        theirs.bind(("127.0.0.1", 0))
        theirs.listen()
        port = str(theirs.getsockname()[1])
        environments = [{"RANK": str(r), "WORLD_SIZE": "2", "LOCAL_RANK": str(r), "LOCAL_WORLD_SIZE": "2",
                         "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "BRAID_JOB_SECRET": secret} for r in range(2)]
        expect_sums(together(environments, "sum")[0], 2)
        # Where was the store? Take that port and run again: the next candidate serves.
        _, err = together(environments, "sum")
        first = err[0].split("store ")[1].split(")")[0]
        host, number = first.split(":")
        with socket.socket() as squatter:
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            squatter.bind((host, int(number)))
            squatter.listen()
            expect_sums(together(environments, "sum")[0], 2)
    return f"port {number} in use, the next one served"


@check
def mpich_and_slurm_variables():
    secret = secrets.token_hex(16)
    out, err = together([{"PMI_RANK": str(r), "PMI_SIZE": "2", "BRAID_JOB_SECRET": secret} for r in range(2)], "sum", "tcp")
    expect_sums(out, 2)
    expect(sum("(PMI, store" in l for l in err) == 2, err)
    out, err = together([{"SLURM_PROCID": str(r), "SLURM_NTASKS": "2", "SLURM_LOCALID": str(r), "SLURM_NODEID": "0",
                          "SLURM_JOB_ID": "77", "BRAID_JOB_SECRET": secret} for r in range(2)], "sum")
    expect_sums(out, 2)
    expect(sum("(Slurm, local" in l for l in err) == 2, err)


@check
def one_process():
    out, err = together([{}], "sum")
    expect_sums(out, 1)
    expect("(single)" in err[0], err)


@check
def contradictions():
    for env, words in (({"RANK": "0"}, "RANK is set, but WORLD_SIZE is not"), ({"PMI_RANK": "2", "PMI_SIZE": "2"}, "PMI_RANK"),
                       ({"BRAID_RANK": "x", "BRAID_RANKS": "2"}, 'BRAID_RANK: expected a number from 0 to')):
        with Job(PYTHON, PROGRAM, "sum", env=env) as job:
            expect(job.end() == 1 and words in job.text(), job.text())


def mpi(program, kind, *options):
    """Three ranks under an MPI's own launcher."""
    where = shutil.which(program)
    if not where:
        return f"skipped: {program} is not installed"
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.getuid() == 0 else {}
    for transport in ("shm", "tcp"):
        with Job(where, *options, "-n", 3, PYTHON, PROGRAM, "sum", transport,
                 env={"BRAID_JOB_SECRET": secrets.token_hex(16), "BRAID_LOG": "info", **root}) as job:
            expect(job.end(60) == 0, job.text())
            expect_sums([l for l in job.out if "sum" in l], 3)
            expect(job.text().count(f"({kind}, ") == 3, job.text())
            job.nothing_left()
    return kind


@check
def open_mpi():
    return mpi("mpirun.openmpi", "Open MPI", "--oversubscribe")


@check
def mpich():
    return mpi("mpiexec.hydra", "PMI") if shutil.which("mpiexec.hydra") else mpi("mpiexec.mpich", "PMI")


main(__file__)
