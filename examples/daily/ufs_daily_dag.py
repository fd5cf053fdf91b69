"""The daily batch as an Airflow DAG: scan, merge, check, and select again on exit code 6.

The same steps as daily.sh, one task each, so that Airflow retries and shows them one by one. A
check that says the selection still serves skips the selection (skip_on_exit_code). Variables
come from the environment of the workers: UFS_DATA, a folder of day=YYYY-MM-DD partitions,
UFS_STATE, a folder that all workers share, and UFS_K, the number of features.
"""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator

SKIP = 99  # BashOperator's own code for "skip what depends on this"

with DAG(
    dag_id="ufs_daily",
    schedule="0 1 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=True,
    max_active_runs=1,  # days are merged in their order, and one run replaces the selection
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
) as dag:
    scan = BashOperator(
        task_id="scan",
        bash_command='set -eu; mkdir -p "$UFS_STATE/days"; '
        'ufs-stream scan "$UFS_DATA/day={{ ds }}" -o "$UFS_STATE/days/{{ ds }}.ufs"',
    )
    # Days up to this run's, so that a run of the past gives what it gave then.
    merge = BashOperator(
        task_id="merge",
        bash_command='set -eu; cd "$UFS_STATE"; '
        'days=$(ls days/*.ufs | while read -r f; do '
        '[[ "$f" > "days/{{ ds }}.ufs" ]] || echo "$f"; done); '
        'ufs-stream merge $days --window 30 --decay 0.95 -o total.ufs',
    )
    check = BashOperator(
        task_id="check",
        bash_command='set -eu; cd "$UFS_STATE"; [ -e selection.json ] || exit 0; code=0; '
        'ufs-stream check --selection selection.json --stats total.ufs --baseline baseline.ufs '
        f'|| code=$?; case $code in 0) exit {SKIP} ;; 6) exit 0 ;; *) exit $code ;; esac',
        skip_on_exit_code=SKIP,
    )
    select = BashOperator(
        task_id="select",
        bash_command='set -eu; cd "$UFS_STATE"; '
        'ufs-stream select --stats total.ufs -k "${UFS_K:-50}" -o new.json; '
        'if [ -e selection.json ]; then ufs-stream diff selection.json new.json; fi; '
        'cp total.ufs new-baseline.ufs; mv new-baseline.ufs baseline.ufs; mv new.json selection.json',
    )
    scan >> merge >> check >> select
