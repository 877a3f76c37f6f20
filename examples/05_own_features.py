"""Use the models directly: your own sparse features in, scores out, with scikit-learn's interface."""

import numpy as np
from scipy import sparse

from manylabel.models import LinearSVM
from manylabel.strategies import ClassifierChain

# Any non-negative or signed features will do. Here: 200 documents, 50 features, 3 labels that depend on a feature each.
rng = np.random.default_rng(0)
X = sparse.csr_array(rng.random((200, 50)) * (rng.random((200, 50)) < 0.2))
Y = (X[:, :3].toarray() > 0).astype(int)

# X is documents × features, Y is documents × labels, both sparse or dense.
model = LinearSVM(C=10.0).fit(X[:150], Y[:150])
scores = model.decision_function(X[150:])
print("scores:", scores.shape, "kind:", model.score_kind.name.lower())
print("correct cells:", round(float((model.predict(X[150:]) == Y[150:]).mean()), 2))

# A strategy works over any model. In a chain, each label sees the labels before it.
chain = ClassifierChain(LinearSVM(C=10.0)).fit(X[:150], Y[:150])
print("correct cells of the chain:", round(float((chain.predict(X[150:]) == Y[150:]).mean()), 2))
