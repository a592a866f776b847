"""Runs, what they measure, and how they fail."""

from __future__ import annotations

import copy
import inspect
import json
import os
import pickle
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from support import PROGRAM, SCALE, SOURCE, Case

import heddle

SAXPY = SOURCE / "docs" / "examples" / "saxpy"


class Runs(Case):
    def test_statistics_are_those_of_the_file(self) -> None:
        run = heddle.run("lwm", "bfs", scale=SCALE, set={"l1d.bytes": 16384}, seed=3, out="kept")
        told = subprocess.run(
            [PROGRAM, "run", "lwm", "bfs", "--scale", str(SCALE), "--set", "l1d.bytes=16384", "--seed", "3", "--quiet",
             "--out", "by-hand"], check=True
        )
        self.assertEqual(told.returncode, 0)
        self.assertEqual(Path("kept/stats.json").read_bytes(), Path("by-hand/stats.json").read_bytes())
        stats = json.loads(Path("kept/stats.json").read_text())
        self.assertEqual(dict(run.summary), stats["summary"])
        self.assertIs(type(run.cycles), int)
        self.assertIs(type(run.ipc), float)
        self.assertIs(type(run.fu_active_cycles), list)
        self.assertEqual(run.ipc, run.thread_instructions / run.cycles)
        self.assertEqual((run.parameters["l1d.bytes"], run.stats["seed"], run.verdict), (16384, 3, "correct"))
        self.assertEqual((run.machine, run.workload, run.complete, run.stop_reason), ("lwm", "bfs", True, ""))
        self.assertIn("cycles", run.text)
        self.assertGreater(run.host["peak_memory_bytes"], 0)
        self.assertEqual(run.summary.unit("ipc"), "thread instructions per cycle")
        self.assertEqual(run.summary.declaration("cycles"), heddle.statistics()["cycles"])
        l1d = run.modules["gpu.core0.l1d"]
        self.assertEqual((l1d.accesses, l1d["accesses"]), (run.l1d_accesses, run.l1d_accesses))
        self.assertEqual(l1d.unit("evictions"), "lines")
        self.assertEqual(run.modules["gpu.core0.registers.bank7"].unit("reads"), "accesses")
        self.assertIn("ipc", dir(run))
        with self.assertRaisesRegex(AttributeError, "the summary of a run has no 'ipcs'; it has cycles, "):
            run.ipcs
        again = heddle.Run.read("kept")
        self.assertEqual((again.stats, again.host), (run.stats, run.host))
        self.assertEqual(heddle.Run.read("kept/stats.json").summary, run.summary)

    def test_a_limit_is_no_error(self) -> None:
        run = heddle.run("lwm", "bfs", scale=SCALE, max_cycles=5000)
        self.assertEqual((run.complete, run.stop_reason), (False, "stopped after 5000 cycles (--max-cycles)"))

    def test_options(self) -> None:
        run = heddle.run("lwm", "bfs", scale=SCALE, energy="dws-memory", sample=2, skip=["expand"],
                         report_data=True, timeline=True)
        self.assertGreater(run.energy["pj"], 0)
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.run("lwm", "bfs", scale=SCALE).energy
        self.assertEqual(str(caught.exception), "the run has no energies; ask for them: run(..., energy=TABLE)")
        self.assertIn("kernels", run.stats["fast_forward"])
        self.assertEqual(sorted(run.files), ["report_data", "timeline"])
        for path in run.files.values():
            json.loads(path.read_text())
        with self.assertRaisesRegex(TypeError, r"run\(\) has no option cycles; it has set, max_cycles, "):
            heddle.run("lwm", "bfs", cycles=3)

    def test_power_over_time(self) -> None:
        run = heddle.run("lwm", "bfs", scale=SCALE, energy="dws-65nm", temperature=60, power=True, power_interval=500)
        watts = run.power["power"]
        self.assertEqual(len(watts), -(-run.summary["cycles"] // 500))
        self.assertAlmostEqual(sum(kind[0] for kind in run.power["kinds"].values()), watts[0])
        self.assertEqual(run.power["celsius"], 60)
        with self.assertRaisesRegex(heddle.HeddleError, "the run wrote no power; ask for one: run.*power=True"):
            heddle.run("lwm", "bfs", scale=SCALE).power

    def test_refusals_keep_their_words(self) -> None:
        with self.assertRaises(heddle.InputError) as caught:
            heddle.run("lwm", "bfss", scale=SCALE)
        said = subprocess.run([PROGRAM, "run", "lwm", "bfss"], capture_output=True, text=True).stderr
        self.assertEqual(f"heddle: {caught.exception}\n", said)
        with self.assertRaises(heddle.InputError) as caught:
            heddle.run("lwm", "bfs", scale=-1)
        self.assertEqual(caught.exception.file, "--scale")
        # An old file of statistics is not taken for this run's.
        heddle.run("lwm", "bfs", scale=SCALE, out="kept")
        with self.assertRaises(heddle.InputError):
            heddle.run("lwm", "bfs", scale=SCALE, set={"core.warp_size": 7}, out="kept")

    def test_cuda_programs(self) -> None:
        self.write("p.cu", """
#include <cstdio>
#include <cstdlib>
__global__ void store(int* data, int at) { data[at] = at; }
int main(int argc, char** argv) {
  int* data;
  cudaMalloc(&data, 64);
  store<<<1, 1>>>(data, std::atoi(argv[1]));
  cudaDeviceSynchronize();
  std::printf("%s words\\n", argv[1]);
  return argc - 2;
}
""")
        self.assertEqual(heddle.nvcc(["p.cu", "-o", "p"]), "")
        run = heddle.exec(["./p", "3"], "lwm", set={"core.threads": 512})
        self.assertEqual((run.text, run.parameters["core.threads"]), ("3 words\n", 512))
        self.assertEqual([one["kernel"] for one in run.kernels], ["_Z5storePii"])
        self.assertEqual(run.kernels[0]["cycles"], run.cycles)
        with self.assertRaises(heddle.RunError) as ended:
            heddle.exec(["./p", "3", "more"])
        self.assertEqual(str(ended.exception), "the CUDA program ended with code 1")
        self.assertEqual(ended.exception.run.text, "3 words\n")
        with self.assertRaises(heddle.Fault) as fault:
            heddle.exec(["./p", "5000"])
        self.assertIn("out-of-bounds access in kernel '_Z5storePii' at PC", str(fault.exception))
        self.assertEqual((fault.exception.code, fault.exception.run.complete), (3, False))
        with self.assertRaises(heddle.InputError) as refused:
            heddle.exec("./nowhere")
        self.assertIn("nowhere", str(refused.exception))
        with self.assertRaises(heddle.HeddleError) as compiled:
            heddle.nvcc(["nowhere.cu", "-o", "p"])
        self.assertIn("nowhere.cu", str(compiled.exception))

    def test_wrong_results(self) -> None:
        kernel = (SAXPY / "saxpy.cu").read_text()
        self.assertIn("a * x[i]", kernel)
        shutil.copytree(SAXPY, self.folder, dirs_exist_ok=True)
        self.write("saxpy.cu", kernel.replace("a * x[i]", "2.5f * a * x[i]"))
        with self.assertRaises(heddle.WrongResult) as caught:
            heddle.run("baseline", "launch.toml")
        self.assertEqual(caught.exception.run.verdict, "wrong")
        self.assertEqual(str(caught.exception), caught.exception.run.stats["verdict"]["detail"])
        self.assertIsNone(caught.exception.run.stats["scale"])

    def test_damaged_files_are_refused(self) -> None:
        for text, error in (
            ("{", "stats.json:1: is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
            ("[]", "stats.json: is no JSON object"),
            ('{"schema": 7}', "stats.json: is of schema 7; this package reads schema 2"),
            ('{"schema": 2, "summary": {}}', "stats.json: holds no run: 'summary' is missing or cut"),
        ):
            self.write("stats.json", text)
            with self.assertRaises(heddle.InputError) as caught:
                heddle.Run.read("stats.json")
            self.assertEqual(str(caught.exception), error)
            self.assertEqual(caught.exception.file, "stats.json")
        with self.assertRaises(heddle.InputError) as caught:
            heddle.Run.read("nowhere")
        self.assertEqual(str(caught.exception), "nowhere: cannot be read: No such file or directory")

    def test_copies(self) -> None:
        run = heddle.run("lwm", "bfs", scale=SCALE, memory_trace=True)
        sent = pickle.loads(pickle.dumps(run))
        self.assertEqual((sent.cycles, sent.summary.unit("ipc")), (run.cycles, run.summary.unit("ipc")))
        for copied in (copy.copy(run), copy.deepcopy(run)):
            folder, requests = run.folder, len(run.requests())
            self.assertEqual(copied.modules["gpu.core0.l1d"].hits, run.modules["gpu.core0.l1d"].hits)
            self.assertEqual((copied.folder, len(copied.requests())), (folder, requests))
        with self.assertRaises(heddle.Fault) as caught:
            heddle.run("lwm", "nqueens", scale=SCALE, set={"scratchpad.bytes": 128})
        self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))

    def test_files_keep_their_places(self) -> None:
        run = heddle.run("lwm", "bfs", scale=SCALE, out="kept", memory_trace="requests.txt", vcd=None)
        back = heddle.Run.read("kept")
        os.chdir("/")
        self.assertTrue(run.requests())
        self.assertEqual(run.folder, self.folder / "kept")
        self.assertEqual(back.folder, run.folder)

    def test_files_that_cannot_be_written(self) -> None:
        self.write("taken", "")
        with self.assertRaises(heddle.InputError) as caught:
            heddle.run("lwm", "bfs", out="taken")
        self.assertEqual(str(caught.exception), f"{self.folder / 'taken'}: cannot be made: File exists")
        with self.assertRaises(heddle.InputError) as caught:
            heddle.run("lwm", "bfs", scale=SCALE, memory_trace="/dev/full")
        self.assertEqual(caught.exception.file, "/dev/full")
        self.assertEqual(caught.exception.run.verdict, "correct")

    def test_what_a_compiler_says(self) -> None:
        self.write("bad.cu", "__global__ void f(int* p) {\n  *p = x;\n}\n")
        with self.assertRaises(heddle.InputError) as caught:
            heddle.nvcc(["bad.cu", "-o", "bad"])
        error = caught.exception
        self.assertEqual((error.file, error.line, error.column, error.message),
                         ("bad.cu", 2, 8, "use of undeclared identifier 'x'"))
        self.assertIn("*p = x;", str(error))

    def test_a_path_is_a_file(self) -> None:
        fake = self.script("fake", 'echo "heddle: $*" >&2; exit 2\n')
        with self.assertRaises(heddle.InputError) as caught:
            heddle.exec([Path("hello"), "hello"], program=Path("fake"))
        self.assertTrue(str(caught.exception).endswith(" -- ./hello hello"), caught.exception)
        self.assertTrue(fake.exists())

    def test_every_option_is_there(self) -> None:
        def options(command: str) -> set[str]:
            text = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
            return {one.replace("-", "_") for one in re.findall(r"^  (?:-\w \[ )?--([a-z-]+)", text, re.MULTILINE)}

        of_words = {"help", "quiet", "set", "from", "to"}  # `set` and `window` say the last three
        common = set(heddle.Measuring.__annotations__) - {"program", "set", "window"}
        self.assertEqual(options("run") - of_words - {"resume"},  # names no machine and no workload
                         common | (set(inspect.signature(heddle.run).parameters) - {"machine", "workload", "options"}))
        self.assertEqual(options("exec") - of_words - {"config", "attach"}, common | {"keep_going"})

    def test_timelines_and_checkpoints(self) -> None:
        run = heddle.run("lwm", "bfs", scale=SCALE, timeline=True, timeline_from=1000, timeline_cycles=2000,
                         checkpoint="at.ckpt", every=20000)
        self.assertTrue(run.files["timeline"].exists())
        self.assertTrue(Path("at.ckpt").exists())


if __name__ == "__main__":
    unittest.main()
