"""The published schemas against files that the program writes and reads."""

from __future__ import annotations

import copy
import json
import tomllib
import unittest
from typing import Any

from schema_check import problems
from support import SCALE, SOURCE, Case

import heddle
from heddle._sweeps import JSON_COLUMNS


class Schemas(Case):
    def valid(self, value: Any, kind: str) -> None:
        schema = heddle.schema(kind)
        self.assertEqual(problems(value, schema)[:5], [])
        try:
            import jsonschema
        except ImportError:
            return
        jsonschema.Draft202012Validator(schema).validate(value)

    def test_statistics_of_every_kind_of_machine(self) -> None:
        runs = [heddle.run(machine, "bfs", scale=SCALE) for machine in
                ("baseline", "lwm", "tbc", "dwf-majority", "per-thread-pc", "thesis-lwm-scalar")]
        runs += [heddle.run(machine, "fft", scale=0.01) for machine in ("dws-conv", "slip")]
        runs.append(heddle.run("odgs", "raytrace", scale=0.01))
        runs.append(heddle.run("baseline", "nqueens", scale=SCALE, energy="dws-65nm", sample=2,
                               set={"l2.enabled": True, "l2.inclusive": True, "gpu.coherence": "mesi", "gpu.cores": 2}))
        runs.append(heddle.run("baseline", "nqueens", scale=0.01, sample_blocks=4))
        runs.append(heddle.run("baseline", "bfs", scale=SCALE, max_cycles=3000,
                               set={"core.thread_misses": True, "core.scheduler": "two-level-adaptive"}))
        runs.append(heddle.run("h100-8sm", "bfs", scale=0.001))
        runs.append(heddle.run("baseline", SOURCE / "docs" / "examples" / "saxpy" / "launch.toml"))
        for run in runs:
            self.valid(run.stats, "stats")
            self.valid(run.host, "host")
        self.assertIn("energy", runs[9].stats)

    def test_statistics_of_cuda_programs_and_stray_loads(self) -> None:
        self.write("p.cu", """
__global__ void read(int* data) { data[0] = data[1000]; }
int main() {
  int* data;
  cudaMalloc(&data, 64);
  read<<<1, 1>>>(data);
  return cudaDeviceSynchronize();
}
""")
        heddle.nvcc(["p.cu", "-o", "p"])
        run = heddle.exec("./p", set={"core.load_trap": False})
        self.assertEqual([one["count"] for one in run.stats["out_of_bounds_loads"]], [1])
        self.assertEqual(len(run.kernels), 1)
        self.valid(run.stats, "stats")
        self.valid(heddle.exec("/bin/true").stats, "stats")

    def test_channels_alone(self) -> None:
        run = heddle.run("baseline", "bfs", scale=SCALE, memory_trace="m.txt")
        heddle.find_program().call(["dram", "baseline", str(run.files["memory_trace"]), "--out", "d", "--quiet"])
        alone = heddle.Run.read("d")
        self.valid(alone.stats, "stats")
        self.assertEqual(alone.modules["dram0"].unit("row_hits"), "requests")
        self.assertEqual(alone.modules["trace"].unit("latency_max"), "cycles")

    def test_what_is_wrong_is_found(self) -> None:
        schema = heddle.schema("stats")
        stats = heddle.run("baseline", "bfs", scale=SCALE).stats

        def broken(change: Any) -> list[str]:
            value = copy.deepcopy(stats)
            change(value)
            return problems(value, schema)

        self.assertEqual(broken(lambda it: it.pop("verdict")), [": lacks 'verdict'"])
        self.assertEqual(broken(lambda it: it["summary"].pop("ipc")), [".summary: lacks 'ipc'"])
        self.assertEqual(broken(lambda it: it["summary"].update(cycles=-1)), [".summary.cycles: -1 is below 0"])
        self.assertEqual(broken(lambda it: it["summary"].update(cycles=1.5)), [".summary.cycles: 1.5 is no integer"])
        self.assertEqual(broken(lambda it: it["summary"].update(other=1)), [".summary: 'other' is not known"])
        self.assertEqual(broken(lambda it: it["modules"].update(gpu={})), [".modules: 'gpu' is not known"])
        self.assertEqual(broken(lambda it: it["modules"]["gpu.core0.l1d"].pop("hits")),
                         [".modules.gpu.core0.l1d: lacks 'hits'"])
        self.assertEqual(broken(lambda it: it["machine"]["parameters"]["core"].update(threads=99999)),
                         [".machine.parameters.core.threads: 99999 is above 4096"])
        self.assertEqual(broken(lambda it: it.update(schema=1)), [".schema: 1 is none of [2]"])

    def test_figures_and_parameters_are_the_declared_ones(self) -> None:
        schema = heddle.schema("stats")["properties"]
        summary = schema["summary"]["properties"]
        for name, one in heddle.statistics().items():
            self.assertEqual((summary[name]["x-unit"], summary[name]["description"]), (one.unit, one.meaning))
        for path, one in heddle.parameters().items():
            section, key = path.split(".")
            said = schema["machine"]["properties"]["parameters"]["properties"][section]["properties"][key]
            self.assertEqual((said["type"], said["description"], said.get("x-unit", "")),
                             (one.type, one.meaning, one.unit))
            self.assertEqual(said.get("maximum"), one.high)

    def test_explorations(self) -> None:
        for path in sorted((SOURCE / "explorations").glob("*.toml")):
            self.valid(tomllib.loads(path.read_text()), "exploration")
        made = heddle.Sweep(
            "lwm", "bfs", scale=0.5, seed=3, repetitions=2, sample=4, limits={"wall_seconds": 1.5},
            slurm={"runs_per_task": 3}, set={"core.threads": 512}, constraints=["scale > 0"],
            axes={"core.warp_size": heddle.Range(32, 64, step=32), "l1d.bytes": heddle.Random(2, 1024, 4096),
                  "core.scheduler": ["gto"]},
            points=[{"l2.enabled": True}],
        ).toml()
        self.valid(tomllib.loads(made), "exploration")
        self.valid(tomllib.loads('config = "lwm"\nworkload = "bfs"\n[axes]\n"core.threads" = [512]\n'), "exploration")
        for text, error in (
            ("scale = 99", ".scale: 99 is above 16"),
            ("axis = 3", ": 'axis' is not known"),
            ("[set]\ncore.thread = 3", ".set.core: 'thread' is not known"),
            ("[axes]\ncore.threads = 512", ".axes.core.threads: 512 fits nothing"),
            ("[axes]\ncore.scheduler = { from = 1, to = 2, step = 1 }",
             ".axes.core.scheduler: {'from': 1, 'to': 2, 'step': 1} fits nothing"),
            ("[sample]\nseed = 3", ".sample: lacks 'points'"),
        ):
            self.assertEqual(problems(tomllib.loads(text), heddle.schema("exploration")), [error])

    def test_rows_of_results(self) -> None:
        results = heddle.Sweep("lwm", "bfs", scale=SCALE, energy="dws-65nm", axes={"core.threads": [128, 1024]}).run(
            "x.db", strict=False
        )
        rows = results.query("SELECT * FROM results")
        self.assertEqual([row["status"] for row in rows], ["refused", "done"])
        for row in rows:
            self.valid(row, "results")
        columns = heddle.schema("results")["properties"]
        self.assertEqual({name for name, kind in columns.items() if kind.get("description", "").endswith("(JSON)")},
                         set(JSON_COLUMNS))
        self.assertEqual(list(columns), list(rows[0]))
        self.assertEqual((columns["ipc"]["x-group"], columns["core_threads"]["x-unit"]), ("statistic", "threads"))
        self.assertEqual(problems({**rows[1], "cycles": "many"}, heddle.schema("results")),
                         [".cycles: 'many' is no integer or null"])

    def test_it_is_json_as_the_program_prints_it(self) -> None:
        text = heddle.find_program().call(["list", "schema", "host"]).out
        self.assertEqual(json.loads(text), heddle.schema("host"))
        self.assertEqual(heddle.schema("host")["$schema"], "https://json-schema.org/draft/2020-12/schema")


if __name__ == "__main__":
    unittest.main()
