"""What the paper says, line by line, and how each line is judged: by a test, or by the records of our runs."""
