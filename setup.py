"""Build the compiled kernels.

Every kernel is optional: where there is no compiler the install goes on without it and the plain twin of
the kernel (``manylabel/kernels/*_reference.py``) does the work. ``manylabel --version`` says which is active.
"""

import os
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SANITIZERS = (
    ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    if os.environ.get("MANYLABEL_SANITIZE")
    else []
)
FLAGS = ["/O2"] if os.name == "nt" else ["-O3", "-ffp-contract=off"]
"""Without fused multiply-add, which ARM has, the kernels equal their plain twins to the bit on every processor."""


class BuildWhatCompiles(build_ext):
    """Build each kernel that can be built and go on without the others, whatever the compiler's complaint."""

    def finalize_options(self) -> None:
        """As many kernels at a time as there are cores."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extension(self, ext: Extension) -> None:
        """Build one kernel, or say that its plain twin will do the work."""
        try:
            super().build_extension(ext)
        except Exception as error:
            self.warn(f"{ext.name} could not be compiled ({error}); its plain twin will do the work")


def kernels() -> list[Extension]:
    """One extension per ``.pyx`` file, or none when MANYLABEL_NO_KERNELS is set or Cython is missing.

    With MANYLABEL_SANITIZE (``make sanitize``) they check every access to memory, which makes them slow.
    """
    if os.environ.get("MANYLABEL_NO_KERNELS"):
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    extensions = [
        Extension(
            ".".join(Path(path).with_suffix("").parts[1:]),
            [path],
            extra_compile_args=SANITIZERS or FLAGS,
            extra_link_args=SANITIZERS,
            optional=True,  # a missing file after a failed build is no error either
        )
        for path in sorted(glob("src/manylabel/kernels/*.pyx"))
    ]
    return cythonize(
        extensions,
        compiler_directives={
            "language_level": 3,
            "boundscheck": bool(SANITIZERS),
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    )


setup(ext_modules=kernels(), cmdclass={"build_ext": BuildWhatCompiles})
