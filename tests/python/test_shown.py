"""What documents and notebooks show, run as they show it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import unittest

from support import SOURCE, Case

import heddle


class Shown(Case):
    def run_text(self, text: str, name: str) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, name, "exec"), {"__name__": "__main__"})
        return printed.getvalue()

    def test_the_page(self) -> None:
        """Every example of docs/python.md, one after the other; comments keep the places of the page."""
        page = (SOURCE / "docs" / "python.md").read_text(encoding="utf-8")
        lines, inside, blocks = [], False, 0
        for line in page.splitlines():
            if line.startswith("```"):
                inside = line == "```python"
                blocks += inside
                lines.append("")
            else:
                lines.append(line if inside else "")
        self.assertGreater(blocks, 6)
        printed = self.run_text("\n".join(lines), "docs/python.md")
        run = heddle.run("lwm", "bfs", scale=0.001)
        self.assertTrue(printed.startswith(f"{run.cycles} {run.ipc} correct\n512 256\n256 threads 1 to 1024 "), printed)
        self.assertIn("\n--set core.warp_size=48 None core.warp_size None\n", printed)
        self.assertIn("False stopped after 5000 cycles (--max-cycles)\n", printed)
        self.assertIn("\n62\n", printed)
        self.assertTrue(printed.endswith("thread instructions per cycle\n"), printed)

    def test_the_readme(self) -> None:
        text = (SOURCE / "python" / "README.md").read_text(encoding="utf-8")
        block = re.search(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertIn("thread instructions per cycle", self.run_text(block[1].replace("0.01", "0.001"), "README.md"))

    def notebook(self, name: str) -> str:
        text = (SOURCE / "python" / "notebooks" / f"{name}.py").read_text(encoding="utf-8")
        cells = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)[1:]
        kinds = cells[::2]
        self.assertEqual(kinds[0], " [markdown]")
        self.assertTrue(set(kinds) <= {"", " [markdown]"}, kinds)
        for kind, cell in zip(kinds, cells[1::2]):
            if kind:  # text is comments alone
                self.assertEqual([line for line in cell.splitlines() if line and not line.startswith("#")], [])
        return self.run_text(text, name)

    def test_a_mechanism_on_all_workloads(self) -> None:
        printed = self.notebook("mechanism")
        self.assertIn("core.warp_size: 32 -> 256 threads: threads of one warp; ", printed)
        for workload in heddle.workloads():
            self.assertRegex(printed, rf"(?m)^{re.escape(workload)} +[0-9.]+ +[0-9.]+ +[0-9.]+$")
        self.assertRegex(printed, r"geometric mean +[0-9]\.[0-9]{3}\n")
        self.assertIn("idle cycles by cause, of baseline and lwm", printed)

    def test_a_design_space(self) -> None:
        os.environ["NOTEBOOK_SCALE"] = "0.001"
        self.addCleanup(os.environ.pop, "NOTEBOOK_SCALE")
        printed = self.notebook("design_space")
        front = re.findall(r"(?m)^ +([0-9]+) cycles +([0-9.]+) W   ", printed)
        self.assertGreater(len(front), 3)
        cycles, power = [int(one[0]) for one in front], [float(one[1]) for one in front]
        self.assertEqual(cycles, sorted(cycles))
        self.assertEqual(power, sorted(power, reverse=True))
        self.assertIn('extends = "lwm"', printed)
        fastest = heddle.Machine("heddle-out/notebooks/fastest.toml")
        self.assertEqual(fastest.description, "the fastest of the design space")

    def test_a_window_of_waves(self) -> None:
        printed = self.notebook("waves")
        window = re.search(r"cycles ([0-9]+) to ([0-9]+): ([0-9]+) reads", printed)
        self.assertEqual(int(window[2]) - int(window[1]), 399)
        counted = re.findall(r"(?m)^[a-z ]+?[a-z_]* +([0-9]+) cycles$", printed)
        self.assertEqual(sum(map(int, counted)), 400, printed)
        self.assertRegex(printed, r"(?m)^[ .:\-=+*%#]{40}$")
        self.assertIn(" cycles in the memory stages   ", printed)


if __name__ == "__main__":
    unittest.main()
