"""Random programs of collectives and computation that depend on each other in any way: COUNT modules, one for each seed, for
-split-input-file. By turns the program as it is, its text in another order, its text in a loop or in a function that is called twice, and
with a reader more of each result.
"""
import random
import sys

GROUPS = ("[[0, 1, 2, 3]]", "[[0, 1], [2, 3]]", "[[0, 2], [1, 3]]", "[[3, 1], [2, 0]]", "[[0], [1], [2], [3]]")


def operation(rng, name, one, other, size):
    """The text of one operation from tensors of a size to another of it."""
    here = f"tensor<{size}x{size}xf32>"
    groups = f"groups = #braid.groups<{rng.choice(GROUPS)}>"
    kind = rng.randrange(8)
    if kind < 4:
        return f"{name} = braid.all_reduce {rng.choice(('sum', 'max'))} {one} {groups} : {here}"
    if kind == 4:
        return f"{name} = braid.permute {one} pairs = {rng.choice(('[[0, 1], [1, 2]]', '[[3, 0]]'))} : {here}"
    if kind == 5:
        groups = "groups = #braid.groups<[[0, 1], [2, 3]]>"
        part = f"tensor<{size // 2}x{size}xf32>"
        return (f"{name}s = braid.reduce_scatter sum {one} dims = [0] {groups} : ({here}) -> {part}\n"
                f"{name} = braid.all_gather {name}s dims = [0] {groups} : ({part}) -> {here}")
    if kind == 6:
        return f'{name} = "stablehlo.dot"({one}, {other}) : ({here}, {here}) -> {here}'
    return f"{name} = arith.addf {one}, {other} : {here}"


def shuffled(rng, steps):
    """The same steps in another order in which what is read comes first."""
    done, left, order = {"%a", "%b"}, list(steps), []
    while left:
        step = rng.choice([step for step in left if step[1] <= done])
        left.remove(step)
        order.append(step)
        done.add(step[0])
    return order


def module(seed):
    rng = random.Random(seed)
    size = rng.choice((16, 256, 1024))
    type = f"tensor<{size}x{size}xf32>"
    steps, values = [], ["%a", "%b"]
    for number in range(rng.randrange(6, 24)):
        one, other = rng.choice(values[-4:]), rng.choice(values)
        name = f"%v{number}"
        steps.append((name, {one, other}, operation(rng, name, one, other, size)))
        values.append(name)
    disguise = seed % 4
    if disguise == 1:
        steps = shuffled(rng, steps)
    used = set().union(*(step[1] for step in steps))
    lines = [step[2] for step in steps]
    if disguise == 3:
        lines += [f"{name}r = arith.mulf {name}, {name} : {type}" for name, _, _ in steps]
        ends = [name + "r" for name, _, _ in steps]
    else:
        ends = [name for name, _, _ in steps if name not in used]
    results = ", ".join([type] * len(ends))
    body = "\n".join(lines)
    if disguise != 2:
        return f"func.func @main(%a: {type}, %b: {type}) -> ({results}) {{\n{body}\nreturn {', '.join(ends)} : {results}\n}}\n"
    last = ends[-1]
    layer = f"func.func private @layer(%a: {type}, %b: {type}) -> {type} {{\n{body}\nreturn {last} : {type}\n}}\n"
    return layer + f"""func.func @main(%a: {type}, %b: {type}) -> {type} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 5 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> {type} {{
    %y = func.call @layer(%x, %b) : ({type}, {type}) -> {type}
    scf.yield %y : {type}
  }}
  %s = call @layer(%r, %r) : ({type}, {type}) -> {type}
  return %s : {type}
}}
"""


print("\n// -----\n\n".join(module(seed) for seed in range(int(sys.argv[1]))))
