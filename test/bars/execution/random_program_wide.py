"""Random programs with more in them: 2 to 4 ranks in several communicators, collectives of several tensors, with a root, of narrow
types that accumulate in wide ones, and what computation does between them: views, selects, switches, dynamic sizes.
"""
import functools

import numpy as np

from random_program import LARGEST, SELECT, Collective, Program, text_of

MEETINGS = {
    2: {"#both": [[0, 1]], "#turned": [[1, 0]], "#alone": [[0], [1]]},
    3: {"#both": [[0, 1, 2]], "#turned": [[2, 0, 1]], "#alone": [[0], [1], [2]]},
    4: {"#both": [[0, 1, 2, 3]], "#turned": [[3, 1], [2, 0]], "#across": [[0, 2], [1, 3]], "#next": [[0, 1], [2, 3]], "#alone": [[0], [1], [2], [3]]},
}
NARROW = {  # type -> to it from i8, back to i8, an accumulation that is wider
    "i8": ("", "", ["i8", "i32"]), "i16": ("extsi", "trunci", ["i16", "i64"]), "i64": ("extsi", "trunci", ["i64"]),
    "bf16": ("sitofp", "fptosi", ["bf16", "f32"]), "f16": ("sitofp", "fptosi", ["f16", "f32"]), "f64": ("sitofp", "fptosi", ["f64"]),
}


class Several(Collective):
    """Of several tensors, each with its own function of its values on all ranks (and of its init's)."""

    def __init__(self, text, functions, inits=False):
        super().__init__(text, None, len(functions))
        self.functions, self.inits = functions, inits

    def results(self, operands):
        count = len(self.functions)
        given = zip(operands[:count], operands[count:]) if self.inits else ((operand,) for operand in operands)
        return [function(*values) for function, values in zip(self.functions, given)]


class WideProgram(Program):
    def __init__(self, seed):
        self.ranks = [2, 2, 3, 4][seed // 4 % 4]
        self.groups = MEETINGS[self.ranks]
        super().__init__(seed)

    def kinds(self, scope):
        return super().kinds(scope) + [self.narrow, self.dynamic, self.select, self.reshaped, self.element, self.rank] + (
            [self.switch] * 2 if scope.depth < 3 else [])

    # --- collectives

    def per_rank(self, groups, function):
        """`function(rank, values of its group, its place, and further values of its own)` as one of the values of all ranks."""
        rows = {rank: row for row in self.groups[groups] for rank in row}
        return lambda values, *own: [function(rank, [values[r] for r in rows[rank]], rows[rank].index(rank), *(o[rank] for o in own))
                                     for rank in range(self.ranks)]

    def draw_collective(self, scope):
        rng = self.rng
        if rng.random() < 0.4:
            return self.draw_rooted(scope)
        operands = [scope.pick(rng) for _ in range(rng.choice([1, 1, 2, 3]))]
        groups = rng.choice(list(self.groups))
        size = len(self.groups[groups][0])
        kind = rng.choice(["all_reduce", "all_reduce", "all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all", "permute"])
        dims = [rng.randrange(len(shape)) for _, shape in operands]
        others = [rng.randrange(len(shape)) for _, shape in operands]
        cuttable = all(shape[dim] % size == 0 for (_, shape), dim in zip(operands, dims))
        if kind in ("reduce_scatter", "all_to_all") and not cuttable or kind == "all_gather" and any(np.prod(s) * size > LARGEST for _, s in operands):
            kind = "all_reduce"
        results = [list(shape) for _, shape in operands]
        reduction, combine = rng.choice([("sum", np.add), ("max", np.maximum), ("min", np.minimum), ("product", np.multiply)])
        if kind == "all_reduce":
            text = f"braid.all_reduce {reduction} {{x}} groups = {groups} : {{t}}"
            functions = [self.per_rank(groups, lambda rank, all_of, place: functools.reduce(combine, all_of))] * len(operands)
        elif kind == "broadcast":
            root = rng.randrange(size)
            text = f"braid.broadcast {{x}} root = {root} groups = {groups} : {{t}}"
            functions = [self.per_rank(groups, lambda rank, all_of, place: all_of[root])] * len(operands)
        elif kind == "permute":
            targets = rng.sample(range(self.ranks), rng.randrange(1, self.ranks + 1))
            source = dict(zip(targets, rng.sample(range(self.ranks), len(targets))))
            text = f"braid.permute {{x}} pairs = {[[s, t] for t, s in source.items()]} : {{t}}"
            functions = [lambda values: [values[source[r]] if r in source else np.zeros_like(values[r]) for r in range(self.ranks)]] * len(operands)
        elif kind == "all_gather":
            for shape, dim in zip(results, dims):
                shape[dim] *= size
            text = f"braid.all_gather {{x}} dims = {dims} groups = {groups} : ({{t}}) -> ({{r}})"
            functions = [self.per_rank(groups, lambda rank, all_of, place, dim=dim: np.concatenate(all_of, dim)) for dim in dims]
        elif kind == "reduce_scatter":
            for shape, dim in zip(results, dims):
                shape[dim] //= size
            text = f"braid.reduce_scatter {reduction} {{x}} dims = {dims} groups = {groups} : ({{t}}) -> ({{r}})"
            functions = [self.per_rank(groups, lambda rank, all_of, place, dim=dim: np.split(functools.reduce(combine, all_of), size, dim)[place]) for dim in dims]
        else:
            for shape, dim, other in zip(results, dims, others):
                shape[dim] //= size
                shape[other] *= size
            text = f"braid.all_to_all {{x}} split = {dims} concat = {others} groups = {groups} : ({{t}}) -> ({{r}})"
            functions = [self.per_rank(groups, lambda rank, all_of, place, dim=dim, other=other:
                                       np.concatenate([np.split(x, size, dim)[place] for x in all_of], other)) for dim, other in zip(dims, others)]
        return Several(text, functions), operands, [tuple(shape) for shape in results]

    def draw_rooted(self, scope):
        rng = self.rng
        operand, shape = scope.pick(rng)
        groups = rng.choice(list(self.groups))
        size = len(self.groups[groups][0])
        root, dim = rng.randrange(size), rng.randrange(len(shape))
        result = list(shape)
        kind = rng.choice(["reduce", "gather", "scatter"])
        if kind == "scatter" and shape[dim] % size == 0:
            result[dim] //= size
            text = f"braid.scatter {{x}} dims = [{dim}] root = {root} groups = {groups} : ({{t}}) -> ({{r}})"
            return Several(text, [self.per_rank(groups, lambda rank, all_of, place: np.split(all_of[root], size, dim)[place])]), [(operand, shape)], [tuple(result)]
        if kind == "gather":
            result[dim] *= size
            fitting = [t for t in scope.tensors if list(t[1]) == result]
            if fitting:
                text = f"braid.gather {{x}} init {{i}} dims = [{dim}] root = {root} groups = {groups} : ({{t}}) -> ({{r}})"
                function = self.per_rank(groups, lambda rank, all_of, place, init: np.concatenate(all_of, dim) if place == root else init)
                return Several(text, [function], inits=True), [(operand, shape), rng.choice(fitting)], [tuple(result)]
        text = f"braid.reduce sum {{x}} init {{i}} root = {root} groups = {groups} : ({{t}}) -> ({{r}})"
        function = self.per_rank(groups, lambda rank, all_of, place, init: functools.reduce(np.add, all_of) if place == root else init)
        return Several(text, [function], inits=True), [(operand, shape), scope.pick(rng, shape)], [shape]

    def collective_text(self, collective, operands, results, names):
        types = ", ".join(text_of(s) for _, s in operands)
        return collective.text.format(x=", ".join(names[:collective.count]), i=", ".join(names[collective.count:]), t=types,
                                      r=", ".join(map(text_of, results)))

    # --- statements

    def narrow(self, scope):
        """Eight bits of a tensor go as another type; what comes back is exact, since sums of ranks of them are."""
        rng = self.rng
        a, shape = scope.pick(rng)
        kind = rng.choice(list(NARROW))
        to, back, accumulations = NARROW[kind]
        wide = rng.choice(accumulations)
        small, sent, got, r = (self.fresh() for _ in range(4))
        byte, other, whole = (text_of(shape).replace("i32", t) for t in ("i4" if kind == "i8" else "i8", kind, "i32"))
        scope.say(f"{small} = arith.trunci {a} : {whole} to {byte}")
        bits = 4 if kind == "i8" else 5
        scope.say(f"{small}s = arith.constant dense<{8 - bits if kind != 'i8' else 0}> : {byte}")
        scope.say(f"{small}m = arith.shrsi {small}, {small}s : {byte}")
        scope.say(f"{sent} = arith.{to or 'extsi'} {small}m : {byte} to {other}")
        accumulate = "" if wide == kind else f" {{accumulate = {wide}}}"
        scope.say(f"{got} = braid.all_reduce sum {sent} groups = #both{accumulate} : {other}")
        if kind == "i8":
            scope.say(f"{r} = arith.extsi {got} : {other} to {whole}")
        elif kind in ("i16",):
            scope.say(f"{r} = arith.extsi {got} : {other} to {whole}")
        elif kind == "i64":
            scope.say(f"{r} = arith.trunci {got} : {other} to {whole}")
        else:
            scope.say(f"{r} = arith.fptosi {got} : {other} to {whole}")

        def step(env):
            if kind == "i8":
                small_of = [((x & 15) ^ 8) - 8 for x in env[a]]
            else:
                small_of = [x.astype(np.int8) >> 3 for x in env[a]]
            total = functools.reduce(np.add, [x.astype(np.int32) for x in small_of])
            env[r] = [total.astype(np.int32)] * self.ranks
        scope.steps.append(step)
        scope.tensors.append((r, shape))

    def dynamic(self, scope):
        """A tensor whose size the compiler does not know."""
        rng = self.rng
        a, shape = scope.pick(rng)
        open_dim = rng.randrange(len(shape))
        unknown = "tensor<" + "x".join("?" if d == open_dim else str(n) for d, n in enumerate(shape)) + "xi32>"
        given, got, r = (self.fresh() for _ in range(3))
        scope.say(f"{given} = tensor.cast {a} : {text_of(shape)} to {unknown}")
        gather = rng.random() < 0.4 and np.prod(shape) * self.ranks <= LARGEST
        result = list(shape)
        if gather:
            result[open_dim] *= self.ranks
            scope.say(f"{got} = braid.all_gather {given} dims = [{open_dim}] groups = #both : ({unknown}) -> {unknown}")
        else:
            groups = rng.choice([g for g, rows in self.groups.items()])
            scope.say(f"{got} = braid.all_reduce max {given} groups = {groups} : {unknown}")
        rows = self.groups["#both"][0]
        scope.say(f"{r} = tensor.cast {got} : {unknown} to {text_of(result)}",
                  (lambda env: env.update({r: [np.concatenate([env[a][k] for k in rows], open_dim)] * self.ranks})) if gather else
                  (lambda env: env.update({r: self.per_rank(groups, lambda rank, all_of, place: functools.reduce(np.maximum, all_of))(env[a])})))
        scope.tensors.append((r, tuple(result)))

    def condition(self, scope):
        """An i1 that is equal on all ranks, and the function that tells it."""
        n, number = self.number(scope, 0, 4)
        c = self.fresh("c")
        scope.say(f"{c} = arith.cmpi slt, {n}, %k1 : index")
        return c, lambda env: number(env) < 1

    def select(self, scope):
        a, shape = scope.pick(self.rng)
        b, _ = scope.pick(self.rng, shape)
        c, holds = self.condition(scope)
        r = self.fresh()
        scope.say(f"{r} = arith.select {c}, {a}, {b} : {text_of(shape)}", lambda env: env.update({r: env[a] if holds(env) else env[b]}))
        scope.tensors.append((r, shape))

    def reshaped(self, scope):
        """Flat, and back to two dimensions that are swapped."""
        a, shape = scope.pick(self.rng)
        if len(shape) != 2:
            return
        flat, r = self.fresh(), self.fresh()
        line, turned = f"tensor<{shape[0] * shape[1]}xi32>", (shape[1], shape[0])
        scope.say(f"{flat} = tensor.collapse_shape {a} [[0, 1]] : {text_of(shape)} into {line}")
        scope.say(f"{r} = tensor.expand_shape {flat} [[0, 1]] output_shape {list(turned)} : {line} into {text_of(turned)}",
                  lambda env: env.update({r: [x.reshape(turned) for x in env[a]]}))
        scope.tensors.append((r, turned))

    def element(self, scope):
        """One element of a tensor is put into another one."""
        rng = self.rng
        a, from_shape = scope.pick(rng)
        b, into = scope.pick(rng)
        x, r = self.fresh("x"), self.fresh()
        at, to = ([min(rng.randrange(2), n - 1) for n in shape] for shape in (from_shape, into))
        scope.say(f"{x} = tensor.extract {a}[{', '.join(f'%k{i}' for i in at)}] : {text_of(from_shape)}")

        def step(env):
            env[r] = [y.copy() for y in env[b]]
            for y, source in zip(env[r], env[a]):
                y[tuple(to)] = source[tuple(at)]
        scope.say(f"{r} = tensor.insert {x} into {b}[{', '.join(f'%k{i}' for i in to)}] : {text_of(into)}", step)
        scope.tensors.append((r, into))

    def rank(self, scope):
        """A tensor that is different on each rank."""
        a, shape = scope.pick(self.rng)
        n, x, e, s, r = (self.fresh("n") for _ in range(5))
        t = text_of(shape)
        scope.say(f"{n} = braid.rank")
        scope.say(f"{x} = arith.index_cast {n} : index to i32")
        scope.say(f"{e} = tensor.empty() : {t}")
        scope.say(f"{s} = linalg.fill ins({x} : i32) outs({e} : {t}) -> {t}")
        scope.say(f"{r} = arith.addi {s}, {a} : {t}", lambda env: env.update({r: [y + np.int32(rank) for rank, y in enumerate(env[a])]}))
        scope.tensors.append((r, shape))

    def switch(self, scope):
        """Three ways instead of two; without tokens, which switches do not pass on."""
        rng = self.rng
        tensors = rng.sample(scope.tensors, min(len(scope.tensors), rng.randrange(1, 3)))
        n, number = self.number(scope, 0, 4)
        types, r = [text_of(s) for _, s in tensors], self.fresh("l")
        sides = []
        for _ in range(3):
            inner = self.inside(scope, [name for name, _ in tensors], tensors, [])
            self.statements(inner, 3)
            sides.append((inner, self.hand_on(inner, tensors, [])))
        scope.say(f"{r}{':%d' % len(types) if len(types) > 1 else ''} = scf.index_switch {n} -> {', '.join(types)}")
        for label, (inner, handed) in zip(("case 0", "case 2", "default"), sides):
            scope.say(f"{label} {{")
            scope.lines += inner.lines
            scope.say(f"  scf.yield {', '.join(handed)} : {', '.join(types)}")
            scope.say("}")
        names = self.results(scope, r, tensors, [])

        def step(env):
            inner, handed = sides[{0: 0, 2: 1}.get(number(env), 2)]
            inner.run(env)
            env.update(zip(names, [env[h] for h in handed]))
        scope.steps.append(step)
