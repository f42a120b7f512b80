"""Random programs of the dialect with loops, branches, calls and collectives in flight, and what they compute, in numpy.

A program is written and understood at once: each statement adds a line of MLIR, and a function from the values of all ranks so far to
those of the line's results. All ranks take the same way: trip counts and conditions come from an argument that is equal on all
of them. A token's value is what its collective gives, known since the start; that nobody sees it before the wait, and nobody
writes into what is in flight, is what the compiled program has to get right.
"""
import functools
import random

import numpy as np

RANKS = 2
GROUPS = {"#both": [[0, 1]], "#turned": [[1, 0]], "#alone": [[0], [1]]}
SELECT = 8  # elements of the argument that decides
LARGEST = 200


def text_of(shape):
    return "tensor<" + "x".join(map(str, shape)) + "xi32>"


class Token:
    """A collective in flight: its text, what it was given, the types of what it gives."""

    def __init__(self, name, collective, operands, results):
        self.name, self.collective, self.operands, self.results = name, collective, operands, results

    def kind(self):
        return self.collective.text, tuple(shape for _, shape in self.operands), tuple(self.results)


class Collective:
    """`text` with {x} for the operands and {t} for their types, and the same in numpy for one tensor of all ranks."""

    def __init__(self, text, compute, count=1):
        self.text, self.compute, self.count = text, compute, count

    def results(self, operands):
        """Of operands of all ranks, each result of all ranks."""
        return [self.compute(operand) for operand in operands]


def group_of(rank, groups):
    return next(row for row in GROUPS[groups] if rank in row)


def collective_for(rng, shape):
    """A random collective that takes tensors of this shape, and the shape of its results."""
    groups = rng.choice(list(GROUPS))
    size = len(GROUPS[groups][0])
    dim = rng.randrange(len(shape))
    kind = rng.choice(["all_reduce", "all_reduce", "all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all", "permute"])
    if kind in ("reduce_scatter", "all_to_all") and shape[dim] % size:
        kind = "all_reduce"
    if kind == "all_gather" and np.prod(shape) * size > LARGEST:
        kind = "all_reduce"

    def per_rank(function):
        return lambda values: [function(rank, [values[r] for r in group_of(rank, groups)], group_of(rank, groups).index(rank))
                               for rank in range(RANKS)]
    if kind == "all_reduce":
        reduction, combine = rng.choice([("sum", np.add), ("max", np.maximum), ("min", np.minimum)])
        return Collective(f"braid.all_reduce {reduction} {{x}} groups = {groups} : {{t}}",
                          per_rank(lambda rank, all_of, place: functools.reduce(combine, all_of)), rng.choice([1, 1, 2])), shape
    if kind == "broadcast":
        root = rng.randrange(size)
        return Collective(f"braid.broadcast {{x}} root = {root} groups = {groups} : {{t}}",
                          per_rank(lambda rank, all_of, place: all_of[root])), shape
    if kind == "permute":
        pairs = rng.choice([[[0, 1], [1, 0]], [[0, 1]], [[1, 0], [0, 1]], [[1, 1]]])
        source = {target: s for s, target in pairs}
        return Collective(f"braid.permute {{x}} pairs = {pairs} : {{t}}",
                          lambda values: [values[source[r]] if r in source else np.zeros_like(values[r]) for r in range(RANKS)]), shape
    given = list(shape)
    if kind == "all_gather":
        given[dim] *= size
        text = f"braid.all_gather {{x}} dims = [{dim}] groups = {groups} : ({{t}}) -> {{r}}"
        compute = per_rank(lambda rank, all_of, place: np.concatenate(all_of, dim))
    elif kind == "reduce_scatter":
        given[dim] //= size
        text = f"braid.reduce_scatter sum {{x}} dims = [{dim}] groups = {groups} : ({{t}}) -> {{r}}"
        compute = per_rank(lambda rank, all_of, place: np.split(functools.reduce(np.add, all_of), size, dim)[place])
    else:
        other = rng.randrange(len(shape))
        given[dim] //= size
        given[other] *= size
        text = f"braid.all_to_all {{x}} split = [{dim}] concat = [{other}] groups = {groups} : ({{t}}) -> {{r}}"
        compute = per_rank(lambda rank, all_of, place: np.concatenate([np.split(x, size, dim)[place] for x in all_of], other))
    return Collective(text, compute), tuple(given)


class Scope:
    """What a block can use: tensors by name and shape, the tokens that it has to see to, its text and its meaning."""

    def __init__(self, program, tensors=(), depth=0):
        self.program, self.tensors, self.tokens, self.depth = program, list(tensors), [], depth
        self.lines, self.steps = [], []

    def say(self, line, step=None):
        self.lines.append("  " * (self.depth + 1) + line)
        if step:
            self.steps.append(step)

    def pick(self, rng, shape=None):
        return rng.choice([t for t in self.tensors if shape in (None, t[1])])

    def run(self, env):
        for step in self.steps:
            step(env)


class Program:
    """One random module: `text`, and `compute(argument of each rank, select)` -> results of each rank."""
    ranks, groups = RANKS, GROUPS

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names = 0
        self.functions, self.callables = [], []
        for number in range(self.rng.randrange(3)):
            self.function(f"part{number}", self.rng.choice(["private ", ""]))
        self.main()
        self.text = "\n".join([f"{name} = #braid.groups<{rows}>" for name, rows in self.groups.items()] + self.functions) + "\n"

    def fresh(self, prefix="v"):
        self.names += 1
        return f"%{prefix}{self.names}"

    # --- functions

    def function(self, name, visibility):
        shapes = [self.rng.choice([(4, 6), (2, 6), (4, 6)]) for _ in range(self.rng.randrange(1, 4))]
        parameters = [(self.fresh("p"), shape) for shape in shapes]
        scope, results = self.body(parameters, size=5)
        given = ", ".join(f"{p}: {text_of(s)}" for p, s in parameters)
        types = ", ".join(text_of(s) for _, s in results)
        names = ", ".join(n for n, _ in results)
        self.functions.append(f"func.func {visibility}@{name}({given}, %select: tensor<{SELECT}xi32>) -> ({types}) {{\n" + "\n".join(scope.lines) +
                              f"\n  return {names} : {types}\n}}")
        self.callables.append((name, parameters, scope, results))

    def body(self, parameters, size):
        scope = Scope(self, parameters)
        for value in (0, 1):
            scope.say(f"%k{value} = arith.constant {value} : index")
        self.shared = {}  # destinations that many computations name, as common subexpression elimination leaves them
        for shape in {(4, 6), (2, 6)}:
            name = self.fresh("e")
            scope.say(f"{name} = tensor.empty() : {text_of(shape)}")
            self.shared[shape] = name
        self.statements(scope, size)
        self.wait_for_all(scope)
        results = [self.rng.choice(scope.tensors[-6:]) for _ in range(self.rng.randrange(1, 4))]
        return scope, results

    def main(self):
        argument = [("%a", (4, 6))]
        scope, results = self.body(argument, size=14)
        self.results, self.scope = results, scope
        types = ", ".join(text_of(s) for _, s in results)
        names = ", ".join(n for n, _ in results)
        self.functions.append(f"func.func @main(%a: {text_of((4, 6))}, %select: tensor<{SELECT}xi32>) -> ({types}) {{\n" + "\n".join(scope.lines) +
                              f"\n  return {names} : {types}\n}}")

    def compute(self, arguments, select):
        env = {"%a": [a.copy() for a in arguments], "select": select}
        with np.errstate(over="ignore"):
            self.scope.run(env)
        return [[env[name][rank] for name, _ in self.results] for rank in range(self.ranks)]

    # --- statements

    def kinds(self, scope):
        """The statements to draw from."""
        kinds = [self.elementwise] * 4 + [self.slice] * 2 + [self.collective] + [self.start] * 4 + [self.wait] * 2
        if scope.depth < 3:
            kinds += [self.loop] * 2 + [self.branch] * 2 + [self.while_loop]
        if self.callables:
            kinds += [self.call]
        return kinds

    def statements(self, scope, size):
        kinds = self.kinds(scope)
        for _ in range(self.rng.randrange(1, size + 1)):
            self.rng.choice(kinds)(scope)

    def elementwise(self, scope):
        rng = self.rng
        a, shape = scope.pick(rng)
        b, _ = scope.pick(rng, shape)
        t, r = text_of(shape), self.fresh()
        how = rng.choice(["arith", "arith", "linalg", "linalg", "fill"])
        name, compute = rng.choice([("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("max", np.maximum)])
        if how == "arith":
            scope.say(f"{r} = arith.{name}{'si' if name == 'max' else 'i'} {a}, {b} : {t}",
                      lambda env: env.update({r: [compute(x, y) for x, y in zip(env[a], env[b])]}))
        else:
            into = rng.choice([self.fresh("e"), self.shared.get(shape) or a, scope.pick(rng, shape)[0]])
            if into.startswith("%e") and into not in self.shared.values():
                scope.say(f"{into} = tensor.empty() : {t}")
            if how == "fill":
                number, c = rng.randrange(-9, 9), self.fresh("c")
                scope.say(f"{c} = arith.constant {number} : i32")
                scope.say(f"{r} = linalg.fill ins({c} : i32) outs({into} : {t}) -> {t}",
                          lambda env: env.update({r: [np.full(shape, number, np.int32)] * self.ranks}))
            else:
                scope.say(f"{r} = linalg.{name} ins({a}, {b} : {t}, {t}) outs({into} : {t}) -> {t}",
                          lambda env: env.update({r: [compute(x, y) for x, y in zip(env[a], env[b])]}))
        scope.tensors.append((r, shape))

    def slice(self, scope):
        rng = self.rng
        a, shape = scope.pick(rng)
        size = [rng.randrange(1, n + 1) for n in shape]
        at = [rng.randrange(0, n - s + 1) for n, s in zip(shape, size)]
        box = tuple(slice(o, o + s) for o, s in zip(at, size))
        fitting = [t for t in scope.tensors if all(n >= o + s for n, o, s in zip(t[1], at, size))]
        r, part = self.fresh(), self.fresh()
        p = text_of(size)
        scope.say(f"{part} = tensor.extract_slice {a}{at} {size} [1, 1] : {text_of(shape)} to {p}",
                  lambda env: env.update({part: [x[box].copy() for x in env[a]]}))
        if rng.random() < 0.3:
            scope.tensors.append((part, tuple(size)))
            return
        b, into = rng.choice(fitting)

        def insert(env):
            env[r] = [x.copy() for x in env[b]]
            for x, y in zip(env[r], env[part]):
                x[box] = y
        scope.say(f"{r} = tensor.insert_slice {part} into {b}{at} {size} [1, 1] : {p} into {text_of(into)}", insert)
        scope.tensors.append((r, into))

    def collective_text(self, collective, operands, results, names):
        types = ", ".join(text_of(s) for _, s in operands)
        return collective.text.format(x=", ".join(names), t=types, r=", ".join(map(text_of, results)))

    def draw_collective(self, scope):
        operand = scope.pick(self.rng)
        collective, result = collective_for(self.rng, operand[1])
        operands = [operand] + [scope.pick(self.rng) for _ in range(collective.count - 1)]
        return collective, operands, [result] + [shape for _, shape in operands[1:]]

    def collective(self, scope):
        collective, operands, results = self.draw_collective(scope)
        r = self.fresh()
        text = self.collective_text(collective, operands, results, [n for n, _ in operands])
        names = [r] if len(results) == 1 else [f"{r}#{i}" for i in range(len(results))]

        def step(env):
            env.update(zip(names, collective.results([env[operand] for operand, _ in operands])))
        scope.say(f"{r}{':%d' % len(results) if len(results) > 1 else ''} = {text}", step)
        scope.tensors += list(zip(names, results))

    def start(self, scope, like=None):
        """`like`: a token whose kind the new one must have."""
        if like:
            collective, results = like.collective, like.results
            operands = [scope.pick(self.rng, shape) for _, shape in like.operands]
        else:
            collective, operands, results = self.draw_collective(scope)
        token, inner, s = self.fresh("t"), [self.fresh("y") for _ in operands], self.fresh("s")
        types = ", ".join(text_of(shape) for _, shape in operands)
        text = self.collective_text(collective, operands, results, inner)
        given = ", ".join(f"{y} = {n}" for y, (n, _) in zip(inner, operands))
        many = len(results) > 1
        yielded = ", ".join(f"{s}#{i}" for i in range(len(results))) if many else s
        scope.say(f"{token} = braid.start({given}) : {types} {{")
        scope.say(f"  {s}{':%d' % len(results) if many else ''} = {text}")
        scope.say(f"  braid.yield {yielded} : {', '.join(map(text_of, results))}")

        def step(env):
            env[token] = collective.results([env[operand] for operand, _ in operands])
        scope.say("}", step)
        scope.tokens.append(Token(token, collective, operands, results))
        return scope.tokens[-1]

    def wait(self, scope, token=None):
        if not scope.tokens:
            return
        token = token or self.rng.choice(scope.tokens)
        scope.tokens.remove(token)
        r = self.fresh("w")
        names = [r] if len(token.results) == 1 else [f"{r}#{i}" for i in range(len(token.results))]
        types = ", ".join(text_of(s) for _, s in token.operands)
        scope.say(f"{r}{':%d' % len(names) if len(names) > 1 else ''} = braid.wait {token.name}, {', '.join(n for n, _ in token.operands)} : "
                  f"({types}) -> ({', '.join(map(text_of, token.results))})", lambda env: env.update(zip(names, env[token.name])))
        scope.tensors += list(zip(names, token.results))

    def wait_for_all(self, scope):
        while scope.tokens:
            self.wait(scope)

    def call(self, scope):
        name, parameters, callee, results = self.rng.choice(self.callables)
        given = []
        for _, shape in parameters:
            fitting = [t for t in scope.tensors if t[1] == shape]
            if not fitting:
                return
            given.append(self.rng.choice(fitting))
        r = self.fresh("f")
        names = [r] if len(results) == 1 else [f"{r}#{i}" for i in range(len(results))]

        def step(env):
            inner = {"select": env["select"], **{p: env[g] for (p, _), (g, _) in zip(parameters, given)}}
            callee.run(inner)
            env.update((n, inner[result]) for n, (result, _) in zip(names, results))
        types = ", ".join([text_of(s) for _, s in parameters] + [f"tensor<{SELECT}xi32>"])
        scope.say(f"{r}{':%d' % len(names) if len(names) > 1 else ''} = func.call @{name}({', '.join([g for g, _ in given] + ['%select'])}) : ({types}) -> "
                  f"({', '.join(text_of(s) for _, s in results)})", step)
        scope.tensors += [(n, s) for n, (_, s) in zip(names, results)]

    # --- loops and branches

    def carried(self, scope):
        """Some tensors and tokens that a loop or a branch takes over. The tokens are the scope's no more."""
        tensors = self.rng.sample(scope.tensors, min(len(scope.tensors), self.rng.randrange(0, 3)))
        if self.rng.random() < 0.6 and not scope.tokens:
            for _ in range(self.rng.randrange(1, 4)):  # a pipeline to be
                self.start(scope, like=scope.tokens[-1] if scope.tokens and self.rng.random() < 0.8 else None)
        tokens = [t for t in scope.tokens if self.rng.random() < 0.7]
        for token in tokens:
            scope.tokens.remove(token)
        return tensors, tokens

    def hand_on(self, scope, tensors, tokens):
        """Brings the block to an end with tensors of these shapes and tokens of these kinds: names, in any order that fits."""
        names = [self.rng.choice([t for t in scope.tensors if t[1] == shape])[0] for _, shape in tensors]
        wanted = {}
        for token in tokens:
            wanted.setdefault(token.kind(), []).append(token)
        for token in list(scope.tokens):
            if sum(t.kind() == token.kind() for t in scope.tokens) > len(wanted.get(token.kind(), [])):
                self.wait(scope, token)
        for kind, group in wanted.items():
            while sum(t.kind() == kind for t in scope.tokens) < len(group):
                self.start(scope, like=group[0])
        left = list(scope.tokens)
        if self.rng.random() < 0.5:
            self.rng.shuffle(left)
        chosen = []
        for token in tokens:
            chosen.append(next(t for t in left if t.kind() == token.kind()))
            left.remove(chosen[-1])
        scope.tokens = []
        return names + [t.name for t in chosen] + [n for t in chosen for n, _ in t.operands]

    @staticmethod
    def types_of(tensors, tokens):
        return [text_of(s) for _, s in tensors] + ["!braid.token"] * len(tokens) + [text_of(s) for t in tokens for _, s in t.operands]

    @staticmethod
    def names_of(tensors, tokens):
        return [n for n, _ in tensors] + [t.name for t in tokens] + [n for t in tokens for n, _ in t.operands]

    @staticmethod
    def renamed(names, tensors, tokens):
        """The same tensors and tokens under new names."""
        names = list(names)
        new_tensors = [(names.pop(0), shape) for _, shape in tensors]
        token_names = [names.pop(0) for _ in tokens]
        new_tokens = [Token(name, t.collective, [(names.pop(0), shape) for _, shape in t.operands], t.results)
                      for name, t in zip(token_names, tokens)]
        return new_tensors, new_tokens

    def inside(self, scope, names, tensors, tokens):
        inner = Scope(self, scope.tensors, scope.depth + 1)
        new_tensors, inner.tokens = self.renamed(names, tensors, tokens)
        inner.tensors += new_tensors
        return inner

    def number(self, scope, least, most):
        """An index that only the run knows, equal on all ranks, and the function that tells it."""
        place, low = self.rng.randrange(SELECT), self.rng.randrange(least, most + 1)
        if self.rng.random() < 0.4:
            n = self.fresh("n")
            scope.say(f"{n} = arith.constant {low} : index")
            return n, lambda env: low
        c, x, n, base, m = (self.fresh("n") for _ in range(5))
        scope.say(f"{c} = arith.constant {place} : index")
        scope.say(f"{x} = tensor.extract %select[{c}] : tensor<{SELECT}xi32>")
        scope.say(f"{n} = arith.index_cast {x} : i32 to index")
        scope.say(f"{base} = arith.constant {low - 2} : index")
        scope.say(f"{m} = arith.addi {n}, {base} : index")
        return m, lambda env: int(env["select"][place]) + low - 2

    def results(self, scope, r, tensors, tokens):
        names = [r] if len(self.types_of(tensors, tokens)) == 1 else [f"{r}#{i}" for i in range(len(self.types_of(tensors, tokens)))]
        new_tensors, new_tokens = self.renamed(names, tensors, tokens)
        scope.tensors += new_tensors
        scope.tokens += new_tokens
        return names

    def loop(self, scope):
        tensors, tokens = self.carried(scope)
        if not tensors and not tokens:
            return
        end, trips = self.number(scope, 0, 4)
        types, outer = self.types_of(tensors, tokens), self.names_of(tensors, tokens)
        arguments, i, r = [self.fresh("b") for _ in outer], self.fresh("i"), self.fresh("l")
        inner = self.inside(scope, arguments, tensors, tokens)
        self.statements(inner, 5)
        handed = self.hand_on(inner, tensors, tokens)
        scope.say(f"{r}{':%d' % len(types) if len(types) > 1 else ''} = scf.for {i} = %k0 to {end} step %k1 "
                  f"iter_args({', '.join(f'{b} = {o}' for b, o in zip(arguments, outer))}) -> ({', '.join(types)}) {{")
        scope.lines += inner.lines
        scope.say(f"  scf.yield {', '.join(handed)} : {', '.join(types)}")
        names = self.results(scope, r, tensors, tokens)

        def step(env):
            values = [env[o] for o in outer]
            for _ in range(max(0, trips(env))):
                env.update(zip(arguments, values))
                inner.run(env)
                values = [env[h] for h in handed]
            env.update(zip(names, values))
        scope.say("}", step)

    def while_loop(self, scope):
        """Counts; or looks at the argument too, so that nobody knows how often it goes round."""
        tensors, tokens = self.carried(scope)
        if not tensors and not tokens:
            return
        counts = self.rng.random() < 0.6
        end, trips = self.number(scope, 0, 4)
        types, outer = self.types_of(tensors, tokens) + ["index"], self.names_of(tensors, tokens) + ["%k0"]
        before, arguments = ([self.fresh("b") for _ in outer] for _ in range(2))
        r, c, j = self.fresh("l"), self.fresh("c"), self.fresh("i")
        inner = self.inside(scope, arguments[:-1], tensors, tokens)
        self.statements(inner, 4)
        handed = self.hand_on(inner, tensors, tokens)
        scope.say(f"{r}:{len(types)} = scf.while ({', '.join(f'{b} = {o}' for b, o in zip(before, outer))}) : ({', '.join(types)}) -> ({', '.join(types)}) {{")
        if counts:
            scope.say(f"  {c} = arith.cmpi slt, {before[-1]}, {end} : index")
        else:
            scope.say(f"  {c}a = arith.cmpi slt, {before[-1]}, {end} : index")
            scope.say(f"  {c}b = tensor.extract %select[{before[-1]}] : tensor<{SELECT}xi32>")
            scope.say(f"  {c}c = arith.constant 3 : i32")
            scope.say(f"  {c}d = arith.cmpi ne, {c}b, {c}c : i32")
            scope.say(f"  {c} = arith.andi {c}a, {c}d : i1")
        scope.say(f"  scf.condition({c}) {', '.join(before)} : {', '.join(types)}")
        scope.say("} do {")
        scope.say(f"^bb0({', '.join(f'{b}: {t}' for b, t in zip(arguments, types))}):")
        scope.lines += inner.lines
        scope.say(f"  {j} = arith.addi {arguments[-1]}, %k1 : index")
        scope.say(f"  scf.yield {', '.join(handed + [j])} : {', '.join(types)}")
        names = [f"{r}#{i}" for i in range(len(types))]
        new_tensors, new_tokens = self.renamed(names[:-1], tensors, tokens)
        scope.tensors += new_tensors
        scope.tokens += new_tokens

        def step(env):
            values, i = [env[o] for o in outer[:-1]], 0
            while i < trips(env) and (counts or env["select"][i] != 3):
                env.update(zip(arguments, values))
                inner.run(env)
                values, i = [env[h] for h in handed], i + 1
            env.update(zip(names, values))
        scope.say("}", step)

    def branch(self, scope):
        tensors, tokens = self.carried(scope)
        if not tensors and not tokens:
            return
        n, number = self.number(scope, 0, 4)
        types, outer = self.types_of(tensors, tokens), self.names_of(tensors, tokens)
        c, r = self.fresh("c"), self.fresh("l")
        scope.say(f"{c} = arith.cmpi slt, {n}, %k1 : index")
        sides = []
        for _ in range(2):
            inner = self.inside(scope, outer, tensors, tokens)
            self.statements(inner, 4)
            sides.append((inner, self.hand_on(inner, tensors, tokens)))
        scope.say(f"{r}{':%d' % len(types) if len(types) > 1 else ''} = scf.if {c} -> ({', '.join(types)}) {{")
        for index, (inner, handed) in enumerate(sides):
            scope.lines += inner.lines
            scope.say(f"  scf.yield {', '.join(handed)} : {', '.join(types)}")
            if index == 0:
                scope.say("} else {")
        names = self.results(scope, r, tensors, tokens)

        def step(env):
            inner, handed = sides[0 if number(env) < 1 else 1]
            inner.run(env)
            env.update(zip(names, [env[h] for h in handed]))
        scope.say("}", step)
