"""Collectives in flight while the program goes on: in loops, from one trip to later ones, through branches and calls."""
from harness import check, expect, main
from lowering import added, compare, groups_of, operand, run, starts


@check
def in_flight_in_a_loop_and_in_place():
    """Three trips: each sums over the group while it computes something else, and the sum of a computed value is in place."""
    m = "tensor<4x6xi32>"
    found = run(f"""
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %three = arith.constant 3 : index
      %r0 = scf.for %i = %zero to %three step %one iter_args(%x = %a) -> {m} {{
        %t = braid.start(%y = %x) : {m} {{
          %s = braid.all_reduce sum %y groups = #g : {m}
          braid.yield %s : {m}
        }}
        %e = tensor.empty() : {m}
        %twice = linalg.add ins(%x, %x : {m}, {m}) outs(%e : {m}) -> {m}
        %w = braid.wait %t, %x : ({m}) -> {m}
        %sum = linalg.add ins(%w, %twice : {m}, {m}) outs(%x : {m}) -> {m}
        scf.yield %sum : {m}
      }}
      %e = tensor.empty() : {m}
      %b = linalg.add ins(%a, %a : {m}, {m}) outs(%e : {m}) -> {m}
      %r1 = braid.all_reduce sum %b groups = #g : {m}""", [m, m], options=("--steps", "3"))

    def expected(rank):
        group = groups_of(rank)
        values = {r: operand(r) for r in group}
        for _ in range(3):
            total = added(list(values.values()))
            values = {r: added([total, value, value]) for r, value in values.items()}
        return [values[rank], added([operand(r) for r in group for _ in range(2)])]
    compare(found, expected)


@check
def in_flight_across_trips():
    """A collective started in one trip is awaited in the next: of a loop, a while loop, and by way of a branch; in place and
    (all_gather) not. The sums are those of a loop that waits at once, and nothing is copied by the runtime."""
    m = "tensor<4x6xi32>"
    reduce = "braid.all_reduce sum %y groups = #g : " + m
    body = f"""
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %three = arith.constant 3 : index
      {starts("first", "a", reduce, m)}
      %last:2 = scf.for %i = %zero to %three step %one iter_args(%t = %first, %x = %a) -> (!braid.token, {m}) {{
        %w = braid.wait %t, %x : ({m}) -> {m}
        %e = tensor.empty() : {m}
        %next = linalg.add ins(%w, %a : {m}, {m}) outs(%e : {m}) -> {m}
        %odd = arith.remui %i, %two : index
        %is = arith.cmpi eq, %odd, %one : index
        %u:2 = scf.if %is -> (!braid.token, {m}) {{
          {starts("v", "next", reduce, m)}
          scf.yield %v, %next : !braid.token, {m}
        }} else {{
          %e2 = tensor.empty() : {m}
          %same = linalg.max ins(%next, %next : {m}, {m}) outs(%e2 : {m}) -> {m}
          {starts("v", "same", reduce, m)}
          scf.yield %v, %same : !braid.token, {m}
        }}
        scf.yield %u#0, %u#1 : !braid.token, {m}
      }}
      %r0 = braid.wait %last#0, %last#1 : ({m}) -> {m}
      {starts("g0", "a", "braid.all_gather %y dims = [0] groups = #g : (" + m + ") -> tensor<8x6xi32>", "tensor<8x6xi32>")}
      %end:2 = scf.for %i = %zero to %two step %one iter_args(%t = %g0, %x = %a) -> (!braid.token, {m}) {{
        %w = braid.wait %t, %x : ({m}) -> tensor<8x6xi32>
        %half = tensor.extract_slice %w[4, 0] [4, 6] [1, 1] : tensor<8x6xi32> to {m}
        {starts("u", "half", "braid.all_gather %y dims = [0] groups = #g : (" + m + ") -> tensor<8x6xi32>", "tensor<8x6xi32>")}
        scf.yield %u, %half : !braid.token, {m}
      }}
      %r1 = braid.wait %end#0, %end#1 : ({m}) -> tensor<8x6xi32>
      {starts("w0", "a", reduce, m)}
      %while:3 = scf.while (%t = %w0, %x = %a, %i = %zero) : (!braid.token, {m}, index) -> (!braid.token, {m}, index) {{
        %go = arith.cmpi ult, %i, %two : index
        scf.condition(%go) %t, %x, %i : !braid.token, {m}, index
      }} do {{
      ^bb0(%t: !braid.token, %x: {m}, %i: index):
        %w = braid.wait %t, %x : ({m}) -> {m}
        %next = linalg.add ins(%w, %a : {m}, {m}) outs(%w : {m}) -> {m}
        {starts("u", "next", reduce, m)}
        %j = arith.addi %i, %one : index
        scf.yield %u, %next, %j : !braid.token, {m}, index
      }}
      %r2 = braid.wait %while#0, %while#1 : ({m}) -> {m}""".replace("%three = ", "%two = arith.constant 2 : index\n %three = ")

    def expected(rank):
        group = groups_of(rank)


        def after(trips):
            values = {r: operand(r) for r in group}
            for _ in range(trips):
                total = added(list(values.values()))
                values = {r: added([total, operand(r)]) for r in group}
            return added(list(values.values()))
        second = operand(group[1])
        return [after(3), second + second, after(2)]
    compare(run(body, [m, "tensor<8x6xi32>", m], options=("--steps", "2")), expected)


@check
def tokens_that_go_astray():
    """To a function: the error says to inline it. What a token may become must have the same tensors in flight."""
    m = "tensor<4x6xi32>"
    start = starts("t", "a", "braid.all_reduce sum %y groups = #g : " + m, m)
    error = run(f"{start}\n %r0 = func.call @other(%t, %a) : (!braid.token, {m}) -> {m}", [m], extra=(
        f"func.func private @other(%t: !braid.token, %x: {m}) -> {m} {{ %w = braid.wait %t, %x : ({m}) -> {m} return %w : {m} }}",),
                fails=True)
    expect("passed on by scf.for, scf.while and scf.if" in error and "inline the function" in error, error)


M = "tensor<4x6xi32>"
REDUCE = "braid.all_reduce sum %y groups = #g : " + M
GATHER = "braid.all_gather %y dims = [0] groups = #g : (" + M + ") -> tensor<8x6xi32>"


def pipeline(depth, trips, collective, result, cut_back=""):
    """Keeps `depth` collectives in flight in a loop of `trips` trips: each trip awaits the oldest one and starts one of what
    came out, plus the trip's number. Gives the results of all that are left, in order."""
    names = range(depth)
    lines = [f"%c{i} = arith.constant dense<{i + 1}> : {M}\n %x{i} = arith.addi %a, %c{i} : {M}\n"
             + starts(f"t{i}", f"x{i}", collective, result) for i in names]
    carried = ", ".join([f"%p{i} = %t{i}" for i in names] + [f"%q{i} = %x{i}" for i in names])
    types = ", ".join(["!braid.token"] * depth + [M] * depth)
    handed = ", ".join([f"%p{i}" for i in names][1:] + ["%new"] + [f"%q{i}" for i in names][1:] + ["%next"])
    lines.append(f"""
      %e = tensor.empty() : {M}
      %l:{2 * depth} = scf.for %i = %zero to %trips step %one iter_args({carried}) -> ({types}) {{
        %w = braid.wait %p0, %q0 : ({M}) -> {result}
        {cut_back or f"%h = arith.addi %w, %w : {M}"}
        %v = arith.index_cast %i : index to i32
        %step = tensor.splat %v : {M}
        %next = linalg.add ins(%h, %step : {M}, {M}) outs(%e : {M}) -> {M}
        {starts("new", "next", collective, result)}
        scf.yield {handed} : {types}
      }}""")
    lines += [f"%r{i} = braid.wait %l#{i}, %l#{depth + i} : ({M}) -> {result}" for i in names]
    return ("%zero = arith.constant 0 : index\n %one = arith.constant 1 : index\n"
            + (f"%trips = arith.constant {trips} : index\n" if isinstance(trips, int) else trips) + "\n".join(lines))


def pipelined(depth, trips, step):
    """What comes out of it on all ranks: `step` is the collective, from what all ranks hold to what all hold."""
    shifted = lambda values, by: [[[x + by for x in row] for row in value] for value in values]
    queue = [step(shifted([operand(r) for r in range(4)], i + 1)) for i in range(depth)]
    for trip in range(trips):
        oldest, queue = queue[0], queue[1:]
        half = [value[4:] if len(value) == 8 else added([value, value]) for value in oldest]
        queue.append(step(shifted(half, trip)))
    return lambda rank: [result[rank] for result in queue]


@check
def several_in_flight():
    """Depth 2 and 3, trips that are and are not a multiple of it, none at all, fewer than none (known only when it runs); in place
    and not. The computation writes into one tensor.empty outside of the loop, as loop-invariant code motion leaves it."""
    reduce = lambda values: [added([values[r] for r in groups_of(rank)]) for rank in range(4)]
    gather = lambda values: [values[groups_of(rank)[0]] + values[groups_of(rank)[1]] for rank in range(4)]
    half = f"%h = tensor.extract_slice %w[4, 0] [4, 6] [1, 1] : tensor<8x6xi32> to {M}"
    minus = """%v0 = tensor.extract %a[%zero, %zero] : tensor<4x6xi32>
      %v1 = arith.index_cast %v0 : i32 to index
      %two = arith.constant -3 : index
      %v2 = arith.minsi %v1, %zero : index
      %trips = arith.addi %v2, %two : index
      """
    for depth, trips in ((2, 0), (2, 1), (2, 4), (2, 5), (3, 2), (3, 7)):
        compare(run(pipeline(depth, trips, REDUCE, M), [M] * depth, options=("--steps", "2")), pipelined(depth, trips, reduce))
    compare(run(pipeline(2, minus, REDUCE, M), [M] * 2), pipelined(2, 0, reduce))
    compare(run(pipeline(2, 5, GATHER, "tensor<8x6xi32>", half), ["tensor<8x6xi32>"] * 2), pipelined(2, 5, gather))


@check
def of_different_kinds():
    """Tokens of a branch whose sides start different collectives: the error names both and what to do."""
    error = run(f"""
      %c = arith.constant true
      %t = scf.if %c -> !braid.token {{
        {starts("u", "a", REDUCE, M)}
        scf.yield %u : !braid.token
      }} else {{
        {starts("u", "a", GATHER, "tensor<8x6xi32>")}
        scf.yield %u : !braid.token
      }}
      %r0 = braid.wait %t, %a : ({M}) -> {M}""", [M], fails=True)
    expect("all_gather of tensor<4x6xi32>" in error and "all_reduce of tensor<4x6xi32>" in error
           and "wait for one of them before" in error or "expected the types of the collective's results" in error, error)


main(__file__)
