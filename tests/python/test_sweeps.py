"""Sweeps built in code, and their databases."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import unittest
from pathlib import Path

from support import PROGRAM, SCALE, Case

import heddle

WARP, THREADS = "core.warp_size", "core.threads"


class Sweeps(Case):
    def test_a_grid_runs_and_is_read_back(self) -> None:
        sweep = heddle.Sweep(
            name="warps",
            config=heddle.Machine("lwm", {"l1d.bytes": 16384}),
            scale=SCALE,
            description='of "two" axes',
            axes={"workload": ["bfs", "nqueens"], WARP: heddle.Range(32, 128, times=2), THREADS: [256, 1024]},
            constraints=[heddle.param(WARP) * 4 <= heddle.param(THREADS)],
        )
        results = sweep.run("out/warps.db", jobs=2)
        self.assertEqual((results.name, results.complete, len(results)), ("warps", True, 10))
        self.assertEqual(results.axes, ["workload", WARP, THREADS])
        self.assertEqual({row["l1d.bytes"] for row in results}, {16384})
        self.assertEqual(
            [(row.workload, row[WARP], row.core_threads) for row in results][:5],
            [("bfs", 32, 256), ("bfs", 32, 1024), ("bfs", 64, 256), ("bfs", 64, 1024), ("bfs", 128, 1024)],
        )
        row = results.rows("workload = ? AND core_warp_size = 64 AND core_threads = 1024", ["bfs"])[0]
        run = heddle.run("lwm", "bfs", scale=SCALE, set={"l1d.bytes": 16384, WARP: 64})
        self.assertEqual((row.cycles, row.ipc, row.fu_active_cycles), (run.cycles, run.ipc, run.fu_active_cycles))
        self.assertEqual(row.modules, run.stats["modules"])
        self.assertEqual(results.column("cycles"), [row.cycles for row in results])
        of_bfs = {row[WARP]: row.cycles for row in results if row.workload == "bfs" and row[THREADS] == 1024}
        self.assertEqual(results.table("workload", WARP, "cycles")["bfs"][128], of_bfs[128])
        best = results.query("SELECT max(ipc) AS best FROM results")
        self.assertEqual(best, [{"best": max(results.column("ipc"))}])
        # The same figures and names as the program's own table of the front.
        front = results.pareto(cycles="min", ipc="max")
        said = subprocess.run([PROGRAM, "results", "out/warps.db", "--pareto", "cycles:min,ipc:max", "--csv", "-"],
                              capture_output=True, text=True, check=True)
        told = list(csv.DictReader(io.StringIO(said.stdout)))
        self.assertEqual([float(one["cycles"]) for one in told], [one["cycles"] for one in front])
        self.assertEqual([int(one["core_warp_size"]) for one in told], [one[WARP] for one in front])
        # Nothing is run again, and the file is one that the program takes.
        again = subprocess.run([PROGRAM, "sweep", "out/warps.toml", "--database", "out/warps.db"],
                               capture_output=True, text=True, check=True)
        self.assertIn("10 runs, 10 of them kept from earlier", again.stdout)

    def test_the_file(self) -> None:
        self.assertEqual(
            heddle.Sweep(
                config=None,
                workload="bfs",
                points=[{"config": "lwm", "two_level.fetch_group": 1}, {"config": "baseline"}],
                axes={"l1d.bytes": heddle.Random(2, 4096, 65536, seed=4), "core.load_trap": [True, False]},
                set={"core.scheduler": "two-level", "two_level_adaptive.inner_schedulers": ["gto", "oldest"]},
                seed=2, repetitions=3, sample=(5, 7), energy="dws-memory", max_cycles=10**6, address_bits=64,
                limits={"wall_seconds": 60}, slurm={"options": ["--mem=4G"], "at_a_time": 3},
                constraints=["scale > 0", heddle.param("config") != "gto"],
            ).toml().split("\n", 1)[1],
            'workload = "bfs"\nseed = 2\naddress_bits = 64\nmax_cycles = 1000000\nrepetitions = 3\n'
            'energy = "dws-memory"\nconstraints = ["scale > 0", "(config != \\"gto\\")"]\n\n'
            '[set]\ncore.scheduler = "two-level"\ntwo_level_adaptive.inner_schedulers = "gto,oldest"\n\n'
            "[sample]\npoints = 5\nseed = 7\n\n[limits]\nwall_seconds = 60\n\n"
            '[slurm]\noptions = ["--mem=4G"]\nat_a_time = 3\n\n'
            "[axes]\nl1d.bytes = { random = 2, from = 4096, to = 65536, seed = 4 }\ncore.load_trap = [true, false]\n\n"
            '[[points]]\nconfig = "lwm"\ntwo_level.fetch_group = 1\n\n[[points]]\nconfig = "baseline"\n',
        )

    def test_constraints(self) -> None:
        a, b = heddle.param("core.threads"), heddle.param("core.warp_size")
        for made, text in (
            (2 * a - b % 3 >= 1, "(((2 * core.threads) - (core.warp_size % 3)) >= 1)"),
            (1 - a < 0.5, "((1 - core.threads) < 0.5)"),
            ((a > 1) & ~(b == 32) | (a / 2 + b < 9), "(((core.threads > 1) && (!(core.warp_size == 32))) || "
             "(((core.threads / 2) + core.warp_size) < 9))"),
            ((a == True), "(core.threads == true)"),  # noqa: E712
        ):
            self.assertEqual(made.text, text)
        with self.assertRaises(heddle.HeddleError) as caught:
            bool(a > 1 and b > 1)
        self.assertEqual(str(caught.exception), "the constraint (core.threads > 1) has no value here: join constraints "
                         "by & and |, not and and or")
        with self.assertRaises(heddle.HeddleError):
            heddle.param("workload") == 'a"b'

    def test_machines_and_launch_files_by_path(self) -> None:
        machine = heddle.Machine("lwm", {"l1d.bytes": 8192}).write("mine.toml")
        sweep = heddle.Sweep(config=None, workload="bfs", scale=SCALE, axes={"config": [machine, Path("lwm")]})
        results = sweep.run("elsewhere/x.db")
        self.assertEqual(results.column("l1d.bytes"), [8192, 32768])
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.Sweep(axes={"config": [heddle.Machine("lwm", {"l1d.bytes": 8192})]}).toml()
        self.assertEqual(str(caught.exception), "Machine('lwm', {'l1d.bytes': 8192}) has changed parameters, and an axis "
                         "names machines: write it to a file first, and give what write() returns")

    def test_failures(self) -> None:
        # A machine that contradicts itself is refused; a limit of time ends a run.
        sweep = heddle.Sweep("lwm", "bfs", scale=SCALE, axes={THREADS: [128, 1024]})
        results = sweep.run("x.db")
        self.assertEqual([(row.status, row[THREADS]) for row in results.refused()], [("refused", 128)])
        self.assertIn("core.threads (128)", results.refused()[0].message)
        self.assertEqual(len(results), 1)
        late = heddle.Sweep("lwm", "bfs", axes={"seed": [1]}, limits={"wall_seconds": 0.05})
        with self.assertRaises(heddle.WrongResult) as caught:
            late.run("late.db")
        self.assertTrue(str(caught.exception).startswith("timeout: bfs on lwm (point 1): "), str(caught.exception))
        self.assertEqual([row.status for row in late.run("late.db", strict=False).failures()], ["timeout"])
        with self.assertRaises(heddle.InputError) as refused:
            heddle.Sweep("lwm", "bfs", axes={"core.thread": [1]}).run("y.db")
        error = refused.exception
        self.assertEqual((error.file, error.line, error.key), ("y.toml", 6, "core.thread"))
        self.assertEqual(error.message, "there is no parameter 'core.thread'")

    def test_a_kernel_that_does_not_compile(self) -> None:
        self.write("k.cu", "\n__global__ void k() { none(); }\n")
        self.write("launch.toml", "cuda = 'k.cu'\n[[launch]]\nentry = 'k'\ngrid = [1]\nblock = [32]\n")
        with self.assertRaises(heddle.InputError) as caught:
            heddle.Sweep("lwm", "launch.toml", axes={THREADS: [512, 1024]}).run("x.db")
        error = caught.exception
        self.assertEqual((Path(str(error.file)).name, error.line, error.column), ("k.cu", 2, 23), str(error))

    def test_tables_have_means(self) -> None:
        results = heddle.Sweep("lwm", "bfs", scale=SCALE, axes={"seed": [1, 2], WARP: [32, 64, 128]},
                               sample={"points": 4, "seed": 2}).run("x.db")
        rows = results.rows()
        self.assertEqual(len(rows), 4)
        for warp, line in results.table(WARP, "workload", "cycles").items():
            of_it = [row.cycles for row in rows if row[WARP] == warp]
            self.assertAlmostEqual(line["bfs"], sum(of_it) / len(of_it))
        self.assertEqual(results.table("config", "workload", "status"), {"lwm": {"bfs": "done"}})
        with self.assertRaises(heddle.HeddleError) as caught:
            results.table("config", "workload", "retirement_hash")
        self.assertIn("the sweep varies seed, core.warp_size", str(caught.exception))
        with self.assertRaises(heddle.InputError) as bad:
            results.query("SELECT none FROM results")
        self.assertEqual(str(bad.exception), "x.db: no such column: none: SELECT none FROM results")
        self.assertEqual(len(results.rows(where=None)), 4)

    def test_a_temperature(self) -> None:
        results = heddle.Sweep("lwm", "bfs", scale=SCALE, energy="dws-65nm", temperature=40,
                               axes={"seed": [1]}).run("x.db")
        self.assertEqual(results.column("temperature"), [40.0])

    def test_files_of_others_are_left_alone(self) -> None:
        self.write("x.toml", "config = 'lwm'\n")
        with self.assertRaises(heddle.InputError) as caught:
            heddle.Sweep("lwm", "bfs", axes={"seed": [1]}).run("x.db")
        self.assertEqual(str(caught.exception), "x.toml: is there, and was not written by this package; name another "
                         "file or database")
        self.assertEqual(Path("x.toml").read_text(), "config = 'lwm'\n")
        for name, error in (("x.toml", "x.toml: this is no database: file is not a database"),
                            ("none.db", "none.db: is not there; heddle sweep writes it")):
            with self.assertRaises(heddle.InputError) as caught:
                heddle.Results(name)
            self.assertEqual(str(caught.exception), error)

    def test_the_launcher_is_the_programs(self) -> None:
        fake = self.script("heddle", f'echo "$@" > words\nshift 6\nexec {PROGRAM} sweep out/s.toml --database out/s.db\n')
        sweep = heddle.Sweep("lwm", "bfs", scale=SCALE, axes={"seed": [1]})
        results = sweep.run("out/s.db", launcher="slurm", shared="seen/by/all", retry=True, resume=True, program=fake)
        self.assertEqual(
            Path("words").read_text(),
            "sweep out/s.toml --database out/s.db --launcher slurm --shared seen/by/all --resume --retry\n",
        )
        self.assertEqual(len(results), 1)

    def test_several_sweeps_in_a_database(self) -> None:
        for name, seed in (("a", 1), ("b", 2)):
            heddle.Sweep("lwm", "bfs", scale=SCALE, axes={"seed": [seed]}, name=name).run(f"{name}.db")
        os.rename("b.toml", "both.toml")
        subprocess.run([PROGRAM, "sweep", "both.toml", "--database", "a.db", "--resume"], check=True,
                       capture_output=True)
        self.assertEqual(heddle.Results("a.db").column("seed"), [2])
        self.assertEqual(heddle.Results("a.db", "a").column("seed"), [1])
        self.assertEqual(heddle.Results("a.db", 2).name, "both")
        with self.assertRaises(heddle.InputError) as caught:
            heddle.Results("a.db", "c")
        self.assertEqual(str(caught.exception), "a.db: holds no sweep 'c'; it holds a, both")

    def test_what_is_said_twice_or_is_no_list(self) -> None:
        for sweep, error in (
            (heddle.Sweep(set={"core.threads": 512}, axes={"core.threads": [256]}),
             "core.threads is set, and varied by an axis or by points: take it out of one of them"),
            (heddle.Sweep(axes={"workload": "bfs"}), "the axis workload needs a list of values, as ['bfs']"),
            (heddle.Sweep(axes={"core.threads": [None]}), "core.threads needs a value, and None is none"),
        ):
            with self.assertRaises(heddle.HeddleError) as caught:
                sweep.toml()
            self.assertEqual(str(caught.exception), error)
        self.assertIn("core.threads = [256]", heddle.Sweep(heddle.Machine("lwm", {"core.threads": 512}),
                                                           axes={"core.threads": [256]}).toml())
        self.assertIn('"gr\u00f6\u00dfe" = [1]', heddle.Sweep(axes={"gr\u00f6\u00dfe": [1]}).toml())

    def test_expressions(self) -> None:
        threads = heddle.param("core.threads")
        self.assertEqual(repr(1 - -threads / 2), "<Expression (1 - ((-core.threads) / 2))>")
        self.assertEqual((2048 / threads).text, "(2048 / core.threads)")
        self.assertEqual((True & (threads > 1)).text, "(true && (core.threads > 1))")

    def test_names_that_are_no_columns(self) -> None:
        results = heddle.Sweep("lwm", "bfs", scale=SCALE, axes={"core.threads": [512, 1024]}).run("x.db")
        os.chdir("/")
        for call in (lambda: results.column("ipcc"), lambda: results.frame(columns=["ipcc"])):
            with self.assertRaises(KeyError) as caught:
                call()
            self.assertEqual(caught.exception.args[0], "a run has no column 'ipcc'; did you mean ipc?")
        best = repr(results.pareto(cycles="min", l1d_misses="min"))
        for word in ("'core_threads': ", "'cycles': ", "'l1d_misses': "):
            self.assertIn(word, best)


if __name__ == "__main__":
    unittest.main()
