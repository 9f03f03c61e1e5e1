"""The command ``kineta``, also ``python -m kineta``: it listens to signals before anything else is imported."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: What a shell gives for a command that Ctrl-C ends.
_INTERRUPTED = 130


def main() -> None:
    """Entry point. Ctrl-C and SIGTERM end what is going on in an orderly way, with codes 130 and 143; an import at once."""
    code = _INTERRUPTED
    try:
        import signal

        def interrupt(number: int, frame: Any) -> None:
            nonlocal code
            code = 128 + number
            if _importing(frame):
                _leave(code)
            raise KeyboardInterrupt

        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, interrupt)
        from kineta.cli.main import main as run

        run()
    except SystemExit as left:
        raise SystemExit(code if left.code == _INTERRUPTED else left.code) from None
    except KeyboardInterrupt:
        _leave(code)


def _importing(frame: Any) -> bool:
    """Whether a module is being imported at *frame*: an interruption there may be lost, or turn into another error."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _leave(code: int) -> None:
    """End the process at once; nothing is half done."""
    import os

    sys.stderr.write("kineta: Interrupted.\n")
    os._exit(code)


if __name__ == "__main__":
    main()
