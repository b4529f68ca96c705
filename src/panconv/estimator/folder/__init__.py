"""A fitted estimator as a folder of plain files, and back: what is in them, and how they are read without trust."""
