"""Workloads of other simulators as skeletons: what the bars `emulated`, `emulated_all` and `emulated_slowed` share."""
import bar
import skeleton_bar

LAYERS = bar.DATA / "workloads"
WORKLOADS = {  # name -> arguments of braid-sim import
    "astra_resnet50": [LAYERS / "astra_resnet50_dp.csv"],
    "libra_dlrm": [LAYERS / "libra_dlrm.csv", "--last-bottom-layer", 7],
    "simai_llama7b": [LAYERS / "simai_llama7b_tp2_a100.csv", "--tensor-parallel", 2],
}
POLICIES = ("no-overlap", "braid")  # the program as it is written, and planned


def check(workloads, steps, jobs, broken=None, model="distribution", stated=""):
    def run(folder):
        figures = []
        for workload in workloads:
            program = f"{folder}/{workload}.mlir"
            bar.must(bar.tool("braid-sim"), "import", *WORKLOADS[workload], "--ranks", 8, "-o", program)
            if model != "distribution":  # the medians are those of the whole model
                skeleton_bar.compare_tails(skeleton_bar.Skeleton(folder, workload, "roce", broken, POLICIES, program, stated), jobs,
                                           model)
                return "tails of another model"
            skeletons = [skeleton_bar.Skeleton(folder, workload, fabric, broken, POLICIES, program, stated)
                         for fabric in skeleton_bar.FABRICS]
            compared = skeleton_bar.compare_medians(skeletons, steps, 0.02)
            shares = skeleton_bar.compare_tails(skeletons[1], jobs)
            worst, gain = max(deviation for deviation, _ in compared), max((gain for _, gain in compared), key=abs)
            figures.append(f"{workload}: p50 within {worst:.3%}, gain within {100 * abs(gain):.2f} points, RoCE below p95 " +
                           " and ".join(f"{share:.1%}" for share in shares))
            print(figures[-1], flush=True)
        return "; ".join(figures)

    return skeleton_bar.in_folder(run)


def control(check):
    return " | ".join([bar.rejected(check, skeleton_bar.slower_links), bar.rejected(check, None, "means")])
