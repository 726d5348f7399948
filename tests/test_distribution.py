"""What others get works: a clone without symbolic links, the source distribution, and the wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
USES = """
import sys
import streamparse, streamparse.adapters.openai
from streamparse.cli import main
assert streamparse.__file__.startswith(sys.argv[1]), streamparse.__file__
message = streamparse.parse_response("<think>Hm.</think>Hi", "qwen3", prefix="")
assert message == {"role": "assistant", "reasoning_content": "Hm.", "content": "Hi"}, message
sys.exit(main(["demo", "--plain"]))
"""

in_a_checkout = pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None, reason="the tests don't run in a git checkout"
)


def use(python: str | Path, place: Path, **environment: str) -> None:
    """Import the package from a place, parse with it, and replay the demo."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [python, "-c", USES, str(place)],
        cwd=place,
        env=clean | environment,
        timeout=120,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "streamparse parse --template" in done.stdout


def tracked() -> set[str]:
    """The files that git knows, without links."""
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line.split("\t")[1] for line in listed.splitlines() if not line.startswith("120000")}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel."""
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(place)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (sdist,) = place.glob("*.tar.gz")
    (wheel,) = place.glob("*.whl")
    return sdist, wheel


@in_a_checkout
def test_a_clone_without_symbolic_links_works(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    command = ["git", "-c", "core.symlinks=false", "clone", "--quiet", str(ROOT), str(clone)]
    subprocess.run(command, capture_output=True, check=True)
    assert not (clone / "adapters").is_symlink()
    use(sys.executable, clone, PYTHONPATH=str(clone))


@in_a_checkout
def test_the_source_distribution_has_every_file_once_and_no_link(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as archive:
        members = archive.getmembers()
    assert [member.name for member in members if member.issym() or member.islnk()] == []
    names = Counter(member.name.partition("/")[2] for member in members if member.isfile())
    assert [name for name, times in names.items() if times > 1] == []
    assert not [name for name in names if name.startswith("adapters/")], "that is a link to streamparse/adapters"
    left_out = {name for name in tracked() if not name.startswith((".ci/", ".github/"))} - names.keys()
    assert left_out == set()
    assert names.keys() - tracked() == {"PKG-INFO"}


@in_a_checkout
def test_the_wheel_has_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        names = Counter(name for name in archive.namelist() if ".dist-info/" not in name)
    assert set(names) == {name for name in tracked() if name.startswith("streamparse/")}
    assert set(names.values()) == {1}


def test_an_installed_wheel_works(built: tuple[Path, Path], tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    python = next(path for path in (tmp_path / "bin/python", tmp_path / "Scripts/python.exe") if path.exists())
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1", str(built[1])]
    installed = subprocess.run(command, capture_output=True, text=True, check=False)
    if installed.returncode and "NewConnectionError" in installed.stderr:
        pytest.skip("the dependencies can't be downloaded: there is no network")
    assert installed.returncode == 0, installed.stderr
    use(python, tmp_path)
