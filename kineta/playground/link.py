"""Links that carry a model."""

from __future__ import annotations

import base64
import zlib


def fragment(text: str) -> str:
    """The part of a link from ``#`` on that carries a *text*, deflated, as ``app/link.js`` reads it."""
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    packed = packer.compress(text.encode()) + packer.flush()
    return f"#model={base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
