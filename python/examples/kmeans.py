"""Cluster a table by the columns that explain the others: python3 kmeans.py data.csv 10"""

import sys

import pandas as pd
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufs_stream import UFSSelector

path, clusters = sys.argv[1], int(sys.argv[2])
frame = pd.read_csv(path).select_dtypes("number")
pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), UFSSelector(k="auto"), KMeans(clusters, n_init=5))
labels = pipeline.fit_predict(frame)

selector = pipeline[1]
print("chosen:", ", ".join(selector.get_feature_names_out()))
print(pd.Series(labels).value_counts().to_string())
