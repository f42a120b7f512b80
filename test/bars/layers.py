"""A perceptron of many layers in linalg, its weights sharded over the ranks, as a program in the braid dialect.

Each rank keeps a block of rows of every weight matrix (and trains on its own batch): a layer gathers its weights before it uses
them, forward and backward, and the gradients are reduce-scattered to the blocks (ZeRO stage 3, Rajbhandari et al., SC 2020). So
every layer has two products of matrices to hide one all_gather and one reduce_scatter behind, and forward one to hide one.

    forward     W_l = all_gather(w_l);  h_l+1 = max(h_l W_l, 0)
    backward    W_l = all_gather(w_l);  d_l = (d_l+1 * (h_l+1 > 0)) W_l^T;  g_l = reduce_scatter(h_l^T (d_l+1 * (h_l+1 > 0)))
    update      w_l - rate g_l
"""


def program(ranks, layers, batch, width, compute=True, communicate=True):
    """Without `compute` the collectives stand alone, in their order; without `communicate` every collective is a copy of what
    a rank has, of the same sizes."""
    lines, number = [], [0]
    block = width // ranks
    act, whole, shard = f"tensor<{batch}x{width}xf32>", f"tensor<{width}x{width}xf32>", f"tensor<{block}x{width}xf32>"
    groups = "#ranks"

    def new(line):
        number[0] += 1
        lines.append(f"    %v{number[0]} = {line}")
        return f"%v{number[0]}"

    def empty(kind):
        return new(f"tensor.empty() : {kind}")

    def matmul(a, type_a, b, type_b, out):
        zero = new(f"linalg.fill ins(%zero : f32) outs({empty(out)} : {out}) -> {out}")
        return new(f"linalg.matmul ins({a}, {b} : {type_a}, {type_b}) outs({zero} : {out}) -> {out}")

    def transpose(a, source, target):
        return new(f"linalg.transpose ins({a} : {source}) outs({empty(target)} : {target}) permutation = [1, 0]")

    def each(inputs, kind, body):
        identity = "affine_map<(i, j) -> (i, j)>"
        names = ", ".join(f"%x{i}: f32" for i in range(len(inputs)))
        return new(f"linalg.generic {{indexing_maps = [{', '.join([identity] * (len(inputs) + 1))}], iterator_types = "
                   f"[\"parallel\", \"parallel\"]}} ins({', '.join(inputs)} : {', '.join([kind] * len(inputs))}) "
                   f"outs({empty(kind)} : {kind}) {{\n    ^bb0({names}, %out: f32):\n{body}\n    }} -> {kind}")

    def gathered(w):
        if communicate:
            return new(f"braid.all_gather {w} dims = [0] groups = {groups} : ({shard}) -> {whole}")
        parts = ", ".join([w] * ranks)
        return new(f"tensor.concat dim(0) {parts} : ({', '.join([shard] * ranks)}) -> {whole}")

    def scattered(g):
        if communicate:
            return new(f"braid.reduce_scatter sum {g} dims = [0] groups = {groups} : ({whole}) -> {shard}")
        return new(f"tensor.extract_slice {g}[0, 0] [{block}, {width}] [1, 1] : {whole} to {shard}")

    weights = [f"%w{l}" for l in range(layers)]
    relu = "      %y = arith.maximumf %x0, %zero : f32\n      linalg.yield %y : f32"
    mask = ("      %k = arith.cmpf ogt, %x1, %zero : f32\n      %y = arith.select %k, %x0, %zero : f32\n"
            "      linalg.yield %y : f32")
    update = "      %s = arith.mulf %x1, %rate : f32\n      %y = arith.subf %x0, %s : f32\n      linalg.yield %y : f32"
    gradients, turned = [None] * layers, f"tensor<{width}x{batch}xf32>"
    if compute:
        h = ["%input"]
        for l in range(layers):
            h.append(each([matmul(h[-1], act, gathered(weights[l]), whole, act)], act, relu))
        d = h[-1]
        for l in reversed(range(layers)):
            d = each([d, h[l + 1]], act, mask)
            gradients[l] = scattered(matmul(transpose(h[l], act, turned), turned, d, act, whole))
            d = matmul(d, act, transpose(gathered(weights[l]), whole, whole), whole, act)
    else:
        for l in range(layers):
            gathered(weights[l])
        for l in reversed(range(layers)):
            gradients[l] = scattered(gathered(weights[l]))
    results = [each([w, g], shard, update) for w, g in zip(weights, gradients)]
    arguments = [f'{w}: {shard} {{braid.data = "rank-seed:{l}:0.1"}}' for l, w in enumerate(weights)]
    arguments.append(f'%input: {act} {{braid.data = "rank-seed:99"}}')
    ids = ", ".join(map(str, range(ranks)))
    head = [f"#ranks = #braid.groups<[[{ids}]]>", f"module attributes {{mhlo.num_partitions = {ranks} : i32}} {{",
            f"  func.func @main({', '.join(arguments)}) -> ({', '.join([shard] * layers)}) {{",
            "    %zero = arith.constant 0.0 : f32", "    %rate = arith.constant 0.0001 : f32"]
    tail = [f"    return {', '.join(results)} : {', '.join([shard] * layers)}", "  }", "}"]
    return "\n".join(head + lines + tail) + "\n"
