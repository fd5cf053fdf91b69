#!/usr/bin/env bash
# One selection from shards that a Slurm cluster scans as an array job:
#
#   INPUT=/lake/events STATE=/shared/events N=200 ./submit.sh
#
# The plan is made here, once, and kept. What is there already is not scanned again, so that
# running this again goes on where it ended; ARRAY=3,7 runs just those elements of the round
# that is not complete. A new job takes a new STATE. Elements that fail are requeued alone
# unless their exit code is final: see task.sbatch, which all nodes run.
set -euo pipefail

: "${INPUT:?the data: files, folders or URLs, with spaces between them}"
: "${STATE:?a folder of its own that all nodes share, for the plan, the logs and the selection}"
STATE=$(realpath -m "$STATE")
task=$(dirname "$(realpath "$0")")/task.sbatch
export INPUT STATE UFS=${UFS:-ufs-stream}     # UFS: the program, on all nodes
export N=${N:-8}                              # shards
export PARTS=${PARTS:-$STATE/parts}           # a shared folder, or a URL as s3://bucket/parts?region=…
export RETRIES=${RETRIES:-3}                  # of each element
export METHOD=${METHOD:-greedy} K=${K:-50}
export SAMPLE=${SAMPLE:-10000}                # rows for methods that iterate over them
export SCAN_FLAGS=${SCAN_FLAGS:-}             # as "--memory-limit 2GiB"
export SELECT_FLAGS=${SELECT_FLAGS:-}         # as "--alpha 10"
ARRAY=${ARRAY:-1-$N}                          # 1-200%20 runs 20 at a time
WAIT=${WAIT:-no} POLL=${POLL:-10}             # yes: end with the selection, or with what failed
read -ra SBATCH <<<"${SBATCH:-}"              # of all jobs, as "--partition=batch --time=2:00:00"
read -ra SCAN_SBATCH <<<"${SCAN_SBATCH:-}"    # of scans too, as "--cpus-per-task=4 --mem=3G"
read -ra INPUTS <<<"$INPUT"
read -ra PLAN_FLAGS <<<"${PLAN_FLAGS:-}"      # as "--label class --missing mean"
case $METHOD in # the rounds over the data; with --missing drop-row set ROUNDS="profile stats"
sfufs | fufs | graphgreedy | laplacian | mcfs) ROUNDS=${ROUNDS:-profile stats} ;;
eufs | hufs | cpufs | cpufsnn) ROUNDS=${ROUNDS:-sample} ;;
*) ROUNDS=${ROUNDS:-stats} ;;
esac
export ROUNDS

mkdir -p "$STATE/log"
job="$METHOD of $INPUT ${PLAN_FLAGS[*]}, $N shards, rounds: $ROUNDS"
if [ -e "$STATE/job.plan.json" ]; then
	[ "$job" = "$(<"$STATE/job")" ] || { echo "$STATE is of another job: $(<"$STATE/job")" >&2; exit 2; }
else
	echo "$job" >"$STATE/job"
	"$UFS" plan "${INPUTS[@]}" --method "$METHOD" "${PLAN_FLAGS[@]}" -o "$STATE/job.plan.json"
fi
rm -rf "$STATE/failed" "$STATE/selection.json"
mkdir "$STATE/failed"

# submit submits a job that begins when the one before it has succeeded, and prints its
# command; where that one fails, it goes too instead of waiting for ever.
last=
submit() {
	local after=()
	[ -z "$last" ] || after=(--dependency=afterok:"$last" --kill-on-invalid-dep=yes)
	echo "+ sbatch ${after[*]} ${SBATCH[*]} $*" >&2
	last=$(sbatch --parsable "${after[@]}" "${SBATCH[@]}" "$@")
	last=${last%%;*} # of a federation: ID;CLUSTER
	jobs+=("$last")
}

jobs=()
for round in $ROUNDS; do
	[ ! -e "$STATE/$round.ufs" ] || continue
	submit --array="$ARRAY" --job-name="ufs-$round" --output="$STATE/log/$round-%a.log" "${SCAN_SBATCH[@]}" \
		"$task" scan "$round"
	submit --job-name="ufs-$round-merge" --output="$STATE/log/$round-merge.log" "$task" merge "$round"
	ARRAY=1-$N # elements that failed are of the first round that is not complete
done
submit --job-name=ufs-select --output="$STATE/log/select.log" "$task" select
if [ "$WAIT" = no ]; then
	echo "jobs ${jobs[*]}: when they are through, there is $STATE/selection.json, or in $STATE/failed what failed" >&2
	exit
fi
# Not sbatch --wait, which sees only the end of the last job, and late.
while sleep "$POLL"; do
	queued=$(squeue --me --noheader --format=%F) || continue # a busy controller
	grep -qxF "$(printf '%s\n' "${jobs[@]}")" <<<"$queued" || break
done
[ ! -e "$STATE/selection.json" ] || exit 0
code=1 reports=("$STATE"/failed/*)
if [ -e "${reports[0]}" ]; then
	code=$(sed -n '1s/.*: exit code \([0-9]*\),.*/\1/p' "${reports[0]}")
	cat "${reports[@]:0:5}" >&2
	echo "failed: ${#reports[@]}, see $STATE/failed" >&2
else
	echo "the jobs ended without a word: see $STATE/log" >&2
fi
exit "$code"
