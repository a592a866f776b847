# %% [markdown]
# # A window of waves
#
# What does the core do around a stretch in which it idles? First a whole run with the requests to memory, then a window
# of it with waves and pipeline.

# %%
import os
from collections import Counter

import heddle

SCALE = float(os.environ.get("NOTEBOOK_SCALE", "0.001"))
MACHINE, WORKLOAD, LENGTH = "lwm", "bfs", 400

# %%
whole = heddle.run(MACHINE, WORKLOAD, scale=SCALE, memory_trace=True)
print(whole)
print(f"idle: {whole.idle_share:.1%} of all core cycles")

# %% [markdown]
# The window is where most reads reach the memory channels.

# %%
requests = Counter(request.cycle // LENGTH for request in whole.requests() if request.kind != "W")
place, most = min(requests.items(), key=lambda one: (-one[1], one[0]))
window = (place * LENGTH, (place + 1) * LENGTH - 1)
print(f"cycles {window[0]} to {window[1]}: {most} reads of {requests.total()}")

# %%
run = heddle.run(
    MACHINE, WORKLOAD, scale=SCALE, window=window, vcd=True, signals=["fetch", "execute"], pipeline=True
)
assert run.summary == whole.summary  # to be watched changes nothing
waves = run.waves()
print(f"{len(waves)} signals, cycles {waves.first} to {waves.last}")

# %% [markdown]
# ## Why nothing is fetched
#
# `state` of the fetch stage says it, cycle by cycle; the names of its values come from the machine's signals.

# %%
signals = {signal.path: signal for signal in heddle.Machine(MACHINE).signals()}
state = "gpu.core0.fetch.state"
names = signals[state].values
counts = Counter(waves[state].each(*window))
for value, cycles in sorted(counts.items(), key=lambda one: -one[1]):
    print(f"{'not known' if value is None else names[value]:<20}{cycles:>6} cycles")

# %% [markdown]
# A strip of the window: a character for ten cycles, `#` where an instruction was fetched in most of them.

# %%
fetched = waves["gpu.core0.fetch.valid"].each(*window)
tens = [sum(value == 1 for value in fetched[at : at + 10]) for at in range(0, len(fetched), 10)]
print("".join(" .:-=+*%##"[min(count, 9)] for count in tens))

# %% [markdown]
# ## The slowest instructions of the window

# %%
spent: Counter[str] = Counter()
for row in run.pipeline():
    spent[f"{row.pc}: {row.instruction}"] += row.cycles_in("M") + row.cycles_in("Mg") + row.cycles_in("Mw")
for instruction, cycles in sorted(spent.items(), key=lambda one: (-one[1], one[0]))[:5]:
    print(f"{cycles:>8} cycles in the memory stages   {instruction}")
