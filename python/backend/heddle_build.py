"""Builds the wheel with what Python has itself, so that pip installs from a folder without a network (PEP 517, 660)."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files make the same bytes


def version() -> str:
    """Of the installed package's file VERSION, or of the repository's CMakeLists.txt."""
    installed = HERE / "VERSION"
    if installed.exists():
        return installed.read_text(encoding="utf-8").strip()
    lists = HERE.parent / "CMakeLists.txt"
    found = re.search(r"^project\(heddle VERSION ([0-9.]+)", lists.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{lists} names no version")
    return found[1]


def _metadata() -> str:
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version()}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package}; extra == "{extra}"' for package in packages]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text(encoding="utf-8")


def _write(folder: str, contents: dict[str, bytes]) -> str:
    name = f"heddle-{version()}"
    info = f"{name}.dist-info"
    files = {
        **contents,
        f"{info}/METADATA": _metadata().encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: heddle_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = 0o644 << 16
            out.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def build_wheel(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    files = sorted(path for path in (HERE / "heddle").iterdir() if path.suffix == ".py" or path.name == "py.typed")
    contents = {f"heddle/{path.name}": path.read_bytes() for path in files}
    # Where the program lies beside this folder (heddle/_program.py).
    contents["heddle/origin.txt"] = f"{HERE}\n".encode()
    contents["heddle/version.txt"] = f"{version()}\n".encode()
    return _write(wheel_directory, contents)


def build_editable(
    wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None
) -> str:
    return _write(wheel_directory, {"heddle_editable.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    name = f"heddle-{version()}"
    archive = f"{name}.tar.gz"
    files = {
        str(path.relative_to(HERE)): path.read_bytes()
        for path in sorted(HERE.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    files["VERSION"] = f"{version()}\n".encode()
    files["PKG-INFO"] = _metadata().encode()
    with tarfile.open(Path(sdist_directory) / archive, "w:gz") as out:
        for relative, data in files.items():
            entry = tarfile.TarInfo(f"{name}/{relative}")
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))
    return archive
