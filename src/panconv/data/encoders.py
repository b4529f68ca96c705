"""Columns made into numbers by scikit-learn's transformers: what each kind learns from some nodes, and does to any.

What was learned is a few numbers and words per column, so it is kept as plain JSON: the file can be read by eye, runs
nothing, and outlives releases of scikit-learn. (A pickle runs code. skops keeps whole objects, which one must then
trust type by type, and which a later scikit-learn may no longer take.) From it the transformers are made anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

MOST_WORDS = 2000  # of a column of text
_MOST = (
    1e30  # numbers beyond are taken for this one: float32 has no room for their like, float64 none for their squares
)
_NONE = "\0"  # stands for no value: no cell holds a zero byte, so it is never a category


@dataclass(frozen=True)
class Numbers:
    """Gaps get the median, then mean 0 and deviation 1; a column that had gaps tells where, in one more column.

    Args:
        medians, means, scales: (k,), one of each per column.
        gaps: which columns had gaps.
    """

    medians: list[float]
    means: list[float]
    scales: list[float]
    gaps: list[int]

    @classmethod
    def fit(cls, values: np.ndarray) -> Numbers:  # (n, k), NaN where there is none
        values = np.clip(values, -_MOST, _MOST)
        medians = np.nan_to_num(SimpleImputer(strategy="median", keep_empty_features=True).fit(values).statistics_)
        scaler = StandardScaler().fit(np.where(np.isnan(values), medians, values))
        gaps = np.flatnonzero(np.isnan(values).any(0)).tolist()
        return cls(medians.tolist(), scaler.mean_.tolist(), scaler.scale_.tolist(), gaps)

    def transform(self, values: np.ndarray) -> np.ndarray:
        if not values.shape[1]:
            return values
        scaler = StandardScaler()
        scaler.mean_, scaler.scale_ = np.array(self.means), np.array(self.scales)
        scaler.n_features_in_ = len(self.means)
        missing, values = np.isnan(values), np.clip(values, -_MOST, _MOST)
        found = np.clip(scaler.transform(np.where(missing, self.medians, values)), -_MOST, _MOST)
        return np.concatenate([found, missing[:, self.gaps]], 1)

    def names(self, columns: Sequence[str]) -> list[str]:
        return [*columns, *(f"{columns[place]} is missing" for place in self.gaps)]


@dataclass(frozen=True)
class Counts:
    """Numbers that are mostly 0 are divided by the largest, so that 0 stays 0 and they take little memory."""

    scales: list[float]
    gaps: ClassVar[tuple[int, ...]] = ()  # a gap is 0

    @classmethod
    def fit(cls, values: sp.csr_matrix) -> Counts:  # (n, k)
        return cls(MaxAbsScaler().fit(values).scale_.tolist())

    def transform(self, values: sp.csr_matrix) -> sp.csr_matrix:
        scaler = MaxAbsScaler()
        scaler.scale_, scaler.n_features_in_ = np.array(self.scales), len(self.scales)
        return scaler.transform(values)

    def names(self, columns: Sequence[str]) -> list[str]:
        return [*columns]


@dataclass(frozen=True)
class Categories:
    """A column of 0 and 1 per category. One that was not there to learn from, and none, is 0 in all of them."""

    categories: list[str]
    scales: ClassVar[tuple[float, ...]] = ()
    gaps: ClassVar[tuple[int, ...]] = ()

    @classmethod
    def fit(cls, values: np.ndarray) -> Categories:  # (n,) texts
        return cls(sorted({each for each in values if each is not None}))

    def transform(self, values: np.ndarray) -> sp.csr_matrix:
        if not self.categories:
            return sp.csr_matrix((len(values), 0))
        encoder = OneHotEncoder(categories=[np.array(self.categories, object)], handle_unknown="ignore")
        encoder.fit(np.array([self.categories[:1]], object))
        return encoder.transform(np.array([[_NONE if each is None else each] for each in values], object))

    def names(self, column: str) -> list[str]:
        return [f"{column} = {each}" for each in self.categories]


@dataclass(frozen=True)
class Words:
    """TF-IDF of the most frequent words; other words are passed over."""

    words: list[str]
    idf: list[float]
    scales: ClassVar[tuple[float, ...]] = ()
    gaps: ClassVar[tuple[int, ...]] = ()

    @classmethod
    def fit(cls, values: np.ndarray) -> Words:  # (n,) texts
        vectorizer = _vectorizer(max_features=MOST_WORDS)
        try:
            vectorizer.fit([each or "" for each in values])
        except ValueError:  # there is no word in them
            return cls([], [])
        return cls(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_.tolist())

    def transform(self, values: np.ndarray) -> sp.csr_matrix:
        if not self.words:
            return sp.csr_matrix((len(values), 0))
        vectorizer = _vectorizer(vocabulary=self.words)
        vectorizer.idf_ = np.array(self.idf)
        return vectorizer.transform([each or "" for each in values])

    def names(self, column: str) -> list[str]:
        return [f"{column}: {word}" for word in self.words]


def _vectorizer(**options: Any) -> TfidfVectorizer:
    return TfidfVectorizer(sublinear_tf=True, strip_accents="unicode", **options)


def date_parts(days: np.ndarray) -> np.ndarray:
    """A date as numbers: days since 1970, and its place in the year on a circle, (N, 3)."""
    season = 2 * np.pi * days / 365.2425
    return np.stack([days, np.sin(season), np.cos(season)], 1)
