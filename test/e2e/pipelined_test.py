"""Loops whose collectives complete in the next trip, run a trip ahead or between trips give what they give as they are written, to the last
bit: any number of trips, also one that only the run knows, none and one; with the token carried or the operand; nested, in a function,
permuted, with other readers."""
import os
import subprocess

from harness import CLUSTERS, check, expect, main
from lowering import BIN, run

M, HALF = "tensor<4x6xi32>", "tensor<2x6xi32>"
# The number of trips depends on data that all ranks agree on: the operand's element [0, k] minus its element [0, 0] is k.
TRIPS = """
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %k = arith.constant {} : index
      %ak = tensor.extract %a[%zero, %k] : tensor<4x6xi32>
      %a0 = tensor.extract %a[%zero, %zero] : tensor<4x6xi32>
      %nk = arith.subi %ak, %a0 : i32
      %n = arith.index_cast %nk : i32 to index
      %lower = arith.constant {} : index"""


def linalg(name, result, *operands):
    ins, types = ", ".join("%" + o for o in operands), ", ".join([M] * len(operands))
    return f"""%{result}_e = tensor.empty() : {M}
        %{result} = linalg.{name} ins({ins} : {types}) outs(%{result}_e : {M}) -> {M}"""


def scatter(result, operand):
    return f"%{result} = braid.reduce_scatter sum %{operand} dims = [0] groups = #g : ({M}) -> {HALF}"


def gather(result, operand):
    return f"%{result} = braid.all_gather %{operand} dims = [0] groups = #g : ({HALF}) -> {M}"


# Two layers whose weights are gathered at the end of the trip, and needed one after the other in the next.
LAYERS = f"""
      %r0, %r1 = scf.for %i = %lower to %n step %one iter_args(%p = %a, %q = %a) -> ({M}, {M}) {{
        {linalg("max", "h0", "a", "a")}
        {linalg("add", "h1", "h0", "p")}
        {linalg("sub", "h2", "h1", "q")}
        {scatter("s2", "h2")}
        {scatter("s1", "h1")}
        {gather("g1", "s1")}
        {gather("g2", "s2")}
        scf.yield %g1, %g2 : {M}, {M}
      }}"""
# The sum is added to what was there and handed on in the other's place; it has a reader of its own.
SUMS = f"""
      %r0, %r1 = scf.for %i = %lower to %n step %one iter_args(%p = %a, %q = %a) -> ({M}, {M}) {{
        {linalg("add", "h0", "a", "a")}
        {linalg("max", "h1", "h0", "p")}
        %sum = braid.all_reduce sum %h1 groups = #g : {M}
        %c = arith.constant 3 : i32
        {linalg("sub", "new", "sum", "q")}
        %e = tensor.empty() : {M}
        %scaled = linalg.generic {{indexing_maps = [affine_map<(x, y) -> (x, y)>, affine_map<(x, y) -> (x, y)>], iterator_types = ["parallel", "parallel"]}} ins(%new : {M}) outs(%e : {M}) {{
        ^bb0(%x: i32, %y: i32):
          %j = arith.index_cast %i : index to i32
          %xj = arith.addi %x, %j : i32
          %z = arith.addi %xj, %c : i32
          linalg.yield %z : i32
        }} -> {M}
        scf.yield %scaled, %p : {M}, {M}
      }}"""
# Rows of a stack, gathered where a trip begins; what is counted by hand says which.
STACKED = f"""
      %r0, %r1, %count = scf.for %i = %lower to %n step %one iter_args(%p = %a, %q = %a, %place = %zero) -> ({M}, {M}, index) {{
        %row = tensor.extract_slice %a[%place, 0] [2, 6] [1, 1] : {M} to {HALF}
        {gather("w", "row")}
        {linalg("add", "h0", "p", "w")}
        {linalg("max", "h1", "h0", "q")}
        %next = arith.addi %place, %one : index
        %wrapped = arith.remui %next, %three : index
        scf.yield %h1, %w, %wrapped : {M}, {M}, index
      }}"""
# A sum that the middle of the next trip needs, computation in front of that, and behind the sum in its own trip.
BETWEEN = f"""
      %r0, %r1 = scf.for %i = %lower to %n step %one iter_args(%p = %a, %q = %a) -> ({M}, {M}) {{
        {linalg("max", "head", "a", "q")}
        {linalg("add", "body", "head", "p")}
        %sum = braid.all_reduce sum %body groups = #g : {M}
        {linalg("sub", "t0", "a", "q")}
        {linalg("add", "t1", "t0", "head")}
        scf.yield %sum, %t1 : {M}, {M}
      }}"""
# A loop with a communicating one in front of what is carried.
NESTED = f"""
      %r0, %r1 = scf.for %o = %lower to %n step %one iter_args(%u = %a, %v = %a) -> ({M}, {M}) {{
        {linalg("add", "w0", "u", "a")}
        %inner:2 = scf.for %i = %zero to %three step %one iter_args(%p = %w0, %q = %a) -> ({M}, {M}) {{
          {linalg("sub", "h0", "a", "q")}
          {linalg("add", "h1", "h0", "p")}
          {scatter("s1", "h1")}
          {gather("g1", "s1")}
          scf.yield %g1, %h0 : {M}, {M}
        }}
        {linalg("max", "w1", "v", "inner#0")}
        {scatter("t1", "w1")}
        {gather("t2", "t1")}
        scf.yield %inner#1, %t2 : {M}, {M}
      }}"""


def passed(*passes):
    def through(text):
        done = subprocess.run([os.path.join(BIN, "braid-opt"), *passes], input=text, capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr)
        expect("iter_args" in done.stdout, done.stdout)
        through.text = done.stdout
        return done.stdout
    return through


def same(loop, trips, carry, lower=0, extra=(), before=(), carries=True):
    body = TRIPS.format(trips + lower, lower) + loop
    whole = run(body, [M, M], extra=extra)
    through = passed(*before, f"--braid-pipeline-loops=carry={carry}")
    found = run(body, [M, M], extra=extra, through=through)
    if carries:
        expect(("!braid.token" in through.text) == (carry == "token"), f"expected a {carry} to be carried:\n{through.text}")
        expect(through.text.count("all_gather") + through.text.count("all_reduce") > body.count("all_gather") + body.count("all_reduce"),
               f"expected the loop to be pipelined:\n{through.text}")
    expect(found == whole, f"{trips} trips, {carry}: expected {whole}, got {found}")


@check
def gathers_under_the_next_forward():
    for trips in (0, 1, 2, 5):
        for carry in ("token", "operand"):
            same(LAYERS, trips, carry)


@check
def sums_with_an_update_and_another_reader():
    for trips in (0, 1, 2, 3):
        for carry in ("token", "operand"):
            same(SUMS, trips, carry)


def same_shifted(loop, trips, shift, lower=0):
    body = TRIPS.format(trips + lower, lower) + loop
    whole = run(body, [M, M])
    through = passed(f"--braid-pipeline-loops=shift={shift}", "--braid-overlap-collectives", "--braid-verify-plan")
    found = run(body, [M, M], through=through)
    count = lambda text: text.count("all_gather") + text.count("all_reduce")
    expect(count(through.text) == 2 * count(loop), f"expected the loop to be cut elsewhere:\n{through.text}")
    expect(found == whole, f"{trips} trips, {shift}: expected {whole}, got {found}")


@check
def gathers_a_trip_ahead():
    for trips in (0, 1, 2, 5):
        same_shifted(STACKED, trips, "ahead")
    same_shifted(STACKED, 3, "ahead", lower=2)


@check
def sums_between_trips():
    for trips in (0, 1, 2, 5):
        same_shifted(BETWEEN, trips, "around")
    same_shifted(BETWEEN, 3, "around", lower=2)


@check
def a_counter_that_does_not_start_at_zero():
    for carry in ("token", "operand"):
        same(SUMS, 2, carry, lower=3)
        same(LAYERS, 0, carry, lower=2)


@check
def bounds_that_are_known():
    """The loop needs no branch around it then."""
    for carry in ("token", "operand"):
        same(LAYERS.replace("to %n ", "to %three "), 0, carry)


@check
def nested_loops():
    for trips in (0, 1, 3):
        for carry in ("token", "operand"):
            same(NESTED, trips, carry)


@check
def in_a_function():
    """Called twice, with what the first call gave."""
    function = f"""func.func private @layers(%a: {M}, %n: index) -> ({M}, {M}) {{
      %lower = arith.constant 0 : index
      %one = arith.constant 1 : index
      {LAYERS}
      return %r0, %r1 : {M}, {M}
    }}"""
    calls = f"""
      %c0, %c1 = func.call @layers(%a, %n) : ({M}, index) -> ({M}, {M})
      %r0, %r1 = func.call @layers(%c1, %two) : ({M}, index) -> ({M}, {M})"""
    for carry in ("token", "operand"):
        same(calls, 3, carry, extra=(function,))


@check
def what_is_in_flight_within_a_trip_already():
    """Starts and waits that another pass wrote are carried likewise."""
    same(LAYERS, 3, "token", before=("--braid-overlap-collectives",))


@check
def planned_in_the_next_trip():
    """A plan that pipelines: the same results through its buckets and starts."""
    cluster = os.path.join(CLUSTERS, "h100-ib-ndr-4x2.yaml")
    for loop in (LAYERS, SUMS, NESTED, STACKED, BETWEEN):
        body = TRIPS.format(3, 0) + loop
        whole = run(body, [M, M])
        planned = passed(f"--braid-plan=cluster={cluster} engine=braid target=braid loops=pipeline budget=0 placement=0:0,0:1,1:0,1:1")
        found = run(body, [M, M], through=planned)
        expect(any(words in planned.text for words in ("next trip of", "a trip ahead in", "between trips of")), planned.text)
        expect(found == whole, f"expected {whole}, got {found}")


main(__file__)
