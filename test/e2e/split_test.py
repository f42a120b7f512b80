"""Large collectives cut into pieces give what they give whole: each kind on 4 ranks, along every dimension, in any number of pieces."""
import os
import struct
import subprocess

from harness import check, expect, main
from lowering import BIN, RANKS, WORK, run

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "broadcast")
MATRIX = "tensor<4x6xi32>"
KINDS = {  # name -> (collectives of %a, the types of their results)
    "all_reduce": ([f"braid.all_reduce sum %a groups = #g : {MATRIX}", f"braid.all_reduce max %a groups = #braid.groups<[]> : {MATRIX}"],
                   [MATRIX, MATRIX]),
    "all_gather": ([f"braid.all_gather %a dims = [0] groups = #g : ({MATRIX}) -> tensor<8x6xi32>",
                    f"braid.all_gather %a dims = [1] groups = #g : ({MATRIX}) -> tensor<4x12xi32>"],
                   ["tensor<8x6xi32>", "tensor<4x12xi32>"]),
    "reduce_scatter": ([f"braid.reduce_scatter sum %a dims = [0] groups = #g : ({MATRIX}) -> tensor<2x6xi32>",
                        f"braid.reduce_scatter sum %a dims = [1] groups = #g : ({MATRIX}) -> tensor<4x3xi32>"],
                       ["tensor<2x6xi32>", "tensor<4x3xi32>"]),
    "all_to_all": ([f"braid.all_to_all %a split = [0] concat = [1] groups = #g : ({MATRIX}) -> tensor<2x12xi32>",
                    f"braid.all_to_all %a split = [1] concat = [0] groups = #g : ({MATRIX}) -> tensor<8x3xi32>",
                    f"braid.all_to_all %a split = [1] concat = [1] groups = #g : ({MATRIX}) -> {MATRIX}"],
                   ["tensor<2x12xi32>", "tensor<8x3xi32>", MATRIX]),
    "others": ([f"braid.permute %a pairs = [[0, 3], [3, 1], [2, 2]] : {MATRIX}", f"braid.broadcast %a root = 1 groups = #g : {MATRIX}"],
               [MATRIX, MATRIX]),
}
FLAT = {  # of a tensor of 24: only the collective's own dimension is left to cut
    "flat": (["braid.all_gather %a dims = [0] groups = #g : (tensor<24xi32>) -> tensor<48xi32>",
              "braid.reduce_scatter sum %a dims = [0] groups = #g : (tensor<24xi32>) -> tensor<12xi32>",
              "braid.all_to_all %a split = [0] concat = [0] groups = #g : (tensor<24xi32>) -> tensor<24xi32>"],
             ["tensor<48xi32>", "tensor<12xi32>", "tensor<24xi32>"]),
}


def cut(pieces, how="", *passes):
    """What cuts all collectives of a program, and says how many there are then."""
    counts = []

    def through(text):
        done = subprocess.run([os.path.join(BIN, "braid-opt"), f"--braid-split-collectives=pieces={pieces} {how}", *passes], input=text,
                              capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr)
        counts.append(sum(done.stdout.count(f" = braid.{kind} ") for kind in COLLECTIVES))
        return done.stdout
    return through, counts


def same(kind, argument, pieces):
    collectives, types = kind
    body = "\n".join(f"%r{i} = {text}" for i, text in enumerate(collectives))
    whole = run(body, types, argument=argument)
    through, counts = cut(pieces)
    found = run(body, types, argument=argument, through=through)
    expect(counts[0] >= 2 * len(collectives), f"expected at least two pieces of each, got {counts[0]} collectives")
    expect(found == whole, f"{pieces} pieces: expected {whole}, got {found}")


def check_kind(name, argument=MATRIX):
    def same_results():
        for pieces in (3, 5):
            same(({**KINDS, **FLAT})[name], argument, pieces)
    same_results.__name__ = name
    check(same_results)


for name in KINDS:
    check_kind(name)
check_kind("flat", "tensor<24xi32>")


@check
def sums_of_floats():
    """A piece is added in an order of its own: each way is within (ranks - 1) roundings of the sum of magnitudes."""
    shape, elements, epsilon = "tensor<96x32xf32>", 96 * 32, 2.0 ** -24
    text = f"""func.func @main(%a: {shape}) -> {shape} {{
        %r = braid.all_reduce sum %a groups = #braid.groups<[]> : {shape}
        return %r : {shape} }}"""
    folder = WORK.name
    given = [[(1 + rank) / (3 + i % 97) * (-1) ** (i + rank) for i in range(elements)] for rank in range(RANKS)]
    for rank, values in enumerate(given):
        with open(f"{folder}/floats{rank}", "wb") as file:
            file.write(struct.pack(f"<{elements}f", *values))

    def sums(program):
        path = f"{folder}/floats.mlir"
        with open(path, "w") as file:
            file.write(program)
        done = subprocess.run([os.path.join(BIN, "braid-run"), path, "-n", str(RANKS), "--arg", f"0=file:{folder}/floats%r",
                               "--out", f"0={folder}/sums%r"], capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, done.stderr)
        found = []
        for rank in range(RANKS):
            with open(f"{folder}/sums{rank}", "rb") as file:
                found.append(struct.unpack(f"<{elements}f", file.read()))
        expect(all(each == found[0] for each in found), "ranks differ")
        return found[0]
    whole, pieces = sums(text), sums(cut(7)[0](text))
    for i in range(elements):
        bound = 2 * (RANKS - 1) * epsilon * sum(abs(values[i]) for values in given)
        expect(abs(whole[i] - pieces[i]) <= bound, f"element {i}: {whole[i]} whole, {pieces[i]} in pieces, bound {bound}")


@check
def computation_in_pieces():
    """Products and sums around a collective, cut with it, give the same integers; so do pieces that are in flight together."""
    body = """
      %e = tensor.empty() : tensor<4x4xi32>
      %zero = arith.constant 0 : i32
      %z = linalg.fill ins(%zero : i32) outs(%e : tensor<4x4xi32>) -> tensor<4x4xi32>
      %b = tensor.extract_slice %a[0, 1] [4, 4] [1, 1] : tensor<4x6xi32> to tensor<4x4xi32>
      %c = tensor.extract_slice %a[0, 2] [4, 4] [1, 1] : tensor<4x6xi32> to tensor<4x4xi32>
      %m = linalg.matmul ins(%b, %c : tensor<4x4xi32>, tensor<4x4xi32>) outs(%z : tensor<4x4xi32>) -> tensor<4x4xi32>
      %n = arith.addi %m, %b : tensor<4x4xi32>
      %s = braid.all_reduce sum %n groups = #g : tensor<4x4xi32>
      %t = arith.subi %c, %s : tensor<4x4xi32>
      %r0 = arith.addi %t, %t : tensor<4x4xi32>"""
    whole = run(body, ["tensor<4x4xi32>"])
    for pieces in (2, 3):
        through, counts = cut(pieces, "pipeline", "--braid-overlap-collectives")
        found = run(body, ["tensor<4x4xi32>"], through=through)
        expect(counts == [pieces], f"expected {pieces} collectives, got {counts}")
        expect(found == whole, f"{pieces} pieces: expected {whole}, got {found}")


main(__file__)
