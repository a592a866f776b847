# %% [markdown]
# # One mechanism on every workload
#
# Large warps (the LWM report) against the baseline. Both machines run every workload; each result is checked by the
# workload itself. At the default scale the whole takes seconds and shows the method, not the papers' figures: raise
# `SCALE` to 1 for those.

# %%
import os
from math import prod
from pathlib import Path

import heddle

SCALE = float(os.environ.get("NOTEBOOK_SCALE", "0.001"))
OUT = Path(os.environ.get("NOTEBOOK_OUT", "heddle-out/notebooks"))
BASE, DESIGN = "baseline", "lwm"

# %% [markdown]
# What differs? The machines say it themselves, with units and meanings.

# %%
base, design = heddle.Machine(BASE).parameters(), heddle.Machine(DESIGN).parameters()
for path, parameter in design.items():
    if parameter.value != base[path].value:
        unit = f" {parameter.unit}" if parameter.unit else ""
        print(f"{path}: {base[path].value} -> {parameter.value}{unit}: {parameter.meaning}")

# %% [markdown]
# A sweep does the runs, as many at a time as there are processors, and keeps them in a database: a second call of this
# cell does nothing again.

# %%
workloads = os.environ.get("NOTEBOOK_WORKLOADS", "").split() or list(heddle.workloads())
sweep = heddle.Sweep(name="mechanism", config=None, scale=SCALE, axes={"config": [BASE, DESIGN], "workload": workloads})
results = sweep.run(OUT / "mechanism.db")
print(results)

# %% [markdown]
# ## Speed-up, and where it comes from

# %%
cycles: dict[str, dict[str, int]] = results.table("workload", "config", "cycles")
lanes = results.table("workload", "config", "lanes_per_warp_instruction")
speedup: dict[str, float] = {workload: row[BASE] / row[DESIGN] for workload, row in cycles.items()}
print(f"{'workload':<24}{'speed-up':>9}{'lanes':>8}{'with ' + DESIGN:>12}")
for workload, factor in sorted(speedup.items(), key=lambda one: -one[1]):
    print(f"{workload:<24}{factor:>9.3f}{lanes[workload][BASE]:>8.1f}{lanes[workload][DESIGN]:>12.1f}")
mean = prod(speedup.values()) ** (1 / len(speedup))
print(f"{'geometric mean':<24}{mean:>9.3f}")

# %% [markdown]
# The workload that loses most (or gains least) deserves a look: for which reasons do its cores idle?

# %%
worst = min(speedup, key=lambda workload: speedup[workload])
rows = {row.config: row for row in results if row.workload == worst}
print(f"{worst}: idle cycles by cause, of {BASE} and {DESIGN}")
for cause, meaning in heddle.idle_causes().items():
    before, after = (rows[name][f"idle_cycles_{cause}"] for name in (BASE, DESIGN))
    if before or after:
        print(f"  {cause:<18}{before:>10}{after:>10}  {meaning}")
