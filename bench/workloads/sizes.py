"""Sizes of the workloads: HiBench's tiny and small, and "here", which two processors do in a minute."""

# HiBench's text is bytes: a line of ours has 75 of them, a row of terasort 100.
LINE_BYTES = 75
SIZES = {
    "wordcount": {
        "tiny": {"lines": 32_000 // LINE_BYTES},
        "small": {"lines": 320_000_000 // LINE_BYTES},
        "here": {"lines": 60_000},
    },
    "sort": {
        "tiny": {"lines": 32_000 // LINE_BYTES},
        "small": {"lines": 3_200_000 // LINE_BYTES},
        "here": {"lines": 60_000},
    },
    "terasort": {"tiny": {"rows": 32_000}, "small": {"rows": 3_200_000}, "here": {"rows": 60_000}},
    "kmeans": {
        "tiny": {"points": 30_000, "dimensions": 3, "clusters": 10, "rounds": 5},
        "small": {"points": 3_000_000, "dimensions": 20, "clusters": 10, "rounds": 5},
        "here": {"points": 60_000, "dimensions": 20, "clusters": 10, "rounds": 5},
    },
    "bayes": {
        "tiny": {"pages": 25_000, "classes": 10},
        "small": {"pages": 30_000, "classes": 100},
        "here": {"pages": 6_000, "classes": 10},
    },
    "lr": {
        "tiny": {"examples": 100, "features": 1_000},
        "small": {"examples": 1_000, "features": 10_000},
        "here": {"examples": 60_000, "features": 20},
    },
    "svm": {
        "tiny": {"examples": 1_000, "features": 1_000, "rounds": 100},
        "small": {"examples": 10_000, "features": 10_000, "rounds": 100},
        "here": {"examples": 60_000, "features": 20, "rounds": 60},
    },
    "pca": {
        "tiny": {"examples": 10, "features": 10, "components": 3},
        "small": {"examples": 100, "features": 100, "components": 10},
        "here": {"examples": 60_000, "features": 20, "components": 3},
    },
    "nweight": {
        "tiny": {"edges": 100_000, "degree": 3},
        "small": {"edges": 1_000_000, "degree": 3},
        "here": {"edges": 30_000, "degree": 3},
    },
    "pagerank": {
        "tiny": {"pages": 50, "rounds": 1},
        "small": {"pages": 5_000, "rounds": 3},
        "here": {"pages": 20_000, "rounds": 3},
    },
    "aggregation": {
        "tiny": {"visits": 1_000, "pages": 120},
        "small": {"visits": 100_000, "pages": 12_000},
        "here": {"visits": 200_000, "pages": 12_000},
    },
}
SIZES["join"] = SIZES["scan"] = SIZES["aggregation"]
# The percentage of its data that the first partition has, and in how many even parts it is to be written anew; 0:
# neither.
for name in ("lr", "svm", "nweight"):
    for numbers in SIZES[name].values():
        numbers.update(skew=0, even=0)
# Its data comes from tpchgen-cli: the number of the query, and the scale in thousandths.
SIZES["tpch"] = {
    "tiny": {"query": 6, "scale": 1},
    "small": {"query": 6, "scale": 1_000},
    "here": {"query": 6, "scale": 20},
}
NAMES = list(SIZES)
SIZE_NAMES = ["tiny", "small", "here"]
