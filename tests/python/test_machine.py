"""Machines, and what the program declares."""

from __future__ import annotations

import subprocess
import os
import unittest

from support import PROGRAM, Case

import heddle


class Machines(Case):
    def test_reads_changes_and_writes(self) -> None:
        machine = heddle.Machine("lwm")
        smaller = machine.set("core.threads", 512).set({"dram.scheduler": "fr-fcfs", "core.load_trap": False})
        self.assertEqual(machine["core.threads"], 1024)
        self.assertEqual((smaller["core.threads"], smaller["dram.scheduler"]), (512, "fr-fcfs"))
        self.assertEqual(machine.settings, {})
        written = smaller.write("small.toml", description='half the "threads"')
        self.assertEqual(
            (self.folder / "small.toml").read_text(),
            'description = "half the \\"threads\\""\nextends = "lwm"\n\n'
            '[core]\nthreads = 512\nload_trap = false\n\n[dram]\nscheduler = "fr-fcfs"\n',
        )
        self.assertEqual((written.name, written.description), ("small", 'half the "threads"'))
        whole = {path: one.value for path, one in smaller.parameters().items()}
        self.assertEqual({path: one.value for path, one in written.parameters().items()}, whole)
        # A machine of a file extends that file, wherever the new one lies.
        (self.folder / "sub").mkdir()
        again = written.set("dram.channels", 2).write("sub/two.toml")
        self.assertEqual((again["core.threads"], again["dram.channels"]), (512, 2))

    def test_never_writes_over_what_it_extends(self) -> None:
        path = self.write("mine.toml", 'extends = "baseline"\n')
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.Machine("./mine.toml", {"core.threads": 512}).write("mine.toml")
        self.assertEqual(
            str(caught.exception), "mine.toml: is the file that this machine extends; give another name"
        )
        self.assertEqual(path.read_text(), 'extends = "baseline"\n')

    def refused(self, machine: heddle.Machine) -> heddle.InputError:
        with self.assertRaises(heddle.InputError) as caught:
            machine.check()
        # The same words as the program has.
        said = subprocess.run([PROGRAM, "check", *machine.words()], capture_output=True, text=True)
        self.assertEqual((said.returncode, said.stderr), (2, f"heddle: {caught.exception}\n"))
        self.assertEqual(caught.exception.code, 2)
        return caught.exception

    def test_errors_have_file_line_and_key(self) -> None:
        for text, line, column, key in (
            ('extends = "lwm"\n[dram]\nbank = 4\n', 3, 1, "dram.bank"),  # no such key
            ('extends = "lwm"\n[core]\nthreads = 5000\n', 3, 11, "core.threads"),  # out of range
            ('extends = "lwm"\n[core]\n\nscheduler = "gtoo"\n', 4, 13, "core.scheduler"),  # no such policy
            ('extends = "lwm"\n[core]\nthreads = "many"\n', 3, 11, "core.threads"),  # another type
            ('extends = "lwm"\n[core]\nthreads = [1]\n', 3, 11, "core.threads"),
            ('extends = "lwm"\n[core]\nthreads = 1000\n', 3, 11, "core.threads"),  # contradicts warp_size
            ('extends = "lwm"\n[cores]\n', 2, 2, "cores"),  # no such section
            ('extends = "lwm"\nthreads = 5\n', 2, 1, "threads"),
            ('description = 5\n', 1, 15, "description"),
            ('[core\n', 1, 6, None),  # no TOML
        ):
            path = self.write("bad.toml", text)
            error = self.refused(heddle.Machine(path))
            self.assertEqual((error.file, error.line, error.column, error.key), (str(path), line, column, key), text)
            self.assertTrue(str(error).startswith(f"{path}:{line}:{column}: {error.message}"), str(error))
        error = self.refused(heddle.Machine("lwm", {"core.warp_size": 7}))
        self.assertEqual((error.file, error.line, error.key), ("--set core.warp_size=7", None, "core.warp_size"))
        self.assertEqual(error.message, "core.warp_size (7) is no multiple of core.simd_width (32)\n"
                         "--set core.warp_size=7: core.threads (1024) is no multiple of core.warp_size (7)")
        error = self.refused(heddle.Machine("lwm").set("core.warp_sise", 64))
        self.assertEqual(
            (error.key, error.message, error.hint),
            ("core.warp_sise", "there is no parameter 'warp_sise' in section 'core'", "did you mean 'warp_size'?"),
        )
        self.assertIsNone(self.refused(heddle.Machine("lwn")).key)
        with self.assertRaises(heddle.InputError) as caught:
            heddle.Machine("lwm")["core.warp_sise"]
        self.assertEqual(caught.exception.key, "core.warp_sise")
        self.assertIn("did you mean core.warp_size", str(caught.exception.hint))

    def test_notes_what_has_no_effect(self) -> None:
        self.assertEqual(heddle.Machine("lwm").check(), [])
        self.assertEqual(
            heddle.Machine("baseline", {"dram.preset": "hbm2"}).check(),
            ["dram.preset = hbm2 has no effect while dram.timing is not jedec"],
        )

    def test_lists_of_choices(self) -> None:
        path = "two_level_adaptive.inner_schedulers"
        machine = heddle.Machine("baseline", {path: ["gto", "oldest"]})
        self.assertEqual(machine[path], "gto,oldest")
        self.assertIn('inner_schedulers = "gto,oldest"\n', machine.toml())

    def test_cost_and_signals(self) -> None:
        self.assertIn("bits", str(heddle.Machine("lwm").cost()))
        signals = {one.path: one for one in heddle.Machine("lwm").signals()}
        self.assertEqual(signals["gpu.core0.fetch.valid"].width, 1)
        self.assertEqual(signals["gpu.core0.fetch.valid"].group, "fetch")
        state = signals["gpu.core0.fetch.state"]
        self.assertEqual((state.kind, len(state.values) > 2), ("enumeration", True))


class Declarations(Case):
    def test_parameters(self) -> None:
        known = heddle.parameters()
        names = subprocess.run([PROGRAM, "list", "parameters", "--names"], capture_output=True, text=True).stdout
        self.assertEqual(list(known), names.splitlines())
        size = known["core.warp_size"]
        self.assertEqual((size.type, size.default, size.unit, size.low, size.high), ("integer", 32, "threads", 1, 1024))
        self.assertEqual(size.range, "1 to 1024")
        self.assertTrue(known["ccws.victim_tags"].power_of_two)
        self.assertEqual(known["gpu.clock_ghz"].low, 0.001)
        scheduler = {one.name: one.meaning for one in known["core.scheduler"].choices}
        listed = {one.name: one.meaning for one in heddle.policies() if one.parameter == "core.scheduler"}
        self.assertEqual(scheduler, listed)
        self.assertIn("round-robin", listed)
        self.assertTrue(known["two_level_adaptive.inner_schedulers"].list)
        self.assertEqual(known["core.load_trap"].default, True)

    def test_statistics_are_those_of_the_listing(self) -> None:
        text = subprocess.run([PROGRAM, "list", "statistics"], capture_output=True, text=True).stdout
        text = " ".join(text.split())
        for one in heddle.statistics().values():
            self.assertIn(f"{one.name} ({one.unit}) {' '.join(one.meaning.split())}", text)
        self.assertEqual(heddle.statistics()["ipc"].type, "number")
        self.assertEqual(heddle.statistics()["fu_active_cycles"].type, "integers")
        self.assertIn("memory", heddle.idle_causes())
        hits = heddle.counters()["gpu.core<n>.l1d"]["hits"]
        self.assertIn(f"hits ({hits.unit}) {hits.meaning}", text)
        self.assertEqual(heddle.counters()["gpu.dram<n>"]["bus_series"].type, "integers")

    def test_names(self) -> None:
        for kind, found in (("workloads", heddle.workloads()), ("configs", heddle.machines())):
            names = subprocess.run([PROGRAM, "list", kind, "--names"], capture_output=True, text=True).stdout
            self.assertEqual(list(found), names.splitlines())
        self.assertTrue(heddle.machines()["lwm"].file.endswith("lwm.toml"))
        self.assertEqual(heddle.machines()["h100"].group, "GPUs of today")
        self.assertIn("fetch", heddle.signal_groups())

    def test_what_has_no_json_says_so(self) -> None:
        for words, error in (
            (["mapping", "baseline", "--json"], "--json: list mapping draws for people, and has no JSON; leave it out"),
            (["protocols", "--json"], "--json: list protocols draws for people, and has no JSON; leave it out"),
            (["workloads", "--json", "--names"], "--names: what is listed is JSON; leave it out"),
            (["schema", "stats", "--markdown"], "--markdown: what is listed is JSON; leave it out"),
            (["schema"], "list: schema needs the kind of file: stats, host, exploration, results; "
                         "usage: heddle list schema stats|host|exploration|results"),
            (["schema", "stat"], "list: there is no schema of 'stat'; did you mean 'stats'?"),
            (["workloads", "stats"], "list: 'stats' is one word too many; usage: heddle list workloads"),
        ):
            said = subprocess.run([PROGRAM, "list", *words], capture_output=True, text=True)
            self.assertEqual((said.returncode, said.stderr, said.stdout), (2, f"heddle: {error}\n", ""))

    def test_values_of_frames(self) -> None:
        class Scalar:
            """As numpy's are."""

            ndim = 0

            def item(self) -> int:
                return 512

        machine = heddle.Machine("lwm", {"core.threads": Scalar()})
        self.assertEqual(machine["core.threads"], 512)
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.Machine("lwm", {"core.threads": None})
        self.assertEqual(str(caught.exception), "core.threads needs a value, and None is none")

    def test_as_a_mapping(self) -> None:
        machine = heddle.Machine("lwm", {"core.threads": 512})
        self.assertIn("core.threads", machine)
        self.assertNotIn("core.thread", machine)
        self.assertIn("l1d.bytes", list(machine))
        self.assertEqual(machine, heddle.Machine("lwm").set("core.threads", 512))
        self.assertNotEqual(machine, heddle.Machine("lwm"))
        self.assertEqual(len({machine, heddle.Machine("lwm", {"core.threads": 512})}), 1)

    def test_a_file_keeps_its_place(self) -> None:
        self.write("own.toml", 'extends = "lwm"\n')
        machine = heddle.Machine("own.toml")
        os.chdir("/")
        self.assertEqual(machine["core.warp_size"], 256)

    def test_options_are_no_machines(self) -> None:
        with self.assertRaises(heddle.HeddleError) as caught:
            heddle.Machine("--help")
        self.assertEqual(str(caught.exception), "'--help' is no machine's name")


if __name__ == "__main__":
    unittest.main()
