"""Many machines by Airflow: plan, scan of all shards as mapped tasks, merge, select.

Each scan is a task instance of its own, on whatever worker takes it, and is tried again alone.
An exit code that another try does not change (usage, data, memory) fails at once; all others,
such as 75, a store that is down, or a worker that is killed, are tried again. A part that is
there already is not made again, so tasks can be cleared and run again.

The environment of the workers has UFS_DATA, the input, and UFS_JOB, a prefix of its own for the
files of the job: a folder that all workers share, or a URL of a bucket. That of the scheduler
may have UFS_METHOD, UFS_K, UFS_SHARDS, and UFS_ROUNDS=2 for the round that the graph methods
need first. For a machine with Airflow 2.4 or later.
"""

import os
import subprocess
from datetime import datetime, timedelta

from airflow.decorators import dag, task
from airflow.exceptions import AirflowException, AirflowFailException

METHOD = os.environ.get("UFS_METHOD", "greedy")
K = os.environ.get("UFS_K", "20")
SHARDS = int(os.environ.get("UFS_SHARDS", "8"))
ROUNDS = int(os.environ.get("UFS_ROUNDS", "1"))
FINAL = (2, 3, 4, 5)  # what ufs-stream --help lists but for 1, 75 and 130


@task
def ufs_stream(args, shard=None):
    """Run the program where the task runs: only there {data} and {job} are known."""
    places = {"data": os.environ["UFS_DATA"], "job": os.environ["UFS_JOB"]}
    command = ["ufs-stream", *(arg.format(**places) for arg in args)]
    if shard is not None:
        command += ["--shard", shard]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    print(ended.stderr)
    if ended.returncode in FINAL:
        raise AirflowFailException(ended.stderr.strip())
    if ended.returncode != 0:
        raise AirflowException(f"exit code {ended.returncode}: {ended.stderr.strip()}")


@dag(
    schedule=None,  # where it has one, UFS_JOB needs the date in it
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    default_args={
        "retries": 3,
        "retry_delay": timedelta(minutes=1),
        "retry_exponential_backoff": True,
    },
)
def ufs_sharded():
    def step(name, *args):
        return ufs_stream.override(task_id=name)(args=list(args))

    def scan(name, *args):
        shards = [f"{i}/{SHARDS}" for i in range(1, SHARDS + 1)]
        every = ["scan", "--plan", "{job}/job.plan.json", "--allow", "{data}", *args]
        return ufs_stream.override(task_id=name).partial(args=every).expand(shard=shards)

    last = step("plan", "plan", "{data}", "--method", METHOD, "-o", "{job}/job.plan.json")
    second = []
    if ROUNDS == 2:
        last = last >> scan("profile", "--profile-only", "-o", "{job}/profile-parts/")
        last = last >> step("profile_merge", "merge", "{job}/profile-parts/", "-o", "{job}/profile.ufs")
        second = ["--profile", "{job}/profile.ufs"]
    last = last >> scan("scan", *second, "-o", "{job}/parts/")
    last = last >> step("merge", "merge", "{job}/parts/", "-o", "{job}/all.ufs")
    last >> step("select", "select", "--stats", "{job}/all.ufs", "--method", METHOD, "-k", K, "-o", "{job}/selection.json")


ufs_sharded()
