"""Complement naive Bayes: each label is modelled by the documents without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.estimator import rows_of_cells
from manylabel.models.count_model import CountModel, LabelTermCounts
from manylabel.models.linear_scores import LinearScores, by_term
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import FLAG, Constraint, Number, OneOf


class ComplementNaiveBayes(CountModel):
    """Scores that are larger the worse a document fits the documents *without* the label.

    s_c = Σ_w x_w w_cw,   w_cw = −log θ_~cw,   θ_~cw = (α + Σ_{d not in c} x_dw) / (α V + Σ_{d not in c} Σ_w x_dw)

    and, with `normalise`, w_cw divided by Σ_w |w_cw|. Scores are similarities: larger is better, without a natural
    zero, so `predict` returns the one best label and any rule that learns its threshold returns a set. There is no
    prior. Source: Rennie, Shih, Teevan & Karger 2003, cited by Lee 2018.

    A document is "not in c" when it does not carry c, however many other labels it has; documents without any label
    count too with ``unlabelled="negative"``. A label never seen scores −∞; an empty document scores 0.

    Deviation from scikit-learn: weights are normalised by default, as in the paper; the two can disagree.

    >>> X = np.array([[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]])
    >>> y, query = ["yes", "yes", "yes", "no"], [[3, 0, 0, 0, 1, 1]]
    >>> ComplementNaiveBayes().fit(X, y).scores(query).round(6).tolist()
    [[0.653675, 0.677274]]
    >>> ComplementNaiveBayes(normalise=False).fit(X, y).scores(query).round(4).tolist()
    [[7.82, 7.5204]]
    """

    score_kind = ScoreKind.SIMILARITY
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "alpha": Number(low=0, open_low=True),
        "normalise": FLAG,
        "unlabelled": OneOf("negative", "ignore"),
    }

    def __init__(
        self, alpha: float = 1.0, normalise: bool = True, unlabelled: Literal["negative", "ignore"] = "negative"
    ) -> None:
        self.alpha = alpha
        self.normalise = normalise
        self.unlabelled = unlabelled

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """−log θ as background plus sparse difference.

        log θ_~cw = log(T_w + α) + log(1 − N_cw/(T_w + α)) − log(T_+ − N_c+ + αV), T the words of all documents
        """
        counts, alpha = table.label_terms, self.alpha
        total = table.labelled_terms + (table.unlabelled_terms if self.unlabelled == "negative" else 0.0)
        label = rows_of_cells(counts)
        mass = np.log(np.maximum(total.sum() - table.label_totals, 0.0) + alpha * len(total))
        all_words = total[counts.indices]
        values = np.log(all_words + alpha) - np.log(np.maximum(all_words - counts.data, 0.0) + alpha)
        words = -np.log(total + alpha)
        # every θ is below 1, so |w| = w; a vocabulary of one term has θ = 1 and carries no evidence
        scale = np.full(len(mass), float(len(total) > 1))
        if self.normalise and len(total) > 1:
            scale = 1.0 / (words.sum() + len(total) * mass + np.bincount(label, weights=values, minlength=len(mass)))
        return LinearScores(
            intercept=np.where(table.label_documents > 0, 0.0, -np.inf),
            background=np.column_stack([words, np.ones(len(total))]),
            loadings=np.vstack([scale, mass * scale]),
            difference=by_term(values * scale[label], counts),
        )
