#!/usr/bin/env bash
# The daily batch: scan today's partition, merge it with the days before, and select again
# where yesterday's features no longer serve. From cron, an hour after midnight:
#
#   0 1 * * *  DATA=/lake/events STATE=/var/lib/ufs-stream /opt/ufs-stream/daily.sh
#
# DATA has a folder day=YYYY-MM-DD for each day (Hive). STATE keeps a small statistics file for
# each day, the selection, and what it was made from. Running it again for the same day is
# harmless: the day's statistics are replaced, not added. It ends with 0 whether it selected or
# not, and with the code of whatever failed.
#
# With TABLE, a Delta table, in place of DATA, it scans the changes since the last run and adds
# them, and subtracts rows that the table has lost. WINDOW and DECAY do not count then. If the
# changes cannot be had, because the log or the files were cleaned up in between, the scan says so;
# remove STATE/total.ufs to scan the whole table.
set -euo pipefail

[ -n "${TABLE:-}" ] || : "${DATA:?the folder of the day=YYYY-MM-DD partitions, or TABLE}"
: "${STATE:?a folder of its own for statistics and selections}"
UFS=${UFS:-ufs-stream}                               # the program
DAY=${DAY:-$(date -u -d yesterday +%F)}              # the last complete day
K=${K:-50} WINDOW=${WINDOW:-30} DECAY=${DECAY:-0.95} # features, days, weight of a day before
read -ra SCAN_FLAGS <<<"${SCAN_FLAGS:-}"             # as "--label class --missing mean"
read -ra CHECK_FLAGS <<<"${CHECK_FLAGS:-}"           # as "--tolerance 0.05 --psi-limit 0.25"

mkdir -p "$STATE/days" "$STATE/history"
[ -z "${DATA:-}" ] || DATA=$(realpath "$DATA")
[[ -z ${TABLE:-} || $TABLE == *://* ]] || TABLE=$(realpath "$TABLE")
cd "$STATE"
exec 9>lock
flock -n 9 || { echo "another run is under way in $STATE" >&2; exit 1; }

if [ -z "${TABLE:-}" ]; then
	"$UFS" scan "$DATA/day=$DAY" "${SCAN_FLAGS[@]}" -o "days/$DAY.ufs"
	# Days up to this one, so that a day that is run again gives what it gave then.
	days=()
	for file in days/*.ufs; do
		[[ $file > days/$DAY.ufs ]] || days+=("$file")
	done
	"$UFS" merge "${days[@]}" --window "$WINDOW" --decay "$DECAY" -o total.ufs
elif [ -e total.ufs ]; then
	"$UFS" scan "$TABLE" --since total.ufs "${SCAN_FLAGS[@]}" -o changes.ufs
	"$UFS" merge total.ufs changes.ufs -o new-total.ufs
	mv new-total.ufs total.ufs
else
	"$UFS" scan "$TABLE" "${SCAN_FLAGS[@]}" -o total.ufs
fi

if [ -e selection.json ]; then
	code=0
	"$UFS" check --selection selection.json --stats total.ufs --baseline baseline.ufs \
		"${CHECK_FLAGS[@]}" --format json -o "history/$DAY.check.json" || code=$?
	case $code in
	0) echo "$DAY: the selection still serves"; exit 0 ;;
	6) echo "$DAY: select again" ;;
	*) exit "$code" ;;
	esac
fi

"$UFS" select --stats total.ufs -k "$K" -o new.json
if [ -e selection.json ]; then
	"$UFS" diff selection.json new.json | tee "history/$DAY.diff.txt"
fi
cp new.json "history/$DAY.selection.json"
cp total.ufs new-baseline.ufs
# The baseline first: if this ends here, tomorrow's check compares the old selection with newer
# data, and its verdict on the error is the same.
mv new-baseline.ufs baseline.ufs
mv new.json selection.json
