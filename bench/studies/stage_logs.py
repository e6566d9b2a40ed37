"""Operation logs of stages whose pattern is known, as the Byteman rules write them.

Means and deviations are those of table 11, times a factor for each stage; how operations move together is what the
thesis' figures 21 to 27 show of each pattern, for the correlations were not printed:

    A, B, C  every operation on its own
    D        two operations wait for the same thing, in amounts of their own; the others go on their own
    E, F     single instances (one to three of a stage) of the last operation are far above all others
    G        a pipeline's size stretches all of its operations alike
"""

import math

RDD = "org.apache.spark.rdd."
NOISE = 0.05
LEAST_PIPELINES, MOST_PIPELINES = 24, 96
SLOTS = 8
BEGIN_MS = 1_790_000_000_000

# (class, mean, deviation) in ms, in the order of the pipeline.
TABLE_11 = {
    "A": [
        ("HadoopRDD", 1498.0, 111.0),
        ("MapPartitionsRDD", 7.5, 0.5),
        ("MapPartitionsRDD", 2.0, 0.0),
        ("MapPartitionsRDD", 2.5, 0.5),
        ("MapPartitionsRDD", 7.5, 0.51),
    ],
    "B": [("ShuffledRDD", 79.76, 102.41), ("MapPartitionsRDD", 9.74, 15.15)],
    "C": [
        ("NewHadoopRDD", 1535.54, 703.67),
        ("MapPartitionsRDD", 15.96, 6.64),
        ("MapPartitionsRDD", 6.88, 9.18),
        ("MapPartitionsRDD", 13.75, 12.05),
        ("MapPartitionsRDD", 6815.88, 3251.3),
    ],
    "D": [("NewHadoopRDD", 18.0, 7.57), ("MapPartitionsRDD", 6.33, 4.77)],
    "E": [("MapPartitionsRDD", 3750.64, 1427.06), ("ShuffledRDD", 22.56, 106.25)],
    "F": [
        ("ShuffledRDD", 8.14, 27.75),
        ("MapPartitionsRDD", 10.5, 22.58),
        ("ShuffledRDD", 380.54, 192.45),
        ("MapPartitionsRDD", 864.5, 340.42),
        ("ZippedPartitionsRDD2", 112.45, 649.64),
    ],
    "G": [
        ("PartitionwiseSampledRDD", 1.54, 1.53),
        ("MapPartitionsRDD", 3.22, 6.1),
        ("MapPartitionsRDD", 8.18, 9.46),
        ("MapPartitionsRDD", 1.8, 0.96),
    ],
}
LETTERS = list(TABLE_11)


def lognormal(draw, mean, deviation):
    """One with this mean and deviation."""
    variance = math.log1p((deviation / mean) ** 2) if mean > 0 else 0
    return mean * math.exp(draw.gauss(0, math.sqrt(variance)) - variance / 2)


def alone(draw, operations, pipelines):
    return [[lognormal(draw, mean, deviation) for _, mean, deviation in operations] for _ in range(pipelines)]


def single_instances(draw, operations, pipelines):
    """The last operation's mean and deviation come from one to three instances."""
    times = alone(draw, [*operations[:-1], (operations[-1][0], 1.0, 0.2)], pipelines)
    _, mean, deviation = operations[-1]
    few = draw.randint(1, 3) if pipelines >= 60 else draw.randint(1, 2) if pipelines >= 40 else 1
    share = few / pipelines
    high = deviation / math.sqrt(share * (1 - share))
    usual = max(0.02 * mean, mean - share * high)
    for row in times:
        row[-1] *= usual
    for row in draw.sample(times, few):
        row[-1] = high * draw.uniform(0.8, 1.2)
    return times


def together(draw, operations, pipelines):
    times = []
    for _ in range(pipelines):
        wait = draw.gammavariate(1.5, 1 / 1.5)
        times.append(
            [
                max(0.02 * mean, mean - deviation) * draw.uniform(0.7, 1.3) + deviation * wait
                for _, mean, deviation in operations
            ]
        )
    return times


def in_proportion(draw, operations, pipelines):
    spread = draw.uniform(0.5, 1.5)
    times = []
    for _ in range(pipelines):
        size = lognormal(draw, 1, spread)
        times.append([mean * size * lognormal(draw, 1, 0.1) for _, mean, _ in operations])
    return times


MAKERS = {"D": together, "E": single_instances, "F": single_instances, "G": in_proportion}


def stage(letter, draw):
    """([class], [[ms of each operation] of each pipeline])."""
    factor = math.exp(draw.uniform(math.log(0.5), math.log(8)))
    operations = [(name, mean * factor, deviation * factor) for name, mean, deviation in TABLE_11[letter]]
    if letter == "D" and draw.random() < 0.5:
        others = [("MapPartitionsRDD", factor, 0.3 * factor)]
    else:
        others = []
    pipelines = draw.randint(LEAST_PIPELINES, MOST_PIPELINES)
    times = MAKERS.get(letter, alone)(draw, operations, pipelines)
    for row, own in zip(times, alone(draw, others, pipelines), strict=True):
        row += own
    times = [[value * lognormal(draw, 1, NOISE) for value in row] for row in times]
    return [name for name, *_ in operations + others], times


# ---- as a log ----


def log_lines(stage_id, classes, times, *, features=None):
    """Calls nest: the last operation's compute() calls the one before. features(pipeline, operation, time, flag): more
    of a line."""
    lines, free = [], [0.0] * SLOTS
    for pipeline, row in enumerate(times):
        slot = free.index(min(free))
        at = free[slot]
        events = [(name, i, "start", at) for i, name in reversed(list(enumerate(classes)))]
        for i, value in enumerate(row):
            at += value
            events.append((classes[i], i, "end", at))
        free[slot] = at + 1
        for name, i, flag, when in events:
            more = features(pipeline, i, when, flag) if features else ""
            lines.append(
                f"tag=[RDD]{RDD}{name};flag={flag};timestamp={BEGIN_MS + int(when)};nanoTime={round(when * 1e6)};"
                f"stage={stage_id};thread={slot};this={name}[{i}] at;partitionId={pipeline}{more}"
            )
    return lines
