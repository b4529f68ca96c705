"""The campaign: an oracle, a generator of cases, and laws, against which panconv is run (`make fuzz`)."""
