// RUN: braid-opt %s -split-input-file -verify-diagnostics

// groups C1
// expected-error @+1 {{group 0, expected at least one id, got none}}
#g = #braid.groups<[[]]>

// -----

// groups C1
// expected-error @+1 {{group 1, expected at least one id, got none}}
#g = #braid.groups<[[0], []]>

// -----

// groups C2
// expected-error @+1 {{group 0, expected ids that are not negative, got -2}}
#g = #braid.groups<[[0, -2]]>

// -----

// groups C2
// expected-error @+1 {{group 0, expected -1 only at its end, got 1 after -1}}
#g = #braid.groups<[[0, -1, 1]]>

// -----

// groups text
// expected-error @+1 {{expected '['}}
#g = #braid.groups<[0, 1]>

// -----

// iota C1
// expected-error @+1 {{iota, expected positive sizes with a product below 2^63}}
#g = #braid.iota<[0, 4] from [0]>

// -----

// iota C1
// expected-error @+1 {{iota, expected positive sizes with a product below 2^63}}
#g = #braid.iota<[4294967296, 4294967296] from [8]>

// -----

// iota C1
// expected-error @+1 {{iota, expected one or two sizes on the left and at least one on the right, got 3 and 1}}
#g = #braid.iota<[2, 2, 2] from [8]>

// -----

// iota C2
// expected-error @+1 {{iota, expected the same number of ids on both sides, got 8 and 9}}
#g = #braid.iota<[2, 4] from [9]>

// -----

// iota C3
// expected-error @+1 {{iota, expected in T each of 0 to 1 once, got 1 twice}}
#g = #braid.iota<[2, 4] from [4, 2] T(1, 1)>

// -----

// iota C3
// expected-error @+1 {{iota, expected in T each of 0 to 1 once, got 2}}
#g = #braid.iota<[2, 4] from [4, 2] T(0, 2)>

// -----

// iota C3
// expected-error @+1 {{iota, expected in T 2 dimensions, got 1}}
#g = #braid.iota<[2, 4] from [4, 2] T(0)>

// -----

// iota text
// expected-error @+1 {{expected 'from'}}
#g = #braid.iota<[2, 4] of [8]>

// -----

// mesh_axes C1
// expected-error @+1 {{mesh axis "x", expected a positive size, got 0}}
#g = #braid.mesh_axes<["x" = 0], axes = ["x"]>

// -----

// mesh_axes C1
// expected-error @+1 {{mesh axis "x", expected once, got twice}}
#g = #braid.mesh_axes<["x" = 2, "x" = 4], axes = ["x"]>

// -----

// mesh_axes C2
// expected-error @+1 {{axis "y", expected an axis of the mesh}}
#g = #braid.mesh_axes<["x" = 2], axes = ["y"]>

// -----

// mesh_axes C2
// expected-error @+1 {{axis "x", expected no part of it twice}}
#g = #braid.mesh_axes<["x" = 2], axes = ["x", "x"]>

// -----

// mesh_axes C2
// expected-error @+1 {{axis "x", expected no part of it twice}}
#g = #braid.mesh_axes<["x" = 8], axes = ["x":(1)4, "x":(2)2]>

// -----

// mesh_axes C3
// expected-error @+1 {{part (3)2 of axis "x", expected sizes that divide 8}}
#g = #braid.mesh_axes<["x" = 8], axes = ["x":(3)2]>

// -----

// mesh_axes C3
// expected-error @+1 {{part of axis "x", expected a positive size, got 0}}
#g = #braid.mesh_axes<["x" = 8], axes = ["x":(1)0]>

// -----

// mesh_axes C3
// expected-error @+1 {{axis "x", expected parts that divide each other}}
#g = #braid.mesh_axes<["x" = 12], axes = ["x":(1)2, "x":(3)2]>

// -----

// mesh_axes C4
// expected-error @+1 {{device_ids, expected 2 ids, got 1}}
#g = #braid.mesh_axes<["x" = 2], axes = ["x"], device_ids = [0]>

// -----

// mesh_axes C4
// expected-error @+1 {{device_ids, expected each of 0 to 1 once, got 0 twice}}
#g = #braid.mesh_axes<["x" = 2], axes = ["x"], device_ids = [0, 0]>

// -----

// mesh_axes C4
// expected-error @+1 {{device_ids, expected each of 0 to 1 once, got 2}}
#g = #braid.mesh_axes<["x" = 2], axes = ["x"], device_ids = [0, 2]>

// -----

// mesh_axes C4
// expected-error @+1 {{device_ids, expected 2 ids, got 4}}
#g = #braid.mesh_axes<["x" = 2], axes = ["x"], device_ids = #braid.iota<[4] from [4]>>

// -----

// mesh_axes C4
// expected-error @+1 {{device_ids, expected a list or #braid.iota, got "all"}}
#g = #braid.mesh_axes<["x" = 2], axes = ["x"], device_ids = "all">
