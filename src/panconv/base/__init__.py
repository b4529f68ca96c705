"""What everything stands on: checks of arguments, files, tracing, differentiation, keyed randomness."""
