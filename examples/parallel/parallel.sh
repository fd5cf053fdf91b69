#!/usr/bin/env bash
# One selection from shards that are scanned side by side, with GNU parallel:
#
#   INPUT=/lake/events STATE=/var/tmp/events ./parallel.sh
#
# The plan is made once and kept. Each shard becomes a part file; what is there already is not
# scanned again, so that running this again goes on where it ended. A new job takes a new STATE.
# A shard that fails is tried again alone, unless its exit code is final: then everything stops
# at once, with that code and with what the shard said.
set -euo pipefail

: "${INPUT:?the data: files, folders or URLs, with spaces between them}"
: "${STATE:?a folder of its own for the plan, the logs and the selection}"
export INPUT STATE UFS=${UFS:-ufs-stream} # UFS: the program
export N=${N:-8}                         # shards: some for each core, so that the last ones are short
PARTS=${PARTS:-$STATE/parts}             # a folder, or a URL as s3://bucket/events/parts?region=…
JOBS=${JOBS:-$(nproc)}                   # shards at a time
export SCAN_FLAGS=${SCAN_FLAGS:---threads 1} # of each: as "--threads 2 --memory-limit 8GiB"
TRIES=${TRIES:-3}                        # of each
export RETRY_WAIT=${RETRY_WAIT:-10}      # seconds before another try
HALT=${HALT:-now,fail=1}                 # soon,fail=1 lets the shards that run come to their end
METHOD=${METHOD:-greedy} K=${K:-50}
SAMPLE=${SAMPLE:-10000}                  # rows for methods that iterate over them
read -ra INPUTS <<<"$INPUT"
read -ra PLAN_FLAGS <<<"${PLAN_FLAGS:-}" # as "--label class --missing mean"
read -ra SELECT_FLAGS <<<"${SELECT_FLAGS:-}" # as "--alpha 10"
case $METHOD in # the rounds over the data; with --missing drop-row set ROUNDS="profile stats"
sfufs | fufs | graphgreedy | laplacian | mcfs) ROUNDS=${ROUNDS:-profile stats} ;;
eufs | hufs | cpufs | cpufsnn) ROUNDS=${ROUNDS:-sample} ;;
*) ROUNDS=${ROUNDS:-stats} ;;
esac

# shard scans one shard, in a process of its own. One whose last try ended with a final code is
# not scanned again: parallel does not tell codes apart.
shard() {
	local code=0 flags inputs input last="$STATE/failed/$ROUND-$1"
	read -ra flags <<<"$SCAN_FLAGS"
	read -ra inputs <<<"$INPUT" # a plan names no server by itself
	for input in "${inputs[@]}"; do flags+=(--allow "$input"); done
	if [ -e "$last" ]; then
		code=$(<"$last")
		case $code in [2-6]) exit "$code" ;; esac
		echo "$ROUND $1/$N: exit code $code; tried again" >&2
		sleep "$RETRY_WAIT"
	fi
	"$UFS" scan --plan "$STATE/job.plan.json" --shard "$1/$N" "${flags[@]}" "${@:2}" 2>&1 |
		sed -u "s|^|$ROUND $1/$N: |" >&2
	code=${PIPESTATUS[0]}
	if [ "$code" = 0 ]; then rm -f "$last"; else echo "$code" >"$last"; fi
	exit "$code"
}
export -f shard

# scan_all scans all shards of a round and merges them: scan_all ROUND [flags of scan].
scan_all() {
	export ROUND=$1
	local file=$STATE/$1.ufs path=${PARTS%%\?*}
	[ ! -e "$file" ] || return 0
	local parts=${path%/}/$ROUND/${PARTS:${#path}} # a URL's query stays at its end
	rm -rf "$STATE/failed"
	mkdir "$STATE/failed"
	seq "$N" | PARALLEL_SHELL=$BASH parallel --quote --ungroup --jobs "$JOBS" --retries "$TRIES" --halt "$HALT" \
		--joblog "$STATE/$ROUND.joblog" shard {} "${@:2}" -o "$parts"
	"$UFS" merge "$parts" -o "$file"
}

mkdir -p "$STATE"
exec 9>"$STATE/lock"
flock -n 9 || { echo "another run is under way in $STATE" >&2; exit 1; }
job="$METHOD of $INPUT ${PLAN_FLAGS[*]}, $N shards, rounds: $ROUNDS"
if [ -e "$STATE/job.plan.json" ]; then
	[ "$job" = "$(<"$STATE/job")" ] || { echo "$STATE is of another job: $(<"$STATE/job")" >&2; exit 2; }
else
	echo "$job" >"$STATE/job"
	"$UFS" plan "${INPUTS[@]}" --method "$METHOD" "${PLAN_FLAGS[@]}" -o "$STATE/job.plan.json"
fi

second=()
[ "$ROUNDS" = stats ] || second=(--profile "$STATE/profile.ufs")
for round in $ROUNDS; do
	case $round in
	profile) scan_all profile --profile-only ;;
	sample) scan_all sample --profile-only --sample-rows "$SAMPLE" ;;
	stats) scan_all stats "${second[@]}" ;;
	esac
done
"$UFS" select --stats "$STATE/$round.ufs" --method "$METHOD" "${SELECT_FLAGS[@]}" -k "$K" -o "$STATE/selection.json"
