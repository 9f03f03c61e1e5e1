"""The command ``kineta``, also ``python -m kineta``: it listens to signals before anything else is imported."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event
    from typing import Any

#: What a shell gives for a command that Ctrl-C ends.
_INTERRUPTED = 130
#: Objects made between two collections of garbage: a command ends before its cycles matter, and imports make objects that stay.
_GARBAGE = 500_000
#: Work after which a signal is late that Python has not seen [s]: it is within machine code, such as that of a compiler.
_PATIENCE = 0.5


def main() -> None:
    """Entry point. Ctrl-C and SIGTERM end what is going on in an orderly way, with codes 130 and 143; an import at once."""
    code = _INTERRUPTED
    try:
        import signal
        from threading import Event

        seen = Event()

        def interrupt(number: int, frame: Any) -> None:
            nonlocal code
            seen.set()
            sys.unraisablehook = _ending
            code = 128 + number
            if _importing(frame):
                _leave(code)
            raise KeyboardInterrupt

        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, interrupt)
        _watch(seen)
        sys.unraisablehook = _lost
        gc.set_threshold(_GARBAGE)
        # Matrices of a mechanism are small: threads of linear algebra would only wait, which is work for a processor as well.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from kineta.cli.main import main as run

        run()
    except SystemExit as left:
        raise SystemExit(code if left.code == _INTERRUPTED else left.code) from None
    except KeyboardInterrupt:
        _leave(code)
    finally:
        gc.freeze()  # what is left goes with the process: Python would look at every object once more


def _importing(frame: Any) -> bool:
    """Whether a module is being imported at *frame*: an interruption there may be lost, or turn into another error."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _watch(seen: Event) -> None:
    """Leave where a signal is not *seen* in time."""
    import signal
    import time
    from threading import Thread

    source, target = os.pipe()
    os.set_blocking(target, False)
    signal.set_wakeup_fd(target, warn_on_full_buffer=False)

    def wait() -> None:
        while given := os.read(source, 1):
            began = time.process_time()
            while not seen.wait(0.05):
                if time.process_time() - began > _PATIENCE:
                    _leave(128 + given[0])
            seen.clear()

    Thread(target=wait, daemon=True).start()


def _lost(error: Any) -> None:
    """Leave where an interruption came in code whose errors Python only tells of, such as that of an object that goes."""
    _ending(error)
    sys.__unraisablehook__(error)


def _ending(error: Any) -> None:
    """The same once there was an interruption: nothing is said of objects that it left half made."""
    if issubclass(error.exc_type, KeyboardInterrupt):
        _leave(_INTERRUPTED)


def _leave(code: int) -> None:
    """End the process at once; nothing is half done."""
    sys.stderr.write("kineta: Interrupted.\n")
    os._exit(code)


if __name__ == "__main__":
    main()
