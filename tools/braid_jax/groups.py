"""Groups of devices: every notation that JAX and XLA write, as plain lists of rows.

    {{0,1},{2,3}}                                                  HLO, lists
    [2,4]<=[4,2]T(1,0)                                             HLO, compressed iota
    mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b','a':(1)2}     HLO, axes (and sub-axes) of a mesh that may be permuted
    #stablehlo.replica_group_mesh_axes<mesh = @m, axes = [...]>    StableHLO, axes of a named sdy.mesh

Why all of them end up as lists: jaxlib 0.10.2 loses the device order of a mesh when it converts HLO to StableHLO, and
resolves mesh-axes groups against the wrong mesh when a module has several. Lists have neither problem.
"""
import re

import numpy as np

from .errors import BraidJaxError

# What one collective of an HLO text says after `replica_groups=`; the last form has spaces, so it is matched whole.
HLO_GROUPS = (r"replica_groups=(\{\{.*?\}\}|\{\}|\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?"
              r"|mesh\[[^\]]*\](?:, device_ids=\([^ ]*\))? \{[^}]*\})")


def _numbers(text):
    return [int(n) for n in re.findall(r"\d+", text)]


def _iota(reshape, transpose):
    """Device ids 0, 1, ... shaped as `reshape`, transposed: the HLO notation `[reshape]T(transpose)`."""
    ids = np.arange(int(np.prod(reshape))).reshape(reshape)
    return ids.transpose(transpose) if transpose else ids


def of_mesh_axes(axes, used, order=None):
    """Rows of a group that spans some axes of a mesh.

    axes:  [(name, size)] of the mesh, major to minor
    used:  [(name, None)] or [(name, (pre, size))] for a sub-axis: the axis is split into pre x size x rest, and `size` is used
    order: device id at each position of the mesh, row-major; None when they are in order
    """
    splits = {}
    for name, sub in used:
        if name not in dict(axes):
            raise BraidJaxError(f"groups over mesh axis '{name}': the mesh has only {[a for a, _ in axes]}")
        if sub:
            splits.setdefault(name, []).append(sub)
    dims, place = [], {}
    for name, size in axes:
        cuts = sorted({1, size} | {c for pre, n in splits.get(name, []) for c in (pre, pre * n)})
        for low, high in zip(cuts, cuts[1:] or cuts):  # an axis of size 1 keeps its one piece
            place[name, low, high] = len(dims)
            dims.append(high // low)
    wanted = []
    for name, sub in used:
        low, high = (sub[0], sub[0] * sub[1]) if sub else (1, dict(axes)[name])
        wanted += [i for (axis, a, b), i in place.items() if axis == name and low <= a and b <= high]
    ids = np.arange(int(np.prod(dims))) if order is None else np.asarray(order)
    if ids.size != int(np.prod(dims)):
        raise BraidJaxError(f"device order of a mesh: expected {int(np.prod(dims))} ids, got {ids.size}")
    rest = [i for i in range(len(dims)) if i not in wanted]
    width = int(np.prod([dims[i] for i in wanted]))
    return ids.reshape(dims).transpose(rest + wanted).reshape(-1, width).tolist()


def of_hlo(text):
    """Rows of the text after `replica_groups=` in an HLO instruction; [] means all devices in one group."""
    if text.startswith("{"):
        return [_numbers(row) for row in re.findall(r"\{([\d,]+)\}", text)]
    if m := re.fullmatch(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?", text):
        return _iota(_numbers(m[2]), _numbers(m[3] or "")).reshape(_numbers(m[1])).tolist()
    if m := re.fullmatch(r"mesh\[([^\]]*)\](?:, device_ids=\(([^ ]*)\))? \{([^}]*)\}", text):
        axes = [(a, int(n)) for a, n in re.findall(r"'([^']+)'=(\d+)", m[1])]
        used = [(a, (int(p), int(n)) if p else None) for a, p, n in re.findall(r"'([^']+)'(?::\((\d+)\)(\d+))?", m[3])]
        order = None
        if m[2]:
            iota = re.fullmatch(r"\[([\d,]+)\](?:T\(([\d,]+)\))?", m[2])
            order = _iota(_numbers(iota[1]), _numbers(iota[2] or "")).ravel() if iota and (iota[2] or "," in iota[1]) else _numbers(m[2])
        return of_mesh_axes(axes, used, order)
    raise BraidJaxError(f"replica groups: expected lists, an iota or mesh axes, got '{text[:80]}'")


def as_hlo_lists(rows):
    return "replica_groups={" + ",".join("{" + ",".join(map(str, r)) + "}" for r in rows) + "}"


def hlo_text_with_lists(text):
    """An HLO text with its mesh-axes groups written as lists, in the device order of their meshes."""
    text = re.sub(HLO_GROUPS, lambda m: as_hlo_lists(of_hlo(m[1])) if m[1].startswith("mesh") else m[0], text)
    if "replica_groups=mesh" in text:
        raise BraidJaxError("mesh-axes groups in an HLO text: a notation that this version does not know")
    return text


def _meshes_of_stablehlo(text):
    """Each sdy.mesh of a module, in generic or pretty spelling: name -> ([(axis, size)], device order or None)."""
    body = r'<\[(?P<axes>.*?)\](?:, device_ids=\[(?P<order>[\d, ]*)\])?>'
    found = [*re.finditer(r'mesh = #sdy\.mesh' + body + r', sym_name = "(?P<name>[^"]+)"', text),
             *re.finditer(r'sdy\.mesh @"?(?P<name>[\w.\-]+)"? = ' + body, text)]
    return {m["name"]: ([(a, int(n)) for a, n in re.findall(r'"([^"]+)"=(\d+)', m["axes"])], _numbers(m["order"] or "") or None)
            for m in found}


def stablehlo_text_with_lists(text):
    """A StableHLO text with its mesh-axes groups written as lists, in the device order of the named meshes."""
    if "replica_group_mesh_axes" not in text:
        return text
    meshes = _meshes_of_stablehlo(text)

    def lists(m):
        if m[1] not in meshes:
            raise BraidJaxError(f"groups over the axes of mesh @{m[1]}: the module has no such sdy.mesh")
        axes, order = meshes[m[1]]
        used = [(a, (int(p), int(n)) if p else None)
                for a, p, n in re.findall(r'name = "([^"]+)"(?:, sub_axis_info = \((\d+)\)(\d+))?', m[2])]
        rows = of_mesh_axes(axes, used, order)
        return f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"

    return re.sub(r'replica_groups = #stablehlo\.replica_group_mesh_axes<mesh = @"?([\w.\-]+)"?, axes = \[(.*?)\]>', lists, text)
