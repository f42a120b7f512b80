"""What the bars of the engine 'mpi' share: starting ranks under an MPI that is here and that the build has a module for."""
import os
import secrets
import shutil

import bar

# How a launcher is told to start ranks on few processors; BRAID_RANK is theirs, in the reverse order of MPI_COMM_WORLD.
KINDS = {
    "openmpi": (["mpirun.openmpi", "mpirun"], ["--allow-run-as-root", "--oversubscribe"], "OMPI_COMM_WORLD_RANK"),
    "mpich": (["mpiexec.mpich", "mpiexec.hydra"], [], "PMI_RANK"),
}


def here(kind, folder="lib"):
    """The launcher, if this MPI can be tested here."""
    launchers = [found for name in KINDS[kind][0] if (found := shutil.which(name))]
    return launchers[0] if launchers and (bar.BUILD / folder / f"libbraid-engine-mpi-{kind}.so").exists() else None


def command(kind, ranks, *program, reverse=True):
    """`program` on so many ranks."""
    _, options, variable = KINDS[kind]
    os.environ["BRAID_JOB_SECRET"] = secrets.token_hex(16)
    os.environ["BRAID_JOB"] = f"{kind}-{os.getpid()}-{secrets.token_hex(4)}"
    turned = f'BRAID_RANK=$(({ranks} - 1 - {variable})) BRAID_RANKS={ranks} exec "$0" "$@"'
    words = ["sh", "-c", turned, *program] if reverse else list(program)
    return [here(kind), *options, "-np", str(ranks), *words]


def figure(kind, *arguments, ranks=4, timeout=240):
    """The suite's last line under this MPI; fails with the cases that failed."""
    done = bar.run(*command(kind, ranks, bar.tool("conformance"), "--launched", "mpi", *arguments), timeout=timeout)
    lines = [line for line in done.stdout.strip().splitlines() if line] or [done.stderr.strip()[-1000:]]
    if done.returncode:
        bar.fail("\n".join([f"{kind}: {' '.join(lines[0:2])}"] + lines[:10] + done.stderr.strip().splitlines()[:10]))
    return f"{kind}: {lines[-1]}"
