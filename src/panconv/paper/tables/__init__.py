"""The paper's tables: which trainings they need, and how they come out again."""
