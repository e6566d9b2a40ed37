"""What advice on a large application of Spark SQL costs: writes the event log of one, with a query and its plan for
each stage, has plumb import it, and asks for advice. Processor time and memory are those of plumb advise."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

STAGE_TASKS = 20_000
EXECUTORS = 200
BEGIN = 1_790_000_000_000
SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL"
COLUMNS = ["tasks", "stages", "log MB", "import s", "advise: CPU s", "memory MB", "time s"]


def node(name, text, accumulators, children=()):
    metrics = [
        {"name": what, "accumulatorId": number, "metricType": kind}
        for number, (what, kind) in zip(
            accumulators, (("spill size", "size"), ("number of output rows", "sum")), strict=True
        )
    ]
    return {"nodeName": name, "simpleString": text, "children": list(children), "metadata": {}, "metrics": metrics}


def plan_of(stage):
    first = stage * 100
    scan = node("Scan parquet orders", "FileScan parquet orders", (first, first + 1))
    exchange = node("Exchange", "Exchange hashpartitioning(customer#1, 200)", (first + 2, first + 3), [scan])
    sort = node("Sort", "Sort [customer#1 ASC]", (first + 4, first + 5), [exchange])
    return node("HashAggregate", "HashAggregate(keys=[customer#1])", (first + 6, first + 7), [sort])


def task_line(stage, task, launch):
    run = 300 + task * 7919 % 700
    return (
        f'{{"Event":"SparkListenerTaskEnd","Stage ID":{stage},"Stage Attempt ID":0,"Task Type":"ResultTask",'
        f'"Task End Reason":{{"Reason":"Success"}},"Task Info":{{"Task ID":{task},"Index":{task % STAGE_TASKS},'
        f'"Attempt":0,"Partition ID":{task % STAGE_TASKS},"Launch Time":{launch},"Executor ID":"{task % EXECUTORS}",'
        f'"Host":"worker{task % 50}","Locality":"NODE_LOCAL","Speculative":false,"Getting Result Time":0,'
        f'"Finish Time":{launch + run + 20},"Failed":false,"Killed":false,"Accumulables":[]}},'
        f'"Task Executor Metrics":{{"JVMHeapMemory":{400_000_000 + task % 1000},"OnHeapUnifiedMemory":100000}},'
        f'"Task Metrics":{{"Executor Deserialize Time":3,"Executor Run Time":{run},"Peak Execution Memory":4194304,'
        f'"JVM GC Time":{run // 50},"Memory Bytes Spilled":{task % 3 * 100000},"Disk Bytes Spilled":{task % 3 * 1000},'
        f'"Shuffle Read Metrics":{{"Remote Bytes Read":{1_000_000 + task * 7919 % 500000},"Local Bytes Read":1000}},'
        f'"Shuffle Write Metrics":{{"Shuffle Bytes Written":500000}},"Input Metrics":{{"Bytes Read":0}}}}}}\n'
    )


def write_log(path, tasks):
    """Stages one behind the other."""

    def put(event, **fields):
        out.write(json.dumps({"Event": event, **fields}, separators=(",", ":")) + "\n")

    stages = (tasks + STAGE_TASKS - 1) // STAGE_TASKS
    with open(path, "w", encoding="ascii") as out:
        put("SparkListenerLogStart", **{"Spark Version": "4.3.0"})
        put(
            "SparkListenerApplicationStart", **{"App ID": "app-1", "App Name": "large", "Timestamp": BEGIN, "User": "u"}
        )
        for executor in range(EXECUTORS):
            info = {"Host": f"worker{executor % 50}", "Total Cores": 4, "Resource Profile Id": 0}
            fields = {"Timestamp": BEGIN, "Executor ID": str(executor), "Executor Info": info}
            put("SparkListenerExecutorAdded", **fields)
        now = BEGIN
        for stage in range(stages):
            info = {"Stage ID": stage, "Stage Attempt ID": 0, "Stage Name": "save", "Number of Tasks": STAGE_TASKS}
            info |= {"RDD Info": [], "Parent IDs": [stage - 1] if stage else [], "Submission Time": now}
            plan = plan_of(stage)
            put(f"{SQL}ExecutionStart", executionId=stage, description=f"query {stage}", time=now, sparkPlanInfo=plan)
            put("SparkListenerJobStart", **{"Job ID": stage, "Submission Time": now, "Stage IDs": [stage]})
            put("SparkListenerStageSubmitted", **{"Stage Info": info})
            for task in range(stage * STAGE_TASKS, min((stage + 1) * STAGE_TASKS, tasks)):
                out.write(task_line(stage, task, now + task % STAGE_TASKS))
            now += STAGE_TASKS + 2000
            counted = [{"ID": stage * 100 + i, "Name": "n", "Value": str(1000 + i), "Internal": True} for i in range(8)]
            ended = {**info, "Completion Time": now, "Accumulables": counted}
            put("SparkListenerStageCompleted", **{"Stage Info": ended})
            result = {"Result": "JobSucceeded"}
            put("SparkListenerJobEnd", **{"Job ID": stage, "Completion Time": now, "Job Result": result})
            put(f"{SQL}ExecutionEnd", executionId=stage, time=now)
        put("SparkListenerApplicationEnd", Timestamp=now)
    return stages


def measure(plumb, tasks):
    """Prints the table's row."""
    with tempfile.TemporaryDirectory(prefix="bench-million-") as work:
        log, store = Path(work) / "app-1", Path(work) / "store"
        stages = write_log(log, tasks)
        begin = time.monotonic()
        subprocess.run([plumb, "import", "--store", store, log], check=True, capture_output=True)
        imported, begin = time.monotonic() - begin, time.monotonic()
        # A process of its own measures: the most that a child had is that of all children so far.
        code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        code += "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        code += "print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
        asked = ["python3", "-c", code, plumb, "advise", "latest", "--store", store, "--json"]
        cpu, memory = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
        cells = [f"{tasks:,}", stages, f"{log.stat().st_size / 1e6:.0f}", f"{imported:.0f}", f"{float(cpu):.2f}"]
        cells += [f"{float(memory) * 1024 / 1e6:.0f}", f"{time.monotonic() - begin:.1f}"]
        print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n| {' | '.join(map(str, cells))} |", flush=True)
