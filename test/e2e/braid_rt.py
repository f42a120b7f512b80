"""The runtime's C interface in Python (ctypes), as much of it as the tests of launching need."""
import ctypes as c
import os
import shutil

OK, INVALID, UNSUPPORTED, PEER_DIED, TIMEOUT, ABORTED, OUT_OF_MEMORY, SYSTEM, MISMATCH = range(9)
ALL_REDUCE, ALL_GATHER, BARRIER = 0, 2, 11
I64, SUM = 4, 0


class CommOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("rank", c.c_int32), ("ranks", c.c_int32), ("rendezvous", c.c_char_p),
                ("transport", c.c_char_p), ("profile", c.c_char_p), ("seed", c.c_uint64), ("deadline_s", c.c_double),
                ("job", c.c_uint64), ("clock", c.c_char_p)]


class Buffer(c.Structure):
    _fields_ = [("send", c.c_void_p), ("receive", c.c_void_p), ("send_count", c.c_size_t), ("receive_count", c.c_size_t)]


class OpOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("collective", c.c_int), ("type", c.c_int), ("reduction", c.c_int), ("root", c.c_int32),
                ("peer", c.c_int32), ("tag", c.c_int32), ("tensors", c.c_size_t), ("buffers", c.POINTER(Buffer)),
                ("pairs", c.c_size_t), ("pair_list", c.POINTER(c.c_int32)), ("algorithm", c.c_char_p),
                ("channels", c.c_int32), ("chunks", c.c_int32), ("name", c.c_char_p)]


def library():
    """Beside braid-launch: bin/braid-launch and lib/libbraid_rt.so."""
    launch = shutil.which("braid-launch")
    if not launch:
        raise SystemExit("braid-launch: not found in PATH; run tools/scripts/build")
    return os.path.join(os.path.dirname(os.path.dirname(launch)), "lib", "libbraid_rt.so")


class Error(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Runtime:
    def __init__(self):
        self.lib = c.CDLL(library())
        self.lib.braid_last_error.restype = c.c_char_p

    def must(self, status):
        if status != OK:
            raise Error(status, (self.lib.braid_last_error() or b"").decode())

    def comm(self, transport=None, deadline=20.0, profile=None, clock=None):
        text = lambda word: word.encode() if word else None
        options = CommOptions(size=c.sizeof(CommOptions), transport=text(transport), deadline_s=deadline,
                              profile=text(profile), clock=text(clock))
        comm = c.c_void_p()
        self.must(self.lib.braid_comm_create(c.byref(options), c.byref(comm)))
        return Comm(self, comm)


class Comm:
    def __init__(self, runtime, handle):
        self.runtime, self.lib, self.handle = runtime, runtime.lib, handle
        rank, ranks = c.c_int32(), c.c_int32()
        runtime.must(self.lib.braid_comm_rank(handle, c.byref(rank), c.byref(ranks)))
        self.rank, self.ranks = rank.value, ranks.value

    def subset(self, ranks):
        comm = c.c_void_p()
        self.runtime.must(self.lib.braid_comm_subset(self.handle, (c.c_int32 * len(ranks))(*ranks), c.c_size_t(len(ranks)),
                                                     c.byref(comm)))
        return Comm(self.runtime, comm)

    def all_reduce(self, count, algorithm=None):
        return Op(self, count, algorithm)

    def abort(self, why):
        self.runtime.must(self.lib.braid_comm_abort(self.handle, why.encode()))

    def destroy(self):
        self.runtime.must(self.lib.braid_comm_destroy(self.handle))


class Op:
    """An all_reduce (sum) of `count` 64-bit integers, in place."""

    def __init__(self, comm, count, algorithm=None):
        self.comm, self.values = comm, (c.c_int64 * max(count, 1))()
        at = c.cast(self.values, c.c_void_p)
        self.buffer = Buffer(at, at, count, count)
        options = OpOptions(size=c.sizeof(OpOptions), collective=ALL_REDUCE, type=I64, reduction=SUM, tensors=1,
                            buffers=c.pointer(self.buffer), name=b"sum",
                            algorithm=algorithm.encode() if algorithm else None)
        self.handle = c.c_void_p()
        comm.runtime.must(comm.lib.braid_op_plan(comm.handle, c.byref(options), c.byref(self.handle)))

    def start(self):
        self.comm.runtime.must(self.comm.lib.braid_op_start(self.handle))

    def wait(self):
        self.comm.runtime.must(self.comm.lib.braid_op_wait(self.handle))

    def destroy(self):
        self.comm.runtime.must(self.comm.lib.braid_op_destroy(self.handle))

    def run(self, value):
        """Every element is `value` here; returns the sum that all ranks get, after a check that all elements have it."""
        for i in range(len(self.values)):
            self.values[i] = value
        self.start()
        self.wait()
        found = set(self.values)
        assert len(found) == 1, f"different sums {sorted(found)[:5]}"
        return found.pop()
