"""PaddleTS: forecasts of a series by seven networks, anomalies by an autoencoder; saved, loaded, and measured."""

import random

import numpy as np
import old_python  # noqa: F401
import pandas as pd
import trial
from paddlets import TSDataset
from paddlets.metrics import MAE, MSE
from paddlets.models.anomaly import AutoEncoder
from paddlets.models.forecasting import (
    LSTNetRegressor,
    MLPRegressor,
    NBEATSModel,
    NHiTSModel,
    RNNBlockRegressor,
    TCNRegressor,
    TransformerModel,
)
from paddlets.models.model_loader import load
from paddlets.transform import StandardScaler

rng = np.random.RandomState(0)
hours = pd.date_range("2024-01-01", periods=160, freq="h")
wave = np.sin(np.arange(160) / 4) + 0.1 * rng.standard_normal(160)
frame = pd.DataFrame({"load": wave.astype("float32")}, index=hours)
series = TSDataset.load_from_dataframe(frame, target_cols="load")
whole = StandardScaler().fit_transform(series)
train, after = whole.split(120)
known, _ = after.split(6)


KINDS = [LSTNetRegressor, RNNBlockRegressor, TCNRegressor, NHiTSModel, NBEATSModel, TransformerModel]
FITTED = {"batch_size": 32, "max_epochs": 2, "optimizer_params": {"learning_rate": 1e-4}, "seed": 7}


def same(make):
    """A method that makes a network, with the same weights everywhere and no dropout."""

    def made(self):
        net = make(self)
        trial.start_from(net, 1, gain=1.0)
        trial.without_dropout(net)
        return net

    return made


for kind in (MLPRegressor, AutoEncoder, *KINDS):
    kind._init_network = same(kind._init_network)


def fitted(kind):
    random.seed(7)
    np.random.seed(7)
    model = kind(in_chunk_len=24, out_chunk_len=6, **FITTED)
    model.fit(train)
    return model


def first():
    return fitted(MLPRegressor).predict(train).to_dataframe().to_numpy().mean()


def forecasts():
    found = []
    for kind in KINDS:
        found += trial.numbers(fitted(kind).predict(train).to_dataframe().to_numpy())
    return found


def saved():
    model = fitted(MLPRegressor)
    model.save("mlp")
    again = load("mlp")
    forecast = again.predict(train)
    errors = [metric(known, forecast)["load"] for metric in (MAE(), MSE())]
    more = again.recursive_predict(train, 12)
    return [*trial.numbers([forecast.to_dataframe().to_numpy(), more.to_dataframe().to_numpy()]), *errors]


def anomalies():
    np.random.seed(7)
    frame = pd.DataFrame({"load": wave.astype("float32")}, index=hours)
    features = TSDataset.load_from_dataframe(frame, feature_cols="load")
    model = AutoEncoder(in_chunk_len=16, max_epochs=2, batch_size=32, seed=7)
    model.fit(features)
    scores = model.predict_score(features).to_dataframe().to_numpy()
    return [*trial.numbers(scores), scores.max()]


trial.report(first, steps=1, more=lambda: [*forecasts(), *saved(), *anomalies()])
