# %% [markdown]
# # A design space and its Pareto front
#
# Warp size, scheduler and memory channels: which designs does no other one beat in both speed and power?

# %%
import os
from pathlib import Path

import heddle

SCALE = float(os.environ.get("NOTEBOOK_SCALE", "0.002"))
OUT = Path(os.environ.get("NOTEBOOK_OUT", "heddle-out/notebooks"))
WORKLOADS = ["bfs", "nqueens"]

# %% [markdown]
# What can a parameter be? Ranges and choices are the program's own.

# %%
known = heddle.parameters()
for path in ("core.warp_size", "core.scheduler", "dram.channels"):
    print(f"{path} ({known[path].range}): {known[path].meaning}")

# %% [markdown]
# ## The sweep
#
# Every design runs every workload of the axis. Constraints keep out what makes no sense or is of no interest here. (Of
# a space too large to run whole, `sample=500` draws points at random.)

# %%
warp, threads, group = (heddle.param(name) for name in ("core.warp_size", "core.threads", "two_level.fetch_group"))
two_level = heddle.param("core.scheduler") == "two-level"
sweep = heddle.Sweep(
    name="design_space",
    config="lwm",
    scale=SCALE,
    energy="dws-65nm",
    axes={
        "core.warp_size": heddle.Range(32, 256, times=2),
        "core.scheduler": ["round-robin", "two-level"],
        "dram.channels": [1, 2, 4],
        "workload": WORKLOADS,
    },
    constraints=[~two_level | (warp * group < threads)],  # with one fetch group it is round-robin
)
results = sweep.run(OUT / "design_space.db")
print(results)

# %% [markdown]
# ## The front
#
# Means over the workloads (geometric ones, since all figures are positive).

# %%
front = results.pareto(cycles="min", mean_power="min")
front.sort(key=lambda one: float(one["cycles"]))
for one in front:
    design = ", ".join(str(one[name]) for name in results.axes if name != "workload")
    print(f"{one['cycles']:>12.0f} cycles {one['mean_power'] / 1000:>8.3f} W   {design}")

# %% [markdown]
# The fastest design as a machine file, to go on with:

# %%
best = front[0]
machine = heddle.Machine("lwm", {name: best[name] for name in results.axes if name != "workload"})
for note in machine.check():
    print("note:", note)
machine = machine.write(OUT / "fastest.toml", description="the fastest of the design space")
print(Path(machine.file).read_text(), end="")
