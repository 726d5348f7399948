"""Modules out of wheels that can't be installed here: parsers, and stand-ins for all else that they import.

In: the folder with the wheels, the packages' modules that are to be real. Out: an importer. A stand-in is a module in
which every name is a class that keeps the arguments it is made with; that is enough for protocols and settings.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Record:
    """Keeps what it is made with; other attributes are None."""

    def __init__(self, *_: Any, **values: Any) -> None:
        self.__dict__.update(values)

    def __init_subclass__(cls, **_: Any) -> None:
        """Take any keyword."""

    def __class_getitem__(cls, _: Any) -> type:
        return cls

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Whatever is asked of it, nothing."""
        return None

    @classmethod
    def model_validate(cls, values: Any) -> Any:
        """What Pydantic's models have."""
        return values


class Quiet:
    """A logger that says nothing, and a setting that is off."""

    def __getattr__(self, name: str) -> Any:
        return Quiet()

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Whatever is asked of it, nothing that counts."""
        return Quiet()

    def __bool__(self) -> bool:
        return False


class StandIn(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("logger", "envs") or name.startswith("init_"):
            value: Any = Quiet()
        elif name.islower():
            value = Quiet()
        else:
            value = type(name, (Record,), {})
        setattr(self, name, value)
        return value


class WheelFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules under some packages: real ones in their wheels, stand-ins for the others."""

    def __init__(self, folder: Path, real: Mapping[str, Sequence[str]], absent: Sequence[str]) -> None:
        self._wheels = {
            package: zipfile.ZipFile(next(iter(sorted(folder.glob(f"{package}-*.whl"))))) for package in real
        }
        self._names = {package: frozenset(wheel.namelist()) for package, wheel in self._wheels.items()}
        self._real = real
        self._absent = absent

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """Every module of the packages, and those that are absent here, is found."""
        if fullname.split(".")[0] in (*self._real, *self._absent):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """A stand-in that a real module's names are then run into."""
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the source, if the module is to be real."""
        package = module.__name__.split(".")[0]
        file = module.__name__.replace(".", "/") + ".py"
        if (
            package in self._real
            and file in self._names[package]
            and module.__name__.startswith(tuple(self._real[package]))
        ):
            module.__class__ = types.ModuleType
            exec(compile(self._wheels[package].read(file), file, "exec"), module.__dict__)


def import_from_wheels(folder: Path, real: Mapping[str, Sequence[str]], absent: Sequence[str]) -> None:
    """Let modules of these packages be imported from the wheels in a folder."""
    sys.meta_path.insert(0, WheelFinder(folder, real, absent))
