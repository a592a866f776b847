"""Requests, pipeline logs and waves read back."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import unittest
from pathlib import Path

from support import PROGRAM, SCALE, Case

import heddle

VCD = """$version by hand $end
$timescale 1 ns $end
$scope module gpu $end
$var wire 1 ! valid $end
$scope module fetch $end
$var wire 4 " warp [3:0] $end
$var wire 4 " copy [3:0] $end
$upscope $end
$upscope $end
$enddefinitions $end
#10
$dumpvars
0!
bx "
$end
#12
1!
b101 "
#15
0!
#17
"""


class Traces(Case):
    def test_requests(self) -> None:
        run = heddle.run("database-hints", "index_search:row_hints", scale=0.0005, memory_trace=True)
        requests = run.requests()
        self.assertEqual(len([one for one in requests if one.kind == "W"]), run.dram_writes)
        self.assertEqual(len([one for one in requests if one.kind in ("R", "RH")]), run.dram_reads)
        self.assertIn("RH", {one.kind for one in requests})
        self.assertLessEqual(max(one.cycle for one in requests), run.cycles)
        with self.assertRaises(heddle.HeddleError) as caught:
            run.pipeline()
        self.assertEqual(str(caught.exception), "the run wrote no pipeline; ask for one: run(..., pipeline=True)")
        Path("m.gz").write_bytes(gzip.compress(b"# a comment\n0x80 RH 3\n\n128 W 4\n"))
        self.assertEqual(heddle.read_requests("m.gz"), [heddle.Request(128, "RH", 3), heddle.Request(128, "W", 4)])
        self.write("bad.txt", "0x80 R 3\n0x80 X 3\n")
        with self.assertRaises(heddle.InputError) as caught:
            heddle.read_requests("bad.txt")
        self.assertEqual(str(caught.exception), "bad.txt:2: '0x80 X 3' is no request; heddle run --memory-trace writes "
                         "ADDRESS R|W|RH CYCLE")
        Path("cut.gz").write_bytes(gzip.compress(b"0x80 RH 3\n" * 1000)[:30])
        with self.assertRaises(heddle.InputError) as caught:
            heddle.read_requests("cut.gz")
        self.assertIn("cut.gz: cannot be read: Compressed file ended", str(caught.exception))

    def test_the_pipeline(self) -> None:
        window = (3000, 4500)
        run = heddle.run("lwm", "bfs", scale=SCALE, pipeline="p.kanata.gz", window=window)
        log = run.pipeline()
        self.assertIsInstance(log, heddle.PipelineLog)
        self.assertGreater(len(log), 10)
        retired = [row for row in log if not row.flushed]
        self.assertGreater(len(retired), 10)
        for row in retired:
            self.assertLess(row.begin, row.end)
            lane = [stage for stage in row.stages if stage.lane == 0]
            self.assertEqual([lane[0].begin, lane[-1].end], [row.begin, row.end])
            for one, following in zip(lane, lane[1:]):
                self.assertLessEqual(one.end, following.begin)
            self.assertIsInstance(row.pc, int)
            self.assertNotIn("[", row.instruction.split("]")[-1])
        self.assertEqual(sum(row.cycles_in("W") >= 1 for row in retired), len(retired))
        # The rows are those of the file.
        text = gzip.decompress(Path("p.kanata.gz").read_bytes()).decode()
        self.assertEqual(sum(line.startswith("I\t") for line in text.splitlines()), len(log))
        other = heddle.run("lwm", "bfs", scale=SCALE, pipeline="p.json", window=window)
        events = other.trace_events()
        self.assertIsInstance(events, heddle.TraceEvents)
        for read, error in (
            (other.pipeline, "p.json:1: is a pipeline log in Perfetto's form; "
                             "trace_events() and read_trace_events() read it"),
            (run.trace_events, "p.kanata.gz:1: is a pipeline log in Konata's form; "
                               "pipeline() and read_pipeline() read it"),
        ):
            with self.assertRaises(heddle.InputError) as caught:
                read()
            self.assertTrue(str(caught.exception).endswith(error), str(caught.exception))
        whole = json.loads(Path("p.json").read_text())["traceEvents"]
        self.assertEqual(len([one for one in whole if one["ph"] in "Xb"]),
                         len([one for one in events if one.cycles is not None]))
        self.assertIn("core 0", {one.process for one in events})
        self.assertTrue(all(window[0] <= one.begin <= window[1] for one in events if one.process == "core 0"))

    def test_damaged_pipelines(self) -> None:
        for text, error in (
            ("Kanata\t0003\n", "p:1: is of version 0003; this package reads Kanata 0004"),
            ("what\n", "p:1: is no pipeline log; heddle run --pipeline writes one"),
            ("", "p:1: is no pipeline log; heddle run --pipeline writes one"),
            ("Kanata\t0004\nC=\t3\nS\t5\t0\tF\nE\t5\t0\tF\n", "p:4: 'E\t5\t0\tF' is no line of a pipeline log"),
            ("Kanata\t0004\nQ\n", "p:2: 'Q' is no line of a pipeline log"),
        ):
            self.write("p", text)
            with self.assertRaises(heddle.InputError) as caught:
                heddle.read_pipeline("p")
            self.assertEqual(str(caught.exception), error)
        for text, error in (
            ('{"traceEvents": [{"ph": "X"}]}', "p: is no log of trace events: KeyError('name')"),
            ("what\n", "p:1: is no pipeline log; heddle run --pipeline FILE.json writes one"),
        ):
            self.write("p", text)
            with self.assertRaises(heddle.InputError) as caught:
                heddle.read_trace_events("p")
            self.assertEqual(str(caught.exception), error)

    def test_waves_by_hand(self) -> None:
        Path("w.vcd.gz").write_bytes(gzip.compress(VCD.encode()))
        waves = heddle.read_waves("w.vcd.gz")
        self.assertEqual(list(waves), ["gpu.valid", "gpu.fetch.warp", "gpu.fetch.copy"])
        self.assertEqual((waves.first, waves.last), (10, 16))  # the last time closes the recording
        valid = waves["gpu.valid"]
        self.assertEqual(list(valid), [(10, 0), (12, 1), (15, 0)])
        self.assertEqual(valid.each(), [0, 0, 1, 1, 1, 0, 0])
        self.assertEqual(valid.each(9, 12), [None, 0, 0, 1])
        self.assertEqual((valid.at(9), valid.at(11), valid.at(14), valid.at(99)), (None, 0, 1, 0))
        self.assertEqual((valid.cycles_at(1), valid.cycles_at(1, 13, 20)), (3, 2))
        self.assertEqual(list(waves["gpu.fetch.warp"]), [(10, None), (12, 5)])
        self.assertEqual(waves["gpu.fetch.warp"].width, 4)
        self.assertEqual([one.path for one in waves.matching("*.fetch.*")], ["gpu.fetch.warp", "gpu.fetch.copy"])
        self.assertEqual(list(heddle.read_waves("w.vcd.gz", "*.copy")), ["gpu.fetch.copy"])
        for change, error in (
            (("1 ns", "1 parsec"), "w.vcd:2: is no VCD file: the time scale '1 parsec' is not expected in its head"),
            (("#15", "#11"), "w.vcd:19: the time goes back to 11"),
            (("#15", "#x"), "w.vcd:19: '#x' is no time"),
            (("b101 ", "b102 "), "w.vcd:18: 'b102' is no value"),
            (("1!\n", "1?\n"), "w.vcd:17: '?' is no signal"),
            (("1!\n", "q!\n"), "w.vcd:17: 'q!' is no change of a value"),
            (("$enddefinitions $end\n", ""), "w.vcd:10: is no VCD file: '#10' is not expected in its head"),
        ):
            self.write("w.vcd", VCD.replace(*change))
            with self.assertRaises(heddle.InputError) as caught:
                heddle.read_waves("w.vcd")
            self.assertEqual(str(caught.exception), error)

    def test_waves_of_a_run(self) -> None:
        # fetched counts the cycles in which fetch.valid is 1 (docs/signals.md); another clock moves no cycle.
        run = heddle.run("lwm", "bfs", scale=SCALE, vcd=True, signals=["fetch"], set={"gpu.clock_ghz": 1.4})
        valid = run.waves()["gpu.core0.fetch.valid"]
        self.assertEqual(valid.cycles_at(1), run.modules["gpu.core0"].fetched)
        declared = {one.path: one.width for one in heddle.Machine("lwm").signals() if one.group == "fetch"}
        self.assertEqual({path: series.width for path, series in run.waves().items()}, declared)
        window = (3000, 3200)
        part = heddle.run("lwm", "bfs", scale=SCALE, vcd="w.vcd.gz", window=window, set={"gpu.clock_ghz": 1.4})
        waves = part.waves("gpu.core0.fetch.*")
        self.assertEqual((waves.first, waves.last), window)
        self.assertEqual(waves["gpu.core0.fetch.valid"].each(*window), valid.each(*window))
        if shutil.which("vcd2fst") and shutil.which("fst2vcd"):
            subprocess.run([PROGRAM, "run", "lwm", "bfs", "--scale", str(SCALE), "--vcd", "w.fst", "--signals", "fetch",
                            "--quiet", "--set", "gpu.clock_ghz=1.4"], check=True)
            fst = heddle.read_waves("w.fst", clock_ghz=1.4)
            self.assertEqual(list(fst["gpu.core0.fetch.valid"]), list(valid))


if __name__ == "__main__":
    unittest.main()
