"""The kinds of head that an estimator may be asked for, by name: said without torch, so that a typo costs no time."""

HEADS = ("linear", "pan", "auto")
