"""The inks of all pictures, drawn and on the page. Never imports matplotlib."""

BLUE, DARK_BLUE, PALE_BLUE = "#1f6fb4", "#1f4e79", "#9cc3e6"  # ours: marks, lines, bands and bars
ORANGE = "#c65911"  # what ours is held against
GREY = "#7d8894"  # everything else

MODELS = {"PAN": BLUE, "GCN": ORANGE}
WALKS = {"generic": ORANGE, "maximal-entropy": DARK_BLUE, "classes": GREY}


def sheer(ink: str, opacity: float) -> str:
    """The ink as CSS writes it with an opacity.

    >>> sheer(BLUE, 0.22)
    'rgba(31,111,180,0.22)'
    """
    return f"rgba({','.join(str(part) for part in bytes.fromhex(ink[1:]))},{opacity:g})"
