"""A loop whose trip gathers weights, and reads them in the first of so many kernels; and reduces something small so many times."""
import sys

ROW, ALL = "tensor<128x1024xf32>", "tensor<1024x1024xf32>"
print(f"""func.func @main(%stack: tensor<9x128x1024xf32>, %x: {ALL}, %small: tensor<16xf32>) -> {ALL} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %r = scf.for %i = %zero to %nine step %one iter_args(%h0 = %x) -> ({ALL}) {{
    %s = tensor.extract_slice %stack[%i, 0, 0] [1, 128, 1024] [1, 1, 1] : tensor<9x128x1024xf32> to {ROW}
    %w = braid.all_gather %s dims = [0] groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : ({ROW}) -> {ALL}
    %first = braid.compute "first" for "1 us" ins(%h0, %w : {ALL}, {ALL}) outs(%h0 : {ALL}) -> {ALL}""")
last = "first"
for kernel in range(int(sys.argv[1])):
    print(f'    %k{kernel} = braid.compute "k" for "1 us" outs(%{last} : {ALL}) -> {ALL}')
    last = f"k{kernel}"
for reduction in range(int(sys.argv[2]) if len(sys.argv) > 2 else 0):
    print(f'    %a{reduction} = braid.all_reduce sum %small groups = #braid.groups<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<16xf32>')
print(f"""    scf.yield %{last} : {ALL}
  }}
  return %r : {ALL}
}}""")
