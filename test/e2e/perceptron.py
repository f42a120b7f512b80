"""A two-layer perceptron in linalg, data parallel, as a program in the braid dialect.

    hidden = max(x w1, 0)        d = hidden w2 - y        loss = sum(d^2) / count

One call is one step: it takes the weights and this rank's share of the batch, and returns new weights and the loss of the
whole batch. In f32 every rank averages over its share and gradients are averaged. In i64 numbers are fixed point (inputs and
hidden values in eighths, weights in 1/256) and everything is a sum, so that any number of ranks computes the same bits.

    python3 perceptron.py [--ranks N] [--type f32|i64] [--break sum|rank] > program.mlir
"""
import argparse

INPUTS, HIDDEN, OUTPUTS, BATCH = 12, 16, 4, 32
RATE = 0.1
WEIGHT_BITS = 8  # i64: a weight counts 1/256
RATE_BITS = 15  # i64: weights move by gradient >> RATE_BITS, about a rate of 0.1


def program(ranks, kind="f32", broken=None):
    """`broken`: "sum" forgets the mean over ranks, "rank" loses the gradients of the last rank."""
    rows, real = BATCH // ranks, kind == "f32"
    text = []
    counter = [0]

    def new(stem="v"):
        counter[0] += 1
        return f"%{stem}{counter[0]}"

    def tensor(*shape):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{kind}>"

    def add(line):
        text.append("    " + line)

    def filled(*shape):
        empty, zero = new("e"), new("z")
        add(f"{empty} = tensor.empty() : {tensor(*shape)}")
        add(f"{zero} = linalg.fill ins(%zero : {kind}) outs({empty} : {tensor(*shape)}) -> {tensor(*shape)}")
        return zero

    def matmul(a, shape_a, b, shape_b):
        m, k, n = shape_a[0], shape_a[1], shape_b[1]
        out, result = filled(m, n), new("m")
        add(f"{result} = linalg.matmul ins({a}, {b} : {tensor(m, k)}, {tensor(k, n)}) outs({out} : {tensor(m, n)})"
            f" -> {tensor(m, n)}")
        return result

    def transpose(a, m, n):
        empty, result = new("e"), new("t")
        add(f"{empty} = tensor.empty() : {tensor(n, m)}")
        add(f"{result} = linalg.transpose ins({a} : {tensor(m, n)}) outs({empty} : {tensor(n, m)}) permutation = [1, 0]")
        return result

    def elementwise(inputs, shape, body):
        """`body` gets the scalars' names and returns lines and the name of the result."""
        empty, result, names = new("e"), new("g"), [new("i") for _ in inputs]
        lines, value = body(*names)
        identity = "affine_map<(d0, d1) -> (d0, d1)>"
        types = ", ".join([tensor(*shape)] * len(inputs))
        add(f"{empty} = tensor.empty() : {tensor(*shape)}")
        add(f"{result} = linalg.generic {{indexing_maps = [{', '.join([identity] * (len(inputs) + 1))}], "
            f"iterator_types = [\"parallel\", \"parallel\"]}} ins({', '.join(inputs)} : {types}) "
            f"outs({empty} : {tensor(*shape)}) {{")
        add(f"^bb0({', '.join(f'{name}: {kind}' for name in names)}, {new('o')}: {kind}):")
        for line in lines:
            add("  " + line)
        add(f"  linalg.yield {value} : {kind}")
        add(f"}} -> {tensor(*shape)}")
        return result

    suffix = "f" if real else "i"

    def scalar(op, a, b):
        value = new("s")
        return f"{value} = arith.{op} {a}, {b} : {kind}", value

    def binary(op):
        def body(a, b):
            line, value = scalar(op, a, b)
            return [line], value
        return body

    def chain(lines, value, more):
        """One more operation on `value`, if there is one."""
        if not more:
            return lines, value
        line, last = scalar(more[0], value, more[1])
        return lines + [line], last

    def reduced(value, shape, mean):
        """The sum or mean over all ranks."""
        if broken == "rank":
            # The last rank sends zeros: what it would be if its gradient were forgotten.
            zeros, chosen = filled(*shape) if len(shape) == 2 else None, new("c")
            if zeros:
                add(f"{chosen} = scf.if %last -> {tensor(*shape)} {{")
                add(f"  scf.yield {zeros} : {tensor(*shape)}")
                add("} else {")
                add(f"  scf.yield {value} : {tensor(*shape)}")
                add("}")
                value = chosen
        kind_of = "average" if mean and not (broken == "sum" and len(shape) == 2) else "sum"
        result = new("r")
        add(f"{result} = braid.all_reduce {kind_of} {value} groups = #ranks : {tensor(*shape)}")
        return result

    add(f"%zero = arith.constant {'0.0' if real else '0'} : {kind}")
    if real:
        add(f"%scale = arith.constant {2.0 / (rows * OUTPUTS)!r} : f32")
        add(f"%part = arith.constant {1.0 / (rows * OUTPUTS)!r} : f32")
        add(f"%rate = arith.constant {RATE!r} : f32")
    else:
        add(f"%rate_bits = arith.constant {RATE_BITS} : i64")
        add(f"%weight_bits = arith.constant {WEIGHT_BITS} : i64")
    if broken == "rank":
        add("%rank = braid.rank")
        add(f"%final = arith.constant {ranks - 1} : index")
        add("%last = arith.cmpi eq, %rank, %final : index")

    before = matmul("%x", (rows, INPUTS), "%w1", (INPUTS, HIDDEN))

    def rectified(a):
        line, value = scalar("maximumf" if real else "maxsi", a, "%zero")
        return chain([line], value, None if real else ("shrsi", "%weight_bits"))
    hidden = elementwise([before], (rows, HIDDEN), rectified)
    guess = matmul(hidden, (rows, HIDDEN), "%w2", (HIDDEN, OUTPUTS))
    difference = elementwise([guess, "%y"], (rows, OUTPUTS), binary("sub" + suffix))

    empty, start, square = new("e"), new("z"), new("q")
    add(f"{empty} = tensor.empty() : tensor<{kind}>")
    add(f"{start} = linalg.fill ins(%zero : {kind}) outs({empty} : tensor<{kind}>) -> tensor<{kind}>")
    add(f"{square} = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], "
        f"iterator_types = [\"reduction\", \"reduction\"]}} ins({difference} : {tensor(rows, OUTPUTS)}) "
        f"outs({start} : tensor<{kind}>) {{")
    add(f"^bb0(%da: {kind}, %acc: {kind}):")
    add(f"  %dd = arith.mul{suffix} %da, %da : {kind}")
    if real:
        add("  %ds = arith.mulf %dd, %part : f32")
    add(f"  %sum = arith.add{suffix} %acc, {'%ds' if real else '%dd'} : {kind}")
    add(f"  linalg.yield %sum : {kind}")
    add(f"}} -> tensor<{kind}>")
    loss = reduced(square, (), mean=real)

    if real:
        difference = elementwise([difference], (rows, OUTPUTS), lambda a: chain([], a, ("mulf", "%scale")))
    gradient2 = matmul(transpose(hidden, rows, HIDDEN), (HIDDEN, rows), difference, (rows, OUTPUTS))
    sum2 = reduced(gradient2, (HIDDEN, OUTPUTS), mean=real)
    back = matmul(difference, (rows, OUTPUTS), transpose("%w2", HIDDEN, OUTPUTS), (OUTPUTS, HIDDEN))

    def masked(gradient, value):
        keep, chosen = new("k"), new("s")
        compare = f"arith.cmpf ogt, {value}, %zero : f32" if real else f"arith.cmpi sgt, {value}, %zero : i64"
        lines = [f"{keep} = {compare}", f"{chosen} = arith.select {keep}, {gradient}, %zero : {kind}"]
        return chain(lines, chosen, None if real else ("shrsi", "%weight_bits"))
    through = elementwise([back, before], (rows, HIDDEN), masked)
    gradient1 = matmul(transpose("%x", rows, INPUTS), (INPUTS, rows), through, (rows, HIDDEN))
    sum1 = reduced(gradient1, (INPUTS, HIDDEN), mean=real)

    def moved(weight, gradient):
        step, value = new("s"), new("s")
        line = f"arith.mulf {gradient}, %rate : f32" if real else f"arith.shrsi {gradient}, %rate_bits : i64"
        return [f"{step} = {line}", f"{value} = arith.sub{suffix} {weight}, {step} : {kind}"], value
    new1 = elementwise(["%w1", sum1], (INPUTS, HIDDEN), moved)
    new2 = elementwise(["%w2", sum2], (HIDDEN, OUTPUTS), moved)

    w1, w2, x, y = tensor(INPUTS, HIDDEN), tensor(HIDDEN, OUTPUTS), tensor(rows, INPUTS), tensor(rows, OUTPUTS)
    groups = ", ".join(map(str, range(ranks)))
    # What braid-run fills arguments with if nobody says otherwise.
    data = [f' {{braid.data = "{what}"}}' if real else "" for what in
            ("seed:1:0.5", "seed:2:0.5", "rank-seed:3", "rank-seed:4:0.5")]
    head = [f"#ranks = #braid.groups<[[{groups}]]>", f"module attributes {{mhlo.num_partitions = {ranks} : i32}} {{",
            f"  func.func @main(%w1: {w1}{data[0]}, %w2: {w2}{data[1]}, %x: {x}{data[2]}, "
            f"%y: {y}{data[3]}) -> ({w1}, {w2}, tensor<{kind}>) {{"]
    tail = [f"    return {new1}, {new2}, {loss} : {w1}, {w2}, tensor<{kind}>", "  }", "}"]
    return "\n".join(head + text + tail) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--type", choices=("f32", "i64"), default="f32")
    parser.add_argument("--break", dest="broken", choices=("sum", "rank"))
    arguments = parser.parse_args()
    print(program(arguments.ranks, arguments.type, arguments.broken), end="")
