"""Table 15 and what follows from it (5.3.1, 5.3.2): which function requests waited for, where the wait is, and how both
move with the rate."""

from pathlib import Path

from bench.studies import pictures
from bench.studies.figures import Claim, difference_interval, mean_interval, ratio_interval
from bench.studies.load_runs import SUFFIX, read
from bench.studies.report import Report
from script.hdfs.jars import ClusterError

ABOUT = (
    "Reads of a real HDFS whose processes are all traced, at the thesis' rates. Each rate was run several times, in an "
    "order drawn from a seed; a run is a unit, so an interval says how runs differ. `plumb load report` says of each "
    "run what is added up here. Published figures are of table 15."
)
KEPT = Path(__file__).resolve().parents[2] / "tests/data/studies/load"
CREATE = "FileSystem#createFileSystem"
ALPHAS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5]
PUBLISHED = {
    CREATE: [0.1567, 0.1842, 0.1827, 0.2060, 0.1887, 0.1992],
    "sendBlock": [0.0054, 0.0026, 0.0020, 0.0012, 0.0009, 0.0015],
    "BlockSender#sendPacket": [0.0005, 0.0004, 0.0002, 0.0001, 0.0001, 0.0002],
    "FSNamesystem#getBlockLocations": [0.0088, 0.0006, 0.0005, 0.0003, 0.0007, 0.0014],
}
ALL = "all"  # a whole request
PUBLISHED_ALL = [0.0423, 0.0439, 0.0426, 0.0648, 0.0801, 0.0674]
PUBLISHED_RATES = [6.66e5, 5.43e5, 4.37e5, 3.28e5, 2.27e5, 3.65e5]
SMALLEST, LARGEST, LOWEST_POINT = ALPHAS[0], ALPHAS[-1], 0.1
# An effect counts beyond 5 %, and beyond chance.
EFFECT = 1.05
BEFORE = "before it began"


class Runs:
    """Recorded runs, by alpha and mode."""

    def __init__(self, documents):
        self.documents = documents

    def of(self, alpha, mode="shared"):
        return [run for run in self.documents if run["alpha"] == alpha and run["mode"] == mode]

    def modes(self):
        return sorted({run["mode"] for run in self.documents}, reverse=True)

    def alphas(self, mode="shared"):
        return sorted({run["alpha"] for run in self.documents if run["mode"] == mode})


def waited(run):
    return run["report"]["waited"]


def row_of(run, function):
    return next((row for row in waited(run)["functions"] if row["function"] == function), None)


def mean_s(run, function):
    """Of a call, in seconds; None where there was none."""
    if function == ALL:
        return waited(run)["response_ns"] / 1e9 / waited(run)["requests"]
    row = row_of(run, function)
    return row["total_ns"] / row["calls"] / 1e9 if row else None


def means(runs, function):
    return [value for value in (mean_s(run, function) for run in runs) if value]


def latency_share(run, part):
    """Of the latency; 'part' is of what came after a request began."""
    return part * (1 - run["report"].get("waited_share", 0))


def place_of(wait):
    return wait["resource"] if "role" not in wait else f"{wait['role']} {wait['resource']}"


def place_shares(run):
    shares = {place_of(wait): latency_share(run, wait["share"]) for wait in waited(run)["waits"]}
    return {**shares, BEFORE: run["report"].get("waited_share", 0)}


def bytes_per_s(run):
    operations = waited(run)["operations"]
    return sum(one["bytes"] for one in operations) / (sum(one["total_ns"] for one in operations) / 1e9)


# ---- rules ----


def beyond(ratio):
    """Is it an effect?"""
    return ratio.low > 1 and ratio.value >= EFFECT


def trend(runs, function, mode):
    """(what it does with alpha, its ratios to the least of all rates at the smallest and the largest)."""
    by_alpha = {alpha: means(runs.of(alpha, mode), function) for alpha in runs.alphas(mode)}
    by_alpha = {alpha: values for alpha, values in by_alpha.items() if len(values) > 1}
    if len(by_alpha) < 3:
        return None
    least = min(by_alpha, key=lambda alpha: sum(by_alpha[alpha]) / len(by_alpha[alpha]))
    first, last = min(by_alpha), max(by_alpha)
    falls = ratio_interval(by_alpha[first], by_alpha[least])
    rises = ratio_interval(by_alpha[last], by_alpha[least])
    said = {
        (True, True): "falls, then rises",
        (True, False): "falls",
        (False, True): "rises",
        (False, False): "no trend seen",
    }[beyond(falls) and first != least, beyond(rises) and last != least]
    return said, least, falls, rises


def first_two(run):
    rows = sorted(waited(run)["functions"], key=lambda row: -row["critical_ns"])
    return rows[0], rows[1]


def dominant(runs):
    """(the function with most critical-path time of all these runs, its share, how much more than the next)."""
    shares = {}
    for run in runs:
        for row in waited(run)["functions"]:
            shares.setdefault(row["function"], {})[id(run)] = row["share"]
    ordered = sorted(shares, key=lambda name: -sum(shares[name].values()))
    of = {name: [shares[name].get(id(run), 0) for run in runs] for name in ordered[:2]}
    first, second = (of[name] for name in ordered[:2])
    more = mean_interval([a - b for a, b in zip(first, second, strict=True)])
    return ordered[0], ordered[1], mean_interval(first), more


# ---- tables ----


def add_table15(report, runs):
    rows, lines = [], {}
    for function in [*PUBLISHED, ALL]:
        published = PUBLISHED.get(function, PUBLISHED_ALL)
        for mode in runs.modes():
            for alpha in runs.alphas(mode):
                values = means(runs.of(alpha, mode), function)
                if not values:
                    continue
                ours = mean_interval([1000 * value for value in values])
                calls = sum((row_of(run, function) or {"calls": 0})["calls"] for run in runs.of(alpha, mode))
                of_all = function == ALL
                if of_all:
                    calls = sum(waited(run)["requests"] for run in runs.of(alpha, mode))
                printed = 1000 * published[ALPHAS.index(alpha)] if alpha in ALPHAS else None
                rows.append(
                    [function, mode, alpha, len(values), calls, ours.value, max(0.0, ours.low), ours.high, printed]
                )
                lines.setdefault(f"{function}, {mode}", []).append((alpha, ours.value))
    columns = ["function", "clients", "alpha", "runs", "calls", "mean ms", "low", "high", "published ms"]
    report.table("table15", "Means of a call (table 15)", columns, rows)
    title = "Means of a call"
    report.picture("table15", title, pictures.lines(title, "alpha", "ms", lines, log_x=True))


def percent(share):
    """(value, low, high) of a share, which is none below 0 or above all."""
    return 100 * share.value, max(0.0, 100 * share.low), min(100.0, 100 * share.high)


def add_dominant(report, runs):
    rows = []
    for mode in runs.modes():
        alphas = runs.alphas(mode)
        for name, chosen in [*((alpha, [alpha]) for alpha in alphas), ("all", alphas)]:
            of = [run for alpha in chosen for run in runs.of(alpha, mode)]
            first, second, share, more = dominant(of)
            said = "decided" if more.low > 0 else "undecided"
            rows.append([mode, name, len(of), first, *percent(share), second, said])
    columns = ["clients", "alpha", "runs", "most critical-path time", "share %", "low", "high", "next"]
    report.table("dominant", "Which function requests waited for", [*columns, "before the next"], rows)


def add_waits(report, runs):
    rows, lines = [], {}
    for mode in runs.modes():
        for alpha in runs.alphas(mode):
            of_runs = [place_shares(run) for run in runs.of(alpha, mode)]
            places = sorted({place for shares in of_runs for place in shares})
            for place in places:
                value, low, high = percent(mean_interval([shares.get(place, 0) for shares in of_runs]))
                if value >= 0.5:
                    rows.append([mode, alpha, place, value, low, high])
                if mode == "shared":
                    lines.setdefault(place, []).append((alpha, value))
    columns = ["clients", "alpha", "where", "share %", "low", "high"]
    report.table("waits", "Where requests waited, of their latency", columns, rows)
    lines = {place: points for place, points in lines.items() if max(y for _, y in points) >= 2}
    title = "Where requests waited (shared clients)"
    report.picture("waits", title, pictures.lines(title, "alpha", "% of latency", lines, log_x=True))


def add_trends(report, runs):
    rows = []
    for mode in runs.modes():
        for function in [*PUBLISHED, ALL]:
            found = trend(runs, function, mode)
            if found:
                said, least, falls, rises = found
                rows.append([function, mode, said, least, *falls[:3], *rises[:3]])
    columns = ["function", "clients", "with alpha it", "least at", "smallest / least", "low", "high"]
    columns += ["largest / least", "low", "high"]
    report.table("trends", "How functions move with the rate", columns, rows)


def add_sizes(report, runs):
    """Over all rates: whatever they are, a size's requests are alike often enough to be added up."""
    sums = {}
    for run in runs.documents:
        for operation in waited(run)["operations"]:
            for row in operation["sizes"]:
                key = (run["mode"], row["size"])
                of = sums.setdefault(key, {"requests": 0, "bytes": 0, "total_ns": 0, "means": [], "waits": {}})
                for name in ("requests", "bytes", "total_ns"):
                    of[name] += row[name]
                of["means"].append(row["total_ns"] / row["requests"] / 1e6)
                for wait in row["waits"]:
                    place = place_of(wait)
                    of["waits"][place] = of["waits"].get(place, 0) + wait["critical_ns"]
    order = ["empty", "below 4 KiB", "below 64 KiB", "below 1 MiB", "1 MiB and more"]
    rows = []
    for (mode, size), of in sorted(sums.items(), key=lambda item: (item[0][0], order.index(item[0][1]))):
        ours = mean_interval(of["means"])
        most = sorted(of["waits"].items(), key=lambda item: -item[1])[:3]
        where = ", ".join(f"{place} {100 * ns / of['total_ns']:.0f} %" for place, ns in most)
        rate = of["bytes"] / (of["total_ns"] / 1e9)
        rows.append([mode, size, of["requests"], ours.value, max(0.0, ours.low), ours.high, rate, where])
    columns = ["clients", "bytes of a request", "requests", "mean ms", "low", "high", "bytes/s", "where they waited"]
    report.table("sizes", "By the size of a request", columns, rows)


def add_packets(report, runs):
    rows = []
    for mode in runs.modes():
        for alpha in runs.alphas(mode):
            of = [waited(run)["packets"] for run in runs.of(alpha, mode)]
            sums = {name: sum(packets[name] for packets in of) for name in ("blocks", "sent", "empty", "small")}
            beside = max(0, sums["empty"] - sums["blocks"])
            others = sums["sent"] - sums["empty"] + beside
            rate = mean_interval([bytes_per_s(run) for run in runs.of(alpha, mode)])
            printed = PUBLISHED_RATES[ALPHAS.index(alpha)] if alpha in ALPHAS else None
            small = 100 * sums["small"] / others if others else None
            rate = (rate.value, max(0.0, rate.low), rate.high)
            rows.append([mode, alpha, sums["blocks"], others, beside, small, *rate, printed])
    columns = ["clients", "alpha", "blocks sent", "packets but the last", "empty", "below 4 KiB %", "bytes/s"]
    columns += ["low", "high", "published bytes/s"]
    report.table("packets", "Packets, and bytes a second of response time", columns, rows)


def add_generator(report, runs):
    rows = []
    for mode in runs.modes():
        for alpha in runs.alphas(mode):
            of = [run["report"] for run in runs.of(alpha, mode)]
            asked, done = (mean_interval([one[name] for one in of]) for name in ("asked_per_s", "achieved_per_s"))
            late = mean_interval([100 * one.get("waited_share", 0) for one in of])
            kept = sum(waited(run)["requests"] for run in runs.of(alpha, mode))
            pressure = [run["pressure_before"] or 0 for run in runs.of(alpha, mode)]
            rows.append([mode, alpha, len(of), asked.value, done.value, late.value, kept, max(pressure)])
    columns = ["clients", "alpha", "runs", "asked /s", "achieved /s", "late, % of latency", "requests traced"]
    report.table("generator", "The load", [*columns, "pressure before, %"], rows)


# ---- claims ----


def add_function_claims(report, runs):
    text = f"a call of {CREATE} takes 0.16 to 0.21 s (a new client for each request)"
    new = [run for alpha in runs.alphas("new") for run in runs.of(alpha, "new")]
    report.claim(Claim(text, "0.157 to 0.206 s", ("in", 0.1567, 0.2060), mean_interval(means(new, CREATE))))
    shared = [run for alpha in runs.alphas() for run in runs.of(alpha)]
    for mode, of in (("new clients", new), ("shared clients", shared)):
        more = []
        for run in of:
            rows = {row["function"]: row["share"] for row in waited(run)["functions"]}
            create = rows.pop(CREATE, 0)
            more.append(create - max(rows.values()))
        text = f"{CREATE} has the most critical-path time, {mode}: its share less that of the greatest other"
        report.claim(Claim(text, "> 0", (">=", 0), mean_interval(more)))
    for function in list(PUBLISHED)[1:]:
        down = ratio_interval(means(runs.of(SMALLEST), function), means(runs.of(LOWEST_POINT), function))
        up = ratio_interval(means(runs.of(LARGEST), function), means(runs.of(LOWEST_POINT), function))
        published = PUBLISHED[function]
        least = published[ALPHAS.index(LOWEST_POINT)]
        text = f"a call of {function} takes longer at alpha {SMALLEST} than at {LOWEST_POINT}: times as long"
        report.claim(Claim(text, f"{published[0] / least:.2g}", (">=", EFFECT), down))
        text = f"a call of {function} takes longer at alpha {LARGEST} than at {LOWEST_POINT}: times as long"
        report.claim(Claim(text, f"{published[-1] / least:.2g}", (">=", EFFECT), up))


def add_wait_claims(report, runs):
    more = []
    for run in runs.of(LARGEST):
        shares = place_shares(run)
        client = shares.pop("client client", 0)
        more.append(client - max(shares.values()))
    text = f"at alpha {LARGEST} requests wait most for the client: its share less the greatest other"
    report.claim(Claim(text, "> 0", (">=", 0), mean_interval(more)))
    rate = ratio_interval(
        [bytes_per_s(run) for run in runs.of(LOWEST_POINT)], [bytes_per_s(run) for run in runs.of(SMALLEST)]
    )
    text = f"bytes a second of response time are fewer at alpha {LOWEST_POINT} than at {SMALLEST}: times as many"
    report.claim(Claim(text, "0.34", ("<=", 1 / EFFECT), rate))
    new, shared = (means(runs.of(SMALLEST, mode), ALL) for mode in ("new", "shared"))
    times = ratio_interval(new, shared)
    text = f"at alpha {SMALLEST} a request takes longer with a new client: times as long"
    report.claim(Claim(text, "not said", (">=", EFFECT), times))
    late = [run["report"].get("waited_share", 0) for alpha in ALPHAS[:-1] for run in runs.of(alpha)]
    text = f"up to alpha {LOWEST_POINT} the generator's lag is at most 1 % of the latency"
    report.claim(Claim(text, "<= 1 % (goal)", ("<=", 0.01), mean_interval(late)))
    rises = difference_interval(
        [place_shares(run).get("client client", 0) for run in runs.of(LARGEST)],
        [place_shares(run).get("client client", 0) for run in runs.of(SMALLEST)],
    )
    text = f"the client's share of the wait is greater at alpha {LARGEST} than at {SMALLEST}: by"
    report.claim(Claim(text, "> 0", (">=", 0), rises))


def study(options):
    report = Report("bottleneck", "The bottleneck of requests", ABOUT, options.build)
    folder = options.recorded or KEPT
    documents = read(folder)
    if not documents:
        raise ClusterError(f"{folder} has no recorded loads (*{SUFFIX}): bench/study record load makes some")
    runs = Runs(documents)
    about = documents[0]["environment"]
    busy = sum((run["pressure_before"] or 0) > 10 for run in documents)
    report.parameters = {"runs": len(documents), "recorded": about, "recorded under pressure": busy}
    report.note(
        f"Recorded on {about['date']}, {about['processors']} x {about['processor']}, Hadoop {about['hadoop']}, "
        f"{about['datanodes']} DataNodes on one machine; {busy} of {len(documents)} runs began while others waited for "
        "a processor for more than 10 % of the time."
    )
    add_table15(report, runs)
    add_dominant(report, runs)
    add_waits(report, runs)
    add_trends(report, runs)
    add_sizes(report, runs)
    add_packets(report, runs)
    add_generator(report, runs)
    add_function_claims(report, runs)
    add_wait_claims(report, runs)
    return report
