"""Operators in C++: compiled with the system's compiler against XLA's headers, which JAX brings along.

A source holds handlers of XLA's foreign function interface; docs/passes.md has one in full. Operators that are written
against Paddle's own C++ library (`#include "paddle/extension.h"`) have to be rewritten so.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

from ..core.config import cache_dir
from ..core.jax_compat.versions import JAXLIB
from ..core.no_effect import Immaterial, no_effect, nothing_more
from ..core.private_files import NotPrivateError, private_folder
from ..custom.kernel import Library

__all__ = ["BuildExtension", "CUDAExtension", "CompileError", "CppExtension", "get_build_directory", "load", "setup"]

CUDA_HOME: str | None = None  # no CUDA compiler is called
FOLDER_VARIABLE = "PADDLE_EXTENSION_DIR"
_HANDLER = re.compile(r"XLA_FFI_DEFINE_HANDLER(?:_SYMBOL|_AUTO)?\s*\(\s*(\w+)\s*,")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
MAX_LINES = 30  # of the compiler's output


class CompileError(RuntimeError):
    """The compiler refused a source, or there is none."""


@no_effect(extra_cuda_cflags=Immaterial("sources for CUDA are refused"))
def load(
    name: str,
    sources: Sequence[str] | str,
    extra_cxx_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    extra_library_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
    extra_libraries: Sequence[str] | None = None,
) -> Library:
    """Compile sources, unless that was done before, and load their operators.

    They work in eager code, in programs and in saved models; a process that runs a saved model has to load the library
    first. They run on the CPU.

    Arguments:
        name: of the library; programs know its operators as name.operator.
        sources: C++ files, each with handlers of XLA's foreign function interface.
        extra_cxx_cflags, extra_ldflags: further flags for compiling and linking.
        extra_include_paths, extra_library_paths, extra_libraries: where further headers and libraries are, and which.
        build_directory: where the library is kept; see get_build_directory().
        verbose: print the command.

    Returns:
        The library: handler `f` is its attribute `f`, with the gradient `f_grad` if that is there; define() makes
        operators with other results.

    Raises:
        CompileError: if the compiler refuses, with what it says; or if there is no compiler.
        FileNotFoundError: if a source is not there.
        NotImplementedError: for CUDA sources, and sources for Paddle's own C++ library.
        RuntimeError: if another library was loaded under the name.
    """
    files = [Path(s) for s in ([sources] if isinstance(sources, str | Path) else sources)]
    texts = [_source(name, f) for f in files]
    handlers = [h for text in texts for h in _HANDLER.findall(_COMMENT.sub(" ", text))]
    if not handlers:
        raise CompileError(
            f"cpp_extension '{name}': {', '.join(map(str, files))} holds no operator: end each with "
            "XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)"
        )
    includes = [f"-I{p}" for p in extra_include_paths or ()]
    links = [f"-L{p}" for p in extra_library_paths or ()] + [f"-l{p}" for p in extra_libraries or ()]
    flags = [*includes, *(extra_cxx_cflags or ()), *links, *(extra_ldflags or ())]
    folder = Path(build_directory or get_build_directory())
    return Library(name, str(_built(name, files, texts, flags, folder, verbose)), handlers)


def load_op_meta_info_and_register_op(lib_filename: str, *more: Any, **settings: Any) -> list[str]:
    """Not available: operators in libraries that were compiled against Paddle.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        f"cpp_extension: {lib_filename} was compiled against Paddle's own library; compile its sources with load(), or "
        "write the operators with JAX (utils.custom_op)"
    )


_jit_compile = _import_module_from_library = load_op_meta_info_and_register_op


def get_build_directory(verbose: bool = False) -> str:
    """Where libraries are kept: PADDLE_EXTENSION_DIR, or a folder in the user's cache; a new one if that is off."""
    chosen, cache = os.environ.get(FOLDER_VARIABLE), cache_dir()
    folder = chosen or (tempfile.mkdtemp() if cache is None else str(cache.parent / "extensions"))
    if verbose:
        print(f"extensions are built in {folder}")
    return folder


def _source(name: str, file: Path) -> str:
    if file.suffix in (".cu", ".cuh"):
        raise _no_cuda(str(file))
    if not file.is_file():
        raise FileNotFoundError(f"cpp_extension '{name}': source {file} is not there")
    text = file.read_text()
    if re.search(r'#\s*include\s*["<]paddle/', text):
        raise NotImplementedError(
            f"cpp_extension '{name}': {file} is written against Paddle's own C++ library, which is not here; write it "
            'against #include "xla/ffi/api/ffi.h" (docs/passes.md shows how), or with utils.custom_op'
        )
    return text


def _no_cuda(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"cpp_extension: {what}: operators in CUDA are not available; on a GPU, write the operator with JAX "
        "(utils.custom_op), where a Pallas kernel may be called"
    )


def _built(name: str, files: list[Path], texts: list[str], flags: list[str], folder: Path, verbose: bool) -> Path:
    """Return the library, compiled if it is not there; its name tells what it was made of."""
    compiler = _compiler(name)
    facts = [JAXLIB, compiler, *flags, *texts]
    digest = hashlib.sha256("\0".join(facts).encode()).hexdigest()[:16]
    path = _private(folder) / f"{name}-{digest}.so"
    if path.is_file():
        return path
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".so")
    os.close(handle)
    command = [
        *compiler.split(), "-O2", "-std=c++17", "-shared", "-fPIC", "-isystem", jax.ffi.include_dir(),
        *map(str, files), *flags, "-o", temporary,
    ]  # fmt: skip
    if verbose:
        print(" ".join(command))
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        os.unlink(temporary)
        said = "\n".join(done.stderr.splitlines()[:MAX_LINES])
        raise CompileError(f"cpp_extension '{name}': {command[0]} refuses {', '.join(map(str, files))}:\n{said}")
    os.replace(temporary, path)
    return path


def _private(folder: Path) -> Path:
    """Return the folder of libraries that this process loads; a new one, with a warning, if others can write to it."""
    try:
        return private_folder(folder, closed=False)
    except NotPrivateError as e:
        warnings.warn(f"cpp_extension: libraries are compiled again in each process: {e}", stacklevel=4)
        return Path(tempfile.mkdtemp())


def _compiler(name: str) -> str:
    chosen = os.environ.get("CXX")
    found = chosen or next((c for c in ("g++", "clang++", "c++") if shutil.which(c)), None)
    if found is None or shutil.which(found.split()[0]) is None:
        what = f"CXX={chosen} is not there" if chosen else "g++, clang++ and c++ are not there"
        raise CompileError(f"cpp_extension '{name}': no C++ compiler was found ({what}); install one, or set CXX")
    return found


_OF_SETUPTOOLS = {
    "extra_link_args": "extra_ldflags",
    "include_dirs": "extra_include_paths",
    "library_dirs": "extra_library_paths",
    "libraries": "extra_libraries",
}


# -- packages ------------------------------------------------------------------------------------------------------
def CppExtension(sources: Sequence[str], *args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: N802  (the reference's name)
    """The sources of a library, and options of load(), for setup(); those of setuptools.Extension are taken for these.

    Raises:
        TypeError: for other arguments.
    """
    flags = kwargs.pop("extra_compile_args", None)
    options = {"extra_cxx_cflags": flags.get("cxx") if isinstance(flags, dict) else flags}
    options |= {new: kwargs.pop(old, None) for old, new in _OF_SETUPTOOLS.items()}
    kwargs.pop("language", None)  # C++ in any case
    known = [n for n in inspect.signature(load).parameters if n.startswith("extra_")]
    nothing_more(CppExtension, args, {k: v for k, v in kwargs.items() if k not in known})
    return {"sources": list(sources)} | {k: v for k, v in (options | kwargs).items() if v is not None}


def CUDAExtension(sources: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802  (the reference's name)
    """Not available.

    Raises:
        NotImplementedError: always, with what to use instead.
    """
    raise _no_cuda("CUDAExtension")


class BuildExtension:
    """Accepted for compatibility: the library is compiled by load()."""

    @classmethod
    @no_effect(options=Immaterial("load() compiles, by options of its own"))
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """Itself."""
        return cls


_PACKAGE = '''"""Operators of {name}."""

import os

from paddle_lite_py.utils.cpp_extension import load

_folder = os.path.dirname(os.path.abspath(__file__))
_library = load("{name}", [os.path.join(_folder, s) for s in {sources}], **{options})


def __getattr__(name):
    return getattr(_library, name)
'''


def setup(**attr: Any) -> None:
    """Build and install a package with the operators of an extension, as setuptools.setup() does with these arguments.

    The package, named `name`, holds the sources, which are compiled (and so checked) here, and again on a machine with
    another JAX when it is imported there.

    Raises:
        ValueError: if there is no name, or not one extension.
        ImportError: without setuptools.
        CompileError: as load() does.
    """
    name, modules = attr.pop("name", None), attr.pop("ext_modules", None)
    extensions = modules if isinstance(modules, list | tuple) else [modules]
    if not name or len(extensions) != 1 or not isinstance(extensions[0], dict):
        raise ValueError("cpp_extension.setup: pass name='...' and ext_modules=CppExtension(sources=[...])")
    try:
        import setuptools
    except ModuleNotFoundError:
        raise ImportError("cpp_extension.setup needs setuptools: pip install setuptools; load() does without") from None
    options = {k: v for k, v in extensions[0].items() if k != "sources"}
    sources = [Path(s) for s in extensions[0]["sources"]]
    load(name, [str(s) for s in sources], **options)
    folder = Path("build") / "extension" / name
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        shutil.copy(source, folder / source.name)
    text = _PACKAGE.format(name=name, sources=[s.name for s in sources], options=options)
    (folder / "__init__.py").write_text(text)
    attr["cmdclass"] = {k: v for k, v in (attr.get("cmdclass") or {}).items() if v is not BuildExtension}
    kept = {"packages": [name], "package_dir": {name: str(folder)}, "package_data": {name: [s.name for s in sources]}}
    setuptools.setup(name=name, **kept, **attr)
