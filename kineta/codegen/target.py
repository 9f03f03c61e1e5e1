"""The target machine of code generation: the host."""

from __future__ import annotations

from functools import cache
from typing import Any

from kineta.records import dataclass
from kineta.threads import hold_forks


@cache
def llvm() -> Any:
    """Llvmlite's door to LLVM, which is imported when something is compiled: what only writes code has no need of it."""
    from llvmlite import binding

    # llvmlite's own lock: a process forked while a thread is inside LLVM could never enter it.
    hold_forks(binding.ffi.lib._lock._lock)
    return binding


@dataclass(frozen=True, slots=True)
class Target:
    """Target triple, processor, features, and vector width in doubles."""

    triple: str
    cpu: str
    features: str
    width: int

    @property
    def registers(self) -> int:
        """Number of vector registers."""
        return 32 if self.width == 8 or self.triple.startswith(("aarch64", "arm64")) else 16

    @property
    def fuses(self) -> bool:
        """Whether the processor rounds a b + c once."""
        return "+fma" in self.features or "+neon" in self.features

    @property
    def signature(self) -> str:
        """Text that identifies the target in keys of the cache."""
        import llvmlite

        return f"{self.triple} {self.cpu} {self.features} {self.width} llvmlite {llvmlite.__version__}"


@cache
def host() -> Target:
    """The target of the machine that runs this process."""
    binding = llvm()
    features = binding.get_host_cpu_features()
    width = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
    return Target(binding.get_process_triple(), binding.get_host_cpu_name(), features.flatten(), width)


@cache
def machine() -> Any:
    """LLVM's code generator for this machine.

    Level 1: higher levels gain nothing on straight-line code that has no repeated sub-expressions.
    """
    binding = llvm()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    this = host()
    target = binding.Target.from_triple(this.triple)
    return target.create_target_machine(
        cpu=this.cpu, features=this.features, opt=1, reloc="pic", codemodel="small", jit=True
    )
