"""A scikit-learn pipeline behind FastAPI, as tutorials write it: what manylabel serve is measured against."""

from __future__ import annotations

import json
import os
from pathlib import Path

from fastapi import FastAPI
from pydantic import BaseModel
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

data = json.loads(Path(os.environ["SERVING_DATA"]).read_text())
binarizer = MultiLabelBinarizer()
pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), OneVsRestClassifier(LinearSVC()))
pipeline.fit(data["texts"], binarizer.fit_transform(data["labels"]))
app = FastAPI()


class Document(BaseModel):
    text: str


class Prediction(BaseModel):
    labels: list[str]


@app.get("/health")
def health() -> dict[str, str]:
    return {"status": "ok"}


@app.post("/predict")
def predict(document: Document) -> Prediction:
    [labels] = binarizer.inverse_transform(pipeline.predict([document.text]))
    return Prediction(labels=list(labels))
