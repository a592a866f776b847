# %% [markdown]
# # A design space and its Pareto front
#
# Warp size, scheduler and L1 against each other: which designs does no other one beat in both speed and energy?

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
for path in ("core.warp_size", "core.scheduler", "l1d.bytes"):
    print(f"{path}: {known[path].range} {known[path].unit}: {known[path].meaning}")

# %% [markdown]
# ## The sweep
#
# Every design runs every workload of the axis. Constraints keep out what makes no sense or is of no interest here. (Of
# a space too large to run whole, `sample=500` draws points at random.)

# %%
warp, threads = heddle.param("core.warp_size"), heddle.param("core.threads")
two_level = heddle.param("core.scheduler") == "two-level"
sweep = heddle.Sweep(
    name="design_space",
    config="lwm",
    scale=SCALE,
    energy="dws-65nm",
    axes={
        "core.warp_size": heddle.Range(32, 256, times=2),
        "core.scheduler": ["round-robin", "two-level"],
        "two_level.fetch_group": [1, 8],
        "l1d.bytes": [16384, 32768],
        "workload": WORKLOADS,
    },
    constraints=[
        two_level | (heddle.param("two_level.fetch_group") == 8),  # it matters to one scheduler only
        ~two_level | (warp * heddle.param("two_level.fetch_group") <= threads),
    ],
)
results = sweep.run(OUT / "design_space.db")
print(results)

# %% [markdown]
# ## The front
#
# Means over the workloads (geometric ones, since all figures are positive).

# %%
front = results.pareto(cycles="min", energy_total="min")
front.sort(key=lambda one: float(one["cycles"]))
for one in front:
    design = ", ".join(str(one[name]) for name in results.axes if name != "workload")
    print(f"{one['cycles']:>12.0f} cycles {one['energy_total'] / 1e6:>10.2f} uJ   {design}")

# %% [markdown]
# The fastest design as a machine file, to go on with:

# %%
best = front[0]
machine = heddle.Machine("lwm", {name: best[name] for name in results.axes if name != "workload"})
for note in machine.check():
    print("note:", note)
machine = machine.write(OUT / "fastest.toml", description="the fastest of the design space")
print(machine.toml(), end="")
