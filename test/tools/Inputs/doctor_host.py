"""Writes a host as braid-doctor --record would: two RoCE ports of NVIDIA's, all well, with what the arguments change.

  doctor_host.py FOLDER [PATH=TEXT ...]    # PATH below the folder; PATH= alone: the file is taken away

GPU and NIC share a PCIe switch; `bridge=HEX` gives its port above the NIC an ACS control register of that value, `elsewhere=HEX` a bridge
that has neither below it.
"""
import struct
import sys
from pathlib import Path

folder = Path(sys.argv[1])
files = {"proc/cmdline": "root=/dev/sda1 iommu=pt", "proc/self/limits": "Max locked memory         unlimited            unlimited            bytes",
         "proc/self/status": "CapEff:\t0000000000000000", "proc/sys/kernel/hostname": "node1", "proc/sys/kernel/osrelease": "6.8.0-45-generic",
         "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15",
         "sys/bus/pci/devices/0000:1b:00.0/vendor": "0x10de", "sys/bus/pci/devices/0000:1b:00.0/class": "0x030200",
         } | {f"sys/bus/pci/devices/{bridge}/class": "0x060400" for bridge in ("0000:15:00.0", "0000:16:01.0", "0000:16:02.0", "0000:50:01.0")}
for i in range(2):
    device, port = f"sys/class/infiniband/mlx5_{i}", f"sys/class/infiniband/mlx5_{i}/ports/1"
    pci, net = f"sys/bus/pci/devices/0000:{18 + i}:00.0", f"sys/class/net/eth{i}"
    files |= {
        f"{device}/device/uevent": f"DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:{18 + i}:00.0", f"{device}/fw_ver": "28.39.1002", f"{device}/hca_type": "MT4129",
        f"{device}/tc/1/traffic_class": "Global tclass=106",
        f"{port}/state": "4: ACTIVE", f"{port}/phys_state": "5: LinkUp", f"{port}/rate": "400 Gb/sec (4X NDR)", f"{port}/link_layer": "Ethernet",
        f"{port}/gids/0": "fe80:0000:0000:0000:a288:c2ff:fe11:000" + str(i), f"{port}/gid_attrs/types/0": "IB/RoCE v1",
        f"{port}/gids/1": "fe80:0000:0000:0000:a288:c2ff:fe11:000" + str(i), f"{port}/gid_attrs/types/1": "RoCE v2",
        f"{port}/gids/3": f"0000:0000:0000:0000:0000:ffff:0a00:{i:02x}05", f"{port}/gid_attrs/types/3": "RoCE v2",
        f"{port}/gids/4": "0000:0000:0000:0000:0000:0000:0000:0000", f"{port}/gid_attrs/ndevs/0": f"eth{i}",
        f"{port}/counters/port_xmit_packets": "900000000", f"{port}/counters/port_rcv_packets": "100000000",
        **{f"{port}/hw_counters/{name}": "0" for name in ("packet_seq_err", "local_ack_timeout_err", "roce_adp_retrans", "rnr_nak_retry_err", "rp_cnp_handled")},
        **{f"{port}/counters/{name}": "0" for name in ("port_xmit_discards", "port_rcv_errors", "symbol_error")},
        f"commands/ethtool-eth{i}": "NIC statistics:\n     rx_prio3_pause: 0\n     rx_prio3_pause_duration: 7",
        f"{port}/hw_counters/out_of_sequence": "3", f"{port}/hw_counters/np_cnp_sent": "1000",
        f"{net}/mtu": "9000", f"{net}/qos/trust": "dscp", f"{net}/ecn/roce_np/enable/3": "1", f"{net}/ecn/roce_rp/enable/3": "1",
        f"commands/dcb-pfc-eth{i}": "pfc-cap 8 macsec-bypass off delay 0\nprio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off",
        f"commands/dcb-app-eth{i}": "dscp-prio 26:3 48:6",
        f"commands/ibv_devinfo-mlx5_{i}": f"hca_id:\tmlx5_{i}\n\tmax_qp:\t\t\t\t131072\n\t\t\tactive_mtu:\t\t4096 (5)",
        f"{pci}/current_link_speed": "32.0 GT/s PCIe", f"{pci}/max_link_speed": "32.0 GT/s PCIe", f"{pci}/current_link_width": "16",
        f"{pci}/max_link_width": "16", f"{pci}/iommu_group/type": "identity", f"{pci}/class": "0x020000", f"{pci}/vendor": "0x15b3"}
control = {}
for change in sys.argv[2:]:
    path, _, text = change.partition("=")
    if path in ("bridge", "elsewhere"):
        control["0000:16:01.0" if path == "bridge" else "0000:50:01.0"] = int(text, 16)
    elif text:
        files[path] = text.replace("\\n", "\n")
    else:
        del files[path]
for path, text in files.items():
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text + "\n")
for bridge, below in {"0000:15:00.0": (0x16, 0x1b), "0000:16:01.0": (0x18, 0x18), "0000:16:02.0": (0x1b, 0x1b), "0000:50:01.0": (0x51, 0x51)}.items():
    space = bytearray(4096)  # its extended capabilities are AER (1) at 0x100, and ACS (0xd) at 0x148: capability 0x1f, control
    space[0x19:0x1b] = bytes(below)
    space[0x100:0x104] = struct.pack("<I", 0x1 | 1 << 16 | 0x148 << 20)
    space[0x148:0x150] = struct.pack("<IHH", 0xd | 1 << 16, 0x1f, control.get(bridge, 0))
    (folder / f"sys/bus/pci/devices/{bridge}/config").write_bytes(space)
