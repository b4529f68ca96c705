"""The paper's tables: which trainings they need, and how to run them."""
