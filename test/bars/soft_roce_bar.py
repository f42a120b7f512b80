"""The check that hardware/soft_roce runs once, and soft_roce_again many times: collectives over real verbs, in one guest."""
import re

import bar
import guest_bar

KINDS = "all_reduce,reduce_scatter,all_gather,all_to_all,broadcast,reduce,gather,scatter,permute"
NETEM = "delay 200us 50us distribution normal rate 10gbit loss 0.01%"

# `job ENDS OPTIONS...`: one launcher on each of the first ends, as on hosts of a cluster. Its rows follow a line that names them.
SCRIPT = r"""
export BRAID_JOB_SECRET=a-secret-of-this-guest-only
export BRAID_IB_TIMEOUT=17 # 0.5 s for each packet that is lost, instead of 4.3
port=5000
rank() { # ENDS END COMMAND...
  on-end $2 "$BIN"/braid-launch -n 1 --ranks=$1 --first-rank=$2 --rendezvous=10.0.0.1:$port -- "$BIN"/braid-bench measure \
    --transport verbs --samples 6 --seconds 0.05 --deadline 20 "${@:3}"
}
job() { # NAME ENDS OPTIONS...
  echo "job $1"; port=$((port + 1))
  local pids=() i; for i in $(seq 1 $(($2 - 1))); do rank $2 $i "${@:3}" & pids+=($!); done
  rank $2 0 "${@:3}" || exit 4
  for i in "${pids[@]}"; do wait $i || exit 5; done
}
# The last end's rank is killed after its first row; what the others say is in $OUT.
killed() {
  port=$((port + 1)); local pids=() i
  for i in $(seq 0 $((ENDS - 1))); do
    rank $ENDS $i --collective all_reduce --sizes 8..1MiB --seconds 1 >"$OUT/$i" 2>&1 & pids+=($!)
  done
  until grep -q '^all_reduce' "$OUT/0"; do sleep 0.1; done
  pkill -9 -f -- "--first-rank=$((ENDS - 1)) " || exit 3
  wait "${pids[@]}"; true
}
"""


def check(sizes="8,64KiB", large="64KiB"):
    """How many measurements were checked and taken: one of each kind and size. All ranks check every result before they time it."""
    jobs = {"2 ends": (2, KINDS, sizes, ""), "4 ends": (4, KINDS, large, ""),
            "4 ends, delay and loss": (4, "all_reduce,all_to_all", sizes, "netem"),
            "foreign memory": (2, "all_reduce,all_to_all", large, "--buffers foreign")}
    jobs["rdma_cm"] = (2, "all_reduce,all_to_all", sizes, "BRAID_IB_CM=rdma_cm BRAID_IB_QPS_PER_CONNECTION=2 BRAID_LOG=on")
    for mode in ("write", "read", "send"):
        jobs[f"mode {mode}"] = (2, "all_reduce,all_gather", large, f"BRAID_IB_MODE={mode}")
    script = SCRIPT
    for name, (ends, kinds, these, more) in sorted(jobs.items(), key=lambda job: job[1][3] == "netem"):
        if more == "netem":
            script += f'for i in $(seq 0 $((ENDS - 1))); do tc -n end$i qdisc add dev eth0 root netem {NETEM} || exit 6; done\n'
        variable, option = (more, "") if more.startswith("BRAID") else ("", more.replace("netem", ""))
        script += f"{variable} job '{name}' {ends} --collective {kinds} --sizes {these} {option}\n"
    done, said = guest_bar.run(4, script + "killed\n", timeout=590)
    for name, (ends, kinds, these, _) in jobs.items():
        text = re.search(rf"^job {re.escape(name)}\n(.*?)(?=^job |\Z)", done.stdout, re.M | re.S)
        taken = len(re.findall(rf"^(?:{kinds.replace(',', '|')}) +\d+ ", text[1] if text else "", re.M))
        asked = len(kinds.split(",")) * len(these.split(","))
        if taken != asked:
            bar.fail(f"{name}: expected {asked} measurements, got {taken}; exit status {done.returncode}\n"
                     f"{(done.stderr + done.stdout)[-1500:]}")
    if not re.search(r"verbs: rxe0 port 1: .*; connected by rdma_cm at 10\.0\.0\.1$", done.stderr, re.M):
        bar.fail(f"BRAID_IB_CM=rdma_cm: expected a line that says so of rxe0, got none\n{done.stderr[-1500:]}")
    silent = [end for end in "012" if not re.search(r"\brank(?:s from)? 3\b", said.get(end, ""))]  # the rank, or its launcher
    if done.returncode or silent:
        bar.fail(f"the last of 4 ends was killed: exit status {done.returncode}, ends {', '.join(silent)} do not name it\n"
                 + "\n".join(said.values())[-1500:])
    counted = re.findall(r"^braid-bench: counters of \S+ rxe(\d)/1: (?:all|the other) \d+ .* in [1-9]\d* packets$", done.stderr, re.M)
    if set(counted) != set("0123"):
        bar.fail(f"expected the counters of the devices of 4 ends after each job, got those of {sorted(set(counted))}\n{done.stderr[-1500:]}")
    rows = sum(len(kinds.split(",")) * len(these.split(",")) for _, kinds, these, _ in jobs.values())
    return rows


def control():
    """An address that no device has, which must end the job with an error that names it."""
    done, _ = guest_bar.run(2, SCRIPT + "job wrong 2 --collective all_reduce --sizes 8", BRAID_IB_GID_INDEX="77")
    said = re.search(r".*77.*", done.stdout + done.stderr)
    if not done.returncode or not said:
        bar.fail(f"an address that no device has was taken: exit status {done.returncode}\n{done.stderr[-500:]}")
    return f"rejected: {said[0].strip()}"
