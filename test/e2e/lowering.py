"""Runs a program of the dialect on 4 ranks and gives what each rank has; the same operations in plain Python."""
import os
import shutil
import struct
import subprocess
import tempfile

from harness import expect

BIN = os.environ.get("BRAID_BIN") or os.path.dirname(shutil.which("braid-run") or "build/bin/braid-run")
WORK = tempfile.TemporaryDirectory(prefix="braid-lowered-")
RANKS = 4
ROWS = [[0, 2], [3, 1]]  # groups, out of order
SHAPE = (4, 6)


def operand(rank):
    """A 4 x 6 matrix that says whose it is and where each element stood."""
    return [[1000 * rank + 10 * i + j for j in range(SHAPE[1])] for i in range(SHAPE[0])]


def flat(matrix):
    return [value for row in matrix for value in row]


def concat(matrices, dim):
    if dim == 0:
        return [row for matrix in matrices for row in matrix]
    return [sum((matrix[i] for matrix in matrices), []) for i in range(len(matrices[0]))]


def cut(matrix, dim, parts, index):
    if dim == 0:
        size = len(matrix) // parts
        return matrix[index * size:(index + 1) * size]
    size = len(matrix[0]) // parts
    return [row[index * size:(index + 1) * size] for row in matrix]


def added(matrices):
    return [[sum(column) for column in zip(*rows)] for rows in zip(*matrices)]


def run(body, results, argument="tensor<4x6xi32>", module="", ranks=RANKS, extra=(), options=(), fails=False,
        through=lambda text: text):
    """Runs `body` (SSA %a is the operand, %r0 ... the results), rewritten by `through`, and returns what each rank has as flat lists."""
    types = ", ".join(results)
    values = ", ".join(f"%r{i}" for i in range(len(results)))
    text = f"""#g = #braid.groups<[[0, 2], [3, 1]]>
    module {module} {{ {' '.join(extra)}
    func.func @main(%a: {argument}) -> ({types}) {{
      {body}
      return {values} : {types}
    }} }}"""
    folder = tempfile.mkdtemp(dir=WORK.name)
    with open(os.path.join(folder, "program.mlir"), "w") as file:
        file.write(through(text))
    for rank in range(ranks):
        with open(os.path.join(folder, f"in{rank}"), "wb") as file:
            file.write(struct.pack("<24i", *flat(operand(rank))))
    command = [os.path.join(BIN, "braid-run"), os.path.join(folder, "program.mlir"), "-n", str(ranks), "--arg",
               f"0=file:{folder}/in%r", *options]
    for index in range(len(results)):
        command += ["--out", f"{index}={folder}/out{index}-%r"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if fails:
        expect(done.returncode != 0, "expected a failure")
        return done.stderr
    expect(done.returncode == 0, f"status {done.returncode}\n{done.stderr}\n{text}")
    found = []
    for rank in range(ranks):
        found.append([])
        for index in range(len(results)):
            with open(os.path.join(folder, f"out{index}-{rank}"), "rb") as file:
                content = file.read()
            found[-1].append(list(struct.unpack(f"<{len(content) // 4}i", content)))
    return found


def groups_of(rank, rows=ROWS):
    return next(row for row in rows if rank in row)


def compare(found, expected):
    for rank, results in enumerate(found):
        for index, result in enumerate(results):
            wanted = flat(expected(rank)[index])
            expect(result == wanted, f"rank {rank} result {index}: expected {wanted}, got {result}")


def starts(token, operand, collective, results):
    types = "tensor<4x6xi32>"
    return f"""%{token} = braid.start(%y = %{operand}) : {types} {{
      %s = {collective}
      braid.yield %s : {results}
    }}"""
