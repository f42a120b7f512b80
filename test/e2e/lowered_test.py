"""Every collective of the dialect, lowered and run on 4 ranks, against plain Python: groups, roots, dimensions that are not
the first, id spaces, in place, dynamic sizes. (In flight: in_flight_test.py.)"""
import math
import os
import re
import struct
import subprocess

from harness import CLUSTERS, check, expect, main
from lowering import BIN, RANKS, WORK, added, compare, concat, cut, groups_of, operand, run


@check
def reductions():
    m = "tensor<4x6xi32>"
    found = run(f"""
      %r0 = braid.all_reduce sum %a groups = #g : {m}
      %r1 = braid.all_reduce max %a groups = #braid.groups<[]> : {m}
      %r2 = braid.reduce_scatter sum %a dims = [0] groups = #g : ({m}) -> tensor<2x6xi32>
      %r3 = braid.reduce_scatter sum %a dims = [1] groups = #g : ({m}) -> tensor<4x3xi32>
      %r4 = braid.reduce sum %a init %a root = 1 groups = #g : ({m}, {m}) -> {m}""",
                [m, m, "tensor<2x6xi32>", "tensor<4x3xi32>", m])

    def expected(rank):
        group = groups_of(rank)
        total = added([operand(r) for r in group])
        place = group.index(rank)
        return [total, operand(RANKS - 1), cut(total, 0, 2, place), cut(total, 1, 2, place),
                total if place == 1 else operand(rank)]
    compare(found, expected)


@check
def data_movement():
    m = "tensor<4x6xi32>"
    found = run(f"""
      %r0 = braid.all_gather %a dims = [0] groups = #g : ({m}) -> tensor<8x6xi32>
      %r1 = braid.all_gather %a dims = [1] groups = #g : ({m}) -> tensor<4x12xi32>
      %r2 = braid.all_to_all %a split = [0] concat = [1] groups = #g : ({m}) -> tensor<2x12xi32>
      %r3 = braid.all_to_all %a split = [1] concat = [0] groups = #g : ({m}) -> tensor<8x3xi32>
      %r4 = braid.all_to_all %a split = [1] concat = [1] groups = #g : ({m}) -> {m}
      %r5 = braid.permute %a pairs = [[0, 3], [3, 1], [2, 2]] : {m}
      %r6 = braid.broadcast %a root = 1 groups = #g : {m}""",
                ["tensor<8x6xi32>", "tensor<4x12xi32>", "tensor<2x12xi32>", "tensor<8x3xi32>", m, m, m])

    def expected(rank):
        group = groups_of(rank)
        place = group.index(rank)
        all_of = [operand(r) for r in group]
        source = {3: 0, 1: 3, 2: 2}.get(rank)
        return [concat(all_of, 0), concat(all_of, 1), concat([cut(x, 0, 2, place) for x in all_of], 1),
                concat([cut(x, 1, 2, place) for x in all_of], 0), concat([cut(x, 1, 2, place) for x in all_of], 1),
                [[0] * 6] * 4 if source is None else operand(source), operand(group[1])]
    compare(found, expected)


@check
def roots():
    m = "tensor<4x6xi32>"
    found = run(f"""
      %big = arith.constant dense<-7> : tensor<8x6xi32>
      %wide = arith.constant dense<-8> : tensor<4x12xi32>
      %r0 = braid.gather %a init %big dims = [0] root = 0 groups = #g : ({m}, tensor<8x6xi32>) -> tensor<8x6xi32>
      %r1 = braid.gather %a init %wide dims = [1] root = 1 groups = #g : ({m}, tensor<4x12xi32>) -> tensor<4x12xi32>
      %r2 = braid.scatter %a dims = [0] root = 1 groups = #g : ({m}) -> tensor<2x6xi32>
      %r3 = braid.scatter %a dims = [1] root = 0 groups = #g : ({m}) -> tensor<4x3xi32>
      braid.barrier groups = #g
      %r4 = braid.broadcast %a root = 3 groups = #braid.groups<[]> : {m}""",
                ["tensor<8x6xi32>", "tensor<4x12xi32>", "tensor<2x6xi32>", "tensor<4x3xi32>", m])

    def expected(rank):
        group = groups_of(rank)
        place = group.index(rank)
        all_of = [operand(r) for r in group]
        return [concat(all_of, 0) if place == 0 else [[-7] * 6] * 8, concat(all_of, 1) if place == 1 else [[-8] * 12] * 4,
                cut(operand(group[1]), 0, 2, place), cut(operand(group[0]), 1, 2, place), operand(3)]
    compare(found, expected)


@check
def messages():
    m = "tensor<4x6xi32>"
    found = run(f"""
      %rank = braid.rank
      %zero = arith.constant 0 : index
      %two = arith.constant 2 : index
      %first = arith.cmpi eq, %rank, %zero : index
      %third = arith.cmpi eq, %rank, %two : index
      scf.if %first {{ braid.send %a peer = 2 tag = 5 : {m} }}
      %r0 = scf.if %third -> {m} {{
        %got = braid.recv peer = 0 tag = 5 : {m}
        scf.yield %got : {m}
      }} else {{
        scf.yield %a : {m}
      }}""", [m])
    compare(found, lambda rank: [operand(0 if rank == 2 else rank)])


@check
def id_spaces():
    """2 replicas of 2 partitions: groups of replicas hold once for each partition, and the other way round."""
    m = "tensor<4x6xi32>"
    found = run(f"""
      %r0 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {{id_space = #braid.id_space<replica>}} : {m}
      %r1 = braid.all_reduce sum %a groups = #braid.groups<[[0, 1]]> {{id_space = #braid.id_space<partition>}} : {m}
      %r2 = braid.all_reduce sum %a groups = #braid.groups<[[1, 0]]> {{id_space = #braid.id_space<replica_and_partition>}} : {m}
      %r3 = braid.permute %a pairs = [[0, 1]] {{id_space = #braid.id_space<replica>}} : {m}""", [m] * 4,
                module="attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32}")

    def expected(rank):
        replica, partition = divmod(rank, 2)
        return [added([operand(partition), operand(2 + partition)]), added([operand(2 * replica), operand(2 * replica + 1)]),
                added([operand(r) for r in range(4)]), operand(partition) if replica == 1 else [[0] * 6] * 4]
    compare(found, expected)


@check
def results_go_round_a_loop():
    """What a trip hands on is the result of a collective, in a buffer of its own; 50 trips, twice, plan each site once."""
    m = "tensor<4x6xi32>"
    found = run(f"""
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %fifty = arith.constant 50 : index
      %r0 = scf.for %i = %zero to %fifty step %one iter_args(%x = %a) -> {m} {{
        %t = braid.start(%y = %x) : {m} {{
          %s = braid.permute %y pairs = [[0, 1], [1, 2], [2, 3], [3, 0]] : {m}
          braid.yield %s : {m}
        }}
        %w = braid.wait %t, %x : ({m}) -> {m}
        scf.yield %w : {m}
      }}""", [m], options=("--steps", "2"))
    compare(found, lambda rank: [operand((rank - 50) % 4)])


@check
def dynamic_sizes_and_slices():
    """A dynamic slice of the columns, which does not lie in one piece; another one of each size."""
    m = "tensor<4x6xi32>"
    found = run(f"""
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %four = arith.constant 4 : index
      %e = tensor.empty() : tensor<4x4xi32>
      %r0 = scf.for %i = %zero to %four step %two iter_args(%x = %e) -> tensor<4x4xi32> {{
        %w = arith.minsi %two, %two : index
        %s = tensor.extract_slice %a[0, %i] [4, %w] [1, 1] : {m} to tensor<4x?xi32>
        %r = braid.all_reduce sum %s groups = #g : tensor<4x?xi32>
        %n = tensor.insert_slice %r into %x[0, %i] [4, %w] [1, 1] : tensor<4x?xi32> into tensor<4x4xi32>
        scf.yield %n : tensor<4x4xi32>
      }}""", ["tensor<4x4xi32>"])
    compare(found, lambda rank: [[row[:4] for row in added([operand(r) for r in groups_of(rank)])]])


@check
def computed_in_the_place_of_a_slice():
    """Bufferization computes an operand in a part of a larger tensor, or would: what is sent lies in one piece all the same."""
    columns = "tensor<4x2xi32>"
    found = run(f"""
      %e = tensor.empty() : tensor<4x6xi32>
      %d = linalg.add ins(%a, %a : tensor<4x6xi32>, tensor<4x6xi32>) outs(%e : tensor<4x6xi32>) -> tensor<4x6xi32>
      %s = tensor.extract_slice %d[0, 1] [4, 2] [1, 1] : tensor<4x6xi32> to {columns}
      %x = arith.addi %s, %s : {columns}
      %g = braid.all_reduce sum %x groups = #g : {columns}
      %r0 = tensor.insert_slice %g into %d[0, 1] [4, 2] [1, 1] : {columns} into tensor<4x6xi32>""", ["tensor<4x6xi32>"])

    def expected(rank):
        total = added([operand(r) for r in groups_of(rank)])
        return [[[4 * t if 1 <= j < 3 else 2 * o for j, (o, t) in enumerate(zip(own, sums))]
                 for own, sums in zip(operand(rank), total)]]
    compare(found, expected)


COMPUTATIONS = {  # name: (what gives %r0 from %a : tensor<4x6xf32>, its type, the value of element [1, 2])
    "softmax": ("linalg.softmax dimension(1) ins(%a : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>", lambda row: math.exp(row[2] - max(row)) / sum(math.exp(x - max(row)) for x in row)),
    "erf": ("math.erf %a : tensor<4x6xf32>", lambda row: math.erf(row[2])),
    "atanh": ("math.atanh %a : tensor<4x6xf32>", lambda row: math.atanh(row[2])),
    "clampf": ("math.clampf %a to [%low, %high] : tensor<4x6xf32>", lambda row: min(max(row[2], 0.1), 0.2)),
    "log1p": ("math.log1p %a : tensor<4x6xf32>", lambda row: math.log1p(row[2])),
}


@check
def computations():
    """Operations of upstream that need a step of their own on the way down."""
    for name, (text, value) in COMPUTATIONS.items():
        path = os.path.join(WORK.name, name + ".mlir")
        with open(path, "w") as file:
            file.write(f"""func.func @main(%a: tensor<4x6xf32>) -> tensor<f32> {{
              %e = tensor.empty() : tensor<4x6xf32>
              %low = arith.constant dense<0.1> : tensor<4x6xf32>
              %high = arith.constant dense<0.2> : tensor<4x6xf32>
              %one = arith.constant 1 : index
              %two = arith.constant 2 : index
              %r = {text}
              %x = tensor.extract %r[%one, %two] : tensor<4x6xf32>
              %t = tensor.from_elements %x : tensor<f32>
              return %t : tensor<f32> }}""")
        data = [i / 32 for i in range(24)]
        with open(path + ".data", "wb") as file:
            file.write(struct.pack("<24f", *data))
        done = subprocess.run([os.path.join(BIN, "braid-run"), path, "--arg", f"0=file:{path}.data"], capture_output=True,
                              text=True, timeout=60)
        found = re.search(r"result 0: (\S+)", done.stdout)
        expect(found and abs(float(found.group(1)) - value(data[6:12])) < 1e-5, f"{name}: {done.stdout}{done.stderr}")


@check
def what_does_not_lower():
    for text, words in (('"stablehlo.tanh"(%a) : (tensor<4xf32>) -> tensor<4xf32>', ("stablehlo.tanh", "linalg", "braid-skeleton")),
                        ("func.call @gather(%a) : (tensor<4xf32>) -> tensor<4xf32>", ("tensor.gather", "tensor.extract"))):
        path = os.path.join(WORK.name, "foreign.mlir")
        with open(path, "w") as file:
            file.write(f"""func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{ %r = {text} return %r : tensor<4xf32> }}
              func.func private @gather(%a: tensor<4xf32>) -> tensor<4xf32> {{
                %i = arith.constant dense<0> : tensor<4x1xindex>
                %g = tensor.gather %a[%i] gather_dims([0]) : (tensor<4xf32>, tensor<4x1xindex>) -> tensor<4xf32>
                return %g : tensor<4xf32> }}""")
        done = subprocess.run([os.path.join(BIN, "braid-run"), path, "-n", "2"], capture_output=True, text=True, timeout=60)
        expect(done.returncode == 1 and all(word in done.stderr for word in words), done.stdout + done.stderr)


@check
def element_types():
    """Each type of the runtime, summed (or, for bits, combined) over 4 ranks; 3 in every element, exact in each."""
    for kind in ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i8", "i16", "i32", "i64", "ui8", "ui32", "i1"):
        expected = {"i1": 1, "f8E4M3FN": 12, "f8E5M2": 12}.get(kind, 12)
        path = os.path.join(WORK.name, kind + ".mlir")
        with open(path, "w") as file:
            file.write(f"""func.func @main(%a: tensor<5x{kind}>) -> tensor<5x{kind}> {{
              %r = braid.all_reduce {"or" if kind == "i1" else "sum"} %a groups = #braid.groups<[]> : tensor<5x{kind}>
              return %r : tensor<5x{kind}> }}""")
        done = subprocess.run([os.path.join(BIN, "braid-run"), path, "-n", "4", "--arg", "0=const:3", "--all-ranks"],
                              capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f"{kind}: {done.stderr}")
        lines = sorted(done.stdout.split("\n"))[1:]
        wanted = [f"rank {rank} step 0 result 0: [{', '.join([str(expected)] * 5)}]" for rank in range(4)]
        expect(lines == wanted, f"{kind}: expected {wanted}, got {lines}")


@check
def compiled_once():
    """A shared object, run without the compiler, by forked ranks; it says what it was compiled for."""
    source, shared = os.path.join(WORK.name, "once.mlir"), os.path.join(WORK.name, "once.so")
    with open(source, "w") as file:
        file.write("""func.func @train(%a: tensor<2xf32> {braid.data = "rank"}, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
          %r = braid.all_reduce sum %a groups = #braid.groups<[[0, 1, 2]]> : tensor<2xf32>
          %c = arith.constant dense<1.5> : tensor<f32>
          %s = arith.addf %r, %b : tensor<2xf32>
          return %s, %c : tensor<2xf32>, tensor<f32> }""")
    tool = os.path.join(BIN, "braid-run")
    done = subprocess.run([tool, source, "--entry", "train", "--emit-shared", shared], capture_output=True, text=True)
    expect(done.returncode == 0 and os.path.exists(shared), done.stderr)
    done = subprocess.run([tool, shared, "-n", "3", "--arg", "1=ones", "--steps", "2", "--carry", "0:1"],
                          capture_output=True, text=True, timeout=60)
    expect(done.stdout == "step 0 result 1: 1.5\nstep 1 result 0: [7, 7]\nstep 1 result 1: 1.5\n", done.stdout + done.stderr)
    done = subprocess.run([tool, shared, "-n", "2"], capture_output=True, text=True, timeout=60)
    expect(done.returncode != 0 and "expected 3" in done.stderr, done.stderr)
    with open(os.path.join(WORK.name, "other.so"), "w") as file:
        file.write("not a library")
    done = subprocess.run([tool, os.path.join(WORK.name, "other.so")], capture_output=True, text=True, timeout=60)
    expect(done.returncode != 0 and "other.so" in done.stderr, done.stderr)


@check
def wider_accumulation():
    """1 + 1/256 rounds to 1 in bf16: summed one by one over 4 ranks nothing but the last 1 is left of 4 x (1/256), and in f32 all
    of it. i8 wraps where its average would not."""
    path = os.path.join(WORK.name, "wide.mlir")
    for accumulate, expected in (("", "1"), ("accumulate = f32, ", "1.015625")):
        with open(path, "w") as file:
            file.write(f"""func.func @main(%a: tensor<3x2xbf16>) -> tensor<3x2xbf16> {{
              %one = arith.constant 1.0 : bf16
              %small = arith.constant 0.00390625 : bf16
              %zero = arith.constant 0 : index
              %rank = braid.rank
              %first = arith.cmpi eq, %rank, %zero : index
              %mine = arith.select %first, %one, %small : bf16
              %x = tensor.splat %mine : tensor<3x2xbf16>
              %t = braid.start(%y = %x) : tensor<3x2xbf16> {{
                %s = braid.all_reduce sum %y groups = #braid.groups<[]> {{{accumulate}plan = #braid.plan<engine = braid, algorithm = "naive_exchange">}} : tensor<3x2xbf16>
                braid.yield %s : tensor<3x2xbf16>
              }}
              %r = braid.wait %t, %x : (tensor<3x2xbf16>) -> tensor<3x2xbf16>
              return %r : tensor<3x2xbf16> }}""")
        done = subprocess.run([os.path.join(BIN, "braid-run"), path, "-n", "5"], capture_output=True, text=True, timeout=60)
        expect(done.stdout == f"step 0 result 0: [{', '.join([expected] * 6)}]\n", done.stdout + done.stderr)


@check
def numbers_and_memrefs():
    """Arguments and results of the entry that are no tensors; a memref that the program writes keeps what it holds."""
    path = os.path.join(WORK.name, "numbers.mlir")
    with open(path, "w") as file:
        file.write("""func.func @main(%a: memref<2xf32>, %s: f32, %n: index, %k: i32 {braid.data = "const:7"}) -> (f32, index, i32) {
          %c0 = arith.constant 0 : index
          %x = memref.load %a[%c0] : memref<2xf32>
          %y = arith.addf %x, %s : f32
          memref.store %y, %a[%c0] : memref<2xf32>
          %m = arith.addi %n, %n : index
          %t = tensor.splat %y : tensor<2xf32>
          %r = braid.all_reduce sum %t groups = #braid.groups<[[0, 1]]> : tensor<2xf32>
          %z = tensor.extract %r[%c0] : tensor<2xf32>
          return %z, %m, %k : f32, index, i32 }""")
    done = subprocess.run([os.path.join(BIN, "braid-run"), path, "-n", "2", "--steps", "2", "--arg", "0=iota", "--arg", "1=const:0.5",
                           "--arg", "2=const:21"], capture_output=True, text=True, timeout=60)
    expect(done.stdout == "step 0 result 0: 1\nstep 0 result 1: 42\nstep 0 result 2: 7\nstep 1 result 0: 2\nstep 1 result 1: 42\n"
           "step 1 result 2: 7\nstep 1 argument 0: [1, 1]\n", done.stdout + done.stderr)


@check
def numbers_alone():
    """A program without a tensor: that of its entry's number is the first."""
    path = os.path.join(WORK.name, "number.mlir")
    with open(path, "w") as file:
        file.write("func.func @main(%n: index) -> index { return %n : index }")
    done = subprocess.run([os.path.join(BIN, "braid-run"), path, "-n", "1", "--arg", "0=const:21"], capture_output=True, text=True,
                          timeout=60)
    expect(done.stdout == "step 0 result 0: 21\n", done.stdout + done.stderr)


@check
def several_element_types_in_one_launch():
    path = os.path.join(WORK.name, "mixed.mlir")
    with open(path, "w") as file:
        file.write("""func.func @main(%a: tensor<3xf64>, %b: tensor<2x2xi8>, %c: tensor<1xbf16>) -> (tensor<6xf64>, tensor<2x4xi8>, tensor<2xbf16>) {
          %r:3 = braid.all_gather %a, %b, %c dims = [0, 1, 0] groups = #braid.groups<[[1, 0]]>
            : (tensor<3xf64>, tensor<2x2xi8>, tensor<1xbf16>) -> (tensor<6xf64>, tensor<2x4xi8>, tensor<2xbf16>)
          return %r#0, %r#1, %r#2 : tensor<6xf64>, tensor<2x4xi8>, tensor<2xbf16> }""")
    done = subprocess.run([os.path.join(BIN, "braid-run"), path, "-n", "2", "--arg", "0=rank", "--arg", "1=rank", "--arg",
                           "2=rank"], capture_output=True, text=True, timeout=60)
    expect(done.stdout == "step 0 result 0: [1, 1, 1, 0, 0, 0]\nstep 0 result 1: [1, 1, 0, 0, 1, 1, 0, 0]\n"
           "step 0 result 2: [1, 0]\n", done.stdout + done.stderr)


def memory(text, *options):
    """What each rank's last step copied, and how often it asked for memory."""
    path = os.path.join(WORK.name, "memory.mlir")
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run([os.path.join(BIN, "braid-run"), path, "-n", "4", "--memory", "--all-ranks", *options],
                          capture_output=True, text=True, timeout=60)
    found = re.findall(r"the last step copied (\d+) bytes, and asked for memory (\d+) times", done.stdout)
    expect(len(found) == 4, done.stdout + done.stderr)
    return {tuple(map(int, each)) for each in found}


BUCKET = """#all = #braid.groups<[[0, 1, 2, 3]]>
  func.func @main(%a: tensor<100000xf32>, %b: tensor<7x5000xf32>) -> (tensor<100000xf32>, tensor<7x5000xf32>) {
    %d = arith.addf %b, %b : tensor<7x5000xf32>
    %t = braid.start(%x = %a, %y = %d) : tensor<100000xf32>, tensor<7x5000xf32> {
      %r:2 = braid.all_reduce average %x, %y groups = GROUPS : tensor<100000xf32>, tensor<7x5000xf32>
      braid.yield %r#0, %r#1 : tensor<100000xf32>, tensor<7x5000xf32>
    }
    %w:2 = braid.wait %t, %a, %d : (tensor<100000xf32>, tensor<7x5000xf32>) -> (tensor<100000xf32>, tensor<7x5000xf32>)
    return %w#0, %w#1 : tensor<100000xf32>, tensor<7x5000xf32> }"""


@check
def nothing_is_copied():
    """Buffers of the program are what peers read and write: not a byte is copied for where it lies, and no memory is asked for
    once the program has gone round."""
    with open(os.path.join(os.path.dirname(__file__), "..", "examples", "perceptron.mlir")) as file:
        perceptron = file.read()
    plan = ["--braid-plan=cluster=" + os.path.join(CLUSTERS, "h100-roce-4x2.yaml") +
            " placement=0:0,1:0,2:0,3:0 engine=braid target=braid"]
    planned = subprocess.run([os.path.join(BIN, "braid-opt"), *plan], input=perceptron, capture_output=True, text=True)
    for text in (perceptron, planned.stdout):
        expect(memory(text, "--steps", "5", "--carry", "0:0,1:1") == {(0, 0)}, "perceptron")
    expect(memory(BUCKET.replace("GROUPS", "#all"), "--steps", "4", "--carry", "0:0,1:1") == {(0, 0)}, "bucket")
    # What the program computes lies in memory of the group's communicator; its argument in that of all ranks.
    expect(memory(BUCKET.replace("GROUPS", "#braid.groups<[[0, 2], [3, 1]]>"), "--steps", "4") == {(400000, 0)}, "groups")
    # The control: blocks of columns are brought into one piece, and back from it.
    columns = """func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %r = braid.all_to_all %a split = [1] concat = [1] groups = #braid.groups<[[0, 1, 2, 3]]> : (tensor<64x64xf32>) -> tensor<64x64xf32>
      return %r : tensor<64x64xf32> }"""
    expect(memory(columns, "--steps", "2") == {(2 * 64 * 64 * 4, 0)}, "columns")


@check
def programs_that_differ():
    """Rank 1 runs another module than the others: an error before the first step that names what each has, on every rank."""
    module = """#g = #braid.groups<[[0, 1, 2]]>
    func.func @main(%a: tensor<5xf32>) -> tensor<5xf32> {{
      %r = braid.all_reduce sum %a groups = #g : tensor<5xf32>
      %s = braid.{0} %r {1} groups = #g : tensor<5xf32>
      return %s : tensor<5xf32> }}"""
    paths = []
    for name, text in (("one", module.format("all_reduce sum", "")), ("two", module.format("broadcast", "root = 2")),
                       ("three", module.format("all_reduce sum", "").replace("%r = braid", "braid.barrier groups = #g\n %r = braid"))):
        paths.append(os.path.join(WORK.name, name + ".mlir"))
        with open(paths[-1], "w") as file:
            file.write(text)
    launch = os.path.join(BIN, "braid-launch")
    for other, words in ((1, ("collective 2: all_reduce at", "one.mlir:4", "(sum of f32) on ranks 0, 2; broadcast at", "two.mlir:4",
                              "on rank 1")),
                         (2, ("collective 1: all_reduce at", "; barrier at", "three.mlir:3"))):
        script = f'exec {BIN}/braid-run $([ $BRAID_RANK = 1 ] && echo {paths[other]} || echo {paths[0]}) --deadline 20'
        done = subprocess.run([launch, "-n", "3", "sh", "-c", script], capture_output=True, text=True, timeout=60)
        expect(done.returncode != 0, "expected a failure")
        for rank in range(3):
            line = re.search(rf"braid: rank {rank}: expected one program on all ranks, got .*", done.stderr)
            expect(line and all(word in line.group() for word in words), f"rank {rank}: {done.stderr}")


@check
def orders_that_differ():
    """Rank 0 meets another collective than the others: an error that names both, not a hang."""
    m = "tensor<4x6xi32>"
    error = run(f"""
      %rank = braid.rank
      %zero = arith.constant 0 : index
      %first = arith.cmpi eq, %rank, %zero : index
      %r0 = scf.if %first -> {m} {{
        %x = braid.all_reduce sum %a groups = #braid.groups<[]> : {m}
        scf.yield %x : {m}
      }} else {{
        %x = braid.broadcast %a root = 1 groups = #braid.groups<[]> : {m}
        scf.yield %x : {m}
      }}""", [m], options=("--deadline", "5"), fails=True)
    expect("all_reduce at" in error and "broadcast at" in error, error)


@check
def too_few_and_too_many_ranks():
    m = "tensor<4x6xi32>"
    error = run(f"%r0 = braid.all_reduce sum %a groups = #g : {m}", [m], ranks=2, fails=True)
    expect(re.search(r"-n: expected 4, the ranks that the program's collectives name, got 2", error), error)


main(__file__)
