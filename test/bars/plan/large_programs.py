"""Programs of any size for the bars about scale: `tasks` kernels, and a collective behind every tenth of them.

  python3 large_programs.py SHAPE TASKS [--operations]      # prints one; with --operations kernels are arith.addf
"""
import random
import sys

EVERY = 10
SIZES = (64, 1024, 16384, 262144)  # elements of f32
GROUPS = {"all": "#braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]>", "rows": "#braid.groups<[[0, 1], [2, 3], [4, 5], [6, 7]]>",
          "columns": "#braid.groups<[[0, 2, 4, 6], [1, 3, 5, 7]]>"}


class Writer:
    """Lines of one block. A value is its name and its number of elements."""

    def __init__(self, seed, operations):
        self.random, self.operations, self.lines, self.values = random.Random(seed), operations, [], 0

    def line(self, text):
        self.lines.append(text)

    def name(self):
        self.values += 1
        return f"%{self.values}"

    def kernel(self, operands, size=None):
        size, name = size or operands[0][1], self.name()
        if self.operations:
            size = operands[0][1]
            first, last = operands[0][0], [o[0] for o in operands if o[1] == size][-1]
            self.line(f"{name} = arith.addf {first}, {last} : tensor<{size}xf32>")
            return name, size
        took = self.random.choice((2, 5, 10, 40))
        types = ", ".join(f"tensor<{s}xf32>" for _, s in operands)
        self.line(f'{name} = braid.compute "k{self.values}" for "{took} us" ins({", ".join(o for o, _ in operands)} : {types}) '
                  f"outs(%e{size} : tensor<{size}xf32>) -> tensor<{size}xf32>")
        return name, size

    def all_reduce(self, operand, groups="all"):
        name = self.name()
        self.line(f"{name} = braid.all_reduce sum {operand[0]} groups = {GROUPS[groups]} : tensor<{operand[1]}xf32>")
        return name, operand[1]

    def collective(self, kind, operand, groups, size, more=""):
        name = self.name()
        self.line(f"{name} = braid.{kind} {operand[0]}{more} groups = {GROUPS[groups]} : (tensor<{operand[1]}xf32>) -> tensor<{size}xf32>")
        return name, size

    def size(self):
        return self.random.choice(SIZES)


def chain(w, tasks, start):
    """A backward pass: each kernel reads the one before; gradients on its side are reduced and read at the end."""
    value, gradients = start, []
    for task in range(tasks):
        if task % EVERY == EVERY - 1:
            gradients.append(w.all_reduce(w.kernel([value], w.size() if not w.operations else None)))
        else:
            value = w.kernel([value])
    return value, gradients


def dependent(w, tasks, start):
    """Tensor parallelism: each collective reads the kernel before it, and the next kernel reads the collective."""
    value = start
    for task in range(tasks):
        value = w.kernel([value])
        if task % EVERY == EVERY - 1:
            value = w.all_reduce(value)
    return value, []


def wide(w, tasks, start):
    """Nothing depends on anything else."""
    made = [w.kernel([start], w.size()) for _ in range(tasks)]
    return start, [w.all_reduce(value) for value in made[::EVERY]]


def lanes(w, tasks, start):
    """Sixteen chains side by side, each with collectives in it, that meet now and then."""
    values = [w.kernel([start]) for _ in range(16)]
    for task in range(tasks - 16):
        lane = w.random.randrange(16)
        operands = [values[lane]] + ([values[w.random.randrange(16)]] if task % 7 == 0 else [])
        values[lane] = w.kernel(operands)
        if task % EVERY == 0:
            values[lane] = w.all_reduce(values[lane])
    return values[0], values[1:]


def groups(w, tasks, start):
    """Activations over rows of the mesh on the chain, gradients over its columns beside it."""
    value, gradients = start, []
    for task in range(tasks):
        value = w.kernel([value])
        if task % (2 * EVERY) == EVERY:
            value = w.all_reduce(value, "rows")
        elif task % (2 * EVERY) == 0:
            gradients.append(w.all_reduce(value, "columns"))
    return value, gradients


def far(w, tasks, start):
    """Kernels read what was made anywhere before; collectives are read much later."""
    made = [start]
    for task in range(tasks):
        value = w.kernel([made[-1], made[w.random.randrange(len(made))]], start[1])
        made.append(w.all_reduce(value) if task % EVERY == 0 else value)
    return made[-1], []


def levels(w, tasks, start):
    """Gradients reduced level by level: inside a host, between hosts, and gathered again, one collective behind the other."""
    value, gradients = start, []
    for task in range(tasks):
        value = w.kernel([value])
        if task % (3 * EVERY) == 0:
            part = w.collective("reduce_scatter sum", value, "rows", value[1] // 2, " dims = [0]")
            gradients.append(w.collective("all_gather", w.all_reduce(part, "columns"), "rows", value[1], " dims = [0]"))
    return value, gradients


def gathers(w, tasks, start):
    """Sharded parameters: every tenth kernel reads weights that are gathered, from shards that are there from the beginning."""
    value = start
    shard = w.kernel([start], 64) if not w.operations else start
    for task in range(tasks):
        operands = [value]
        if task % EVERY == 0:
            operands.append(w.collective("all_gather", shard, "all", shard[1] * 8, " dims = [0]"))
        value = w.kernel(operands, start[1])
    return value, []


def barriers(w, tasks, start):
    """An operation of unknown effects after every fifty kernels."""
    value, gradients = start, []
    for task in range(tasks):
        value = w.kernel([value])
        if task % EVERY == 0:
            gradients.append(w.all_reduce(value))
        if task % 50 == 0:
            w.line("func.call @unknown() : () -> ()")
    return value, gradients


def keys(w, tasks, start):
    """Two collectives of each key, far apart."""
    value, gradients, count = start, [], max(1, tasks // EVERY // 2)
    for task in range(tasks):
        value = w.kernel([value])
        if task % EVERY == 0:
            name = w.name()
            w.line(f"{name} = braid.all_reduce sum {value[0]} groups = {GROUPS['all']} {{braid.group_key = \"{task // EVERY % count}\"}} "
                   f": tensor<{value[1]}xf32>")
            gradients.append((name, value[1]))
    return value, gradients


def in_place(w, tasks, start):
    """Every kernel writes what the one before has written."""
    value, gradients = w.kernel([start]), []
    for task in range(tasks):
        before, value = value, (w.name(), value[1])
        w.line(f'{value[0]} = braid.compute "update" for "5 us" outs({before[0]} : tensor<{value[1]}xf32>) -> tensor<{value[1]}xf32>'
               if not w.operations else f"{value[0]} = arith.negf {before[0]} : tensor<{value[1]}xf32>")
        if task % EVERY == 0:
            gradients.append(w.all_reduce(value))
    return value, gradients


def ladder(w, tasks, start):
    """Collectives that read two collectives each, thirty deep, behind stretches of computation."""
    values = [start, w.kernel([start])]
    for task in range(tasks):
        if task % (30 * EVERY) == 0:
            for _ in range(15):
                names = [w.name(), w.name()]
                for name in names:
                    w.line(f"{name}:2 = braid.all_reduce sum {values[0][0]}, {values[1][0]} groups = {GROUPS['all']} : "
                           f"tensor<{start[1]}xf32>, tensor<{start[1]}xf32>")
                values = [(f"{names[0]}#0", start[1]), (f"{names[1]}#1", start[1])]
        values[0] = w.kernel(values)
    return values[0], []


def loop(w, tasks, start, trips, body):
    inside = f"%x{w.name()[1:]}"
    name = w.name()
    kind = f"tensor<{start[1]}xf32>"
    w.line(f"{name} = scf.for %i = %c0 to %c{trips} step %c1 iter_args({inside} = {start[0]}) -> ({kind}) {{")
    last, rest = body(w, tasks, (inside, start[1]))
    for other in rest:
        if other[1] == last[1]:
            last = w.kernel([last, other])
    w.line(f"scf.yield {last[0]} : {kind}\n}}")
    return name, start[1]


def looped(w, tasks, start):
    """One loop of eight trips around everything."""
    return loop(w, tasks, start, 8, groups), []


def loops(w, tasks, start):
    """A loop of two trips for every fifty kernels, one after another."""
    value = start
    for _ in range(max(1, tasks // 50)):
        value = loop(w, min(tasks, 50), value, 2, chain)
    return value, []


SHAPES = {f.__name__: f for f in (chain, dependent, wide, lanes, groups, far, levels, gathers, barriers, keys, in_place, ladder, looped, loops)}


def program(shape, tasks, operations=False, seed=1):
    w = Writer(seed, operations)
    w.line("func.func private @unknown()")
    w.line("func.func @main(%arg0: tensor<1024xf32>) -> tensor<1024xf32> {")
    for size in SIZES:
        w.line(f"%e{size} = tensor.empty() : tensor<{size}xf32>")
    for constant in (0, 1, 2, 8):
        w.line(f"%c{constant} = arith.constant {constant} : index")
    last, rest = SHAPES[shape](w, tasks, ("%arg0", 1024))
    for other in rest:  # all is read, so that canonicalising keeps it
        if other[1] == 1024:
            last = w.kernel([last, other])
        else:
            w.line(f'braid.compute "read" for "0 us" ins({other[0]} : tensor<{other[1]}xf32>)')
    w.line(f"return {last[0]} : tensor<1024xf32>\n}}\n")
    return "\n".join(w.lines)


if __name__ == "__main__":
    print(program(sys.argv[1], int(sys.argv[2]), "--operations" in sys.argv))
