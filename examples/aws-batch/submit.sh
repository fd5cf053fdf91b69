#!/usr/bin/env bash
# Submits a job to AWS Batch: plan, an array job of all shards, merge and select, each after the
# one before. It returns at once and prints the jobs; the queue does the rest.
#
#   export IMAGE=111122223333.dkr.ecr.eu-central-1.amazonaws.com/ufs-stream@sha256:…
#   DATA=s3://lake/events/ JOB=s3://lake/jobs/events-1 QUEUE=spot ./submit.sh
#   DATA=… JOB=… QUEUE=… METHOD=sfufs ROUNDS=2 ./submit.sh    # the graph methods need two rounds
#
# An element of the array finds its shard in AWS_BATCH_JOB_ARRAY_INDEX and _SIZE, which Batch
# sets. Where elements failed for good, submit again with the same JOB: an element whose part
# is there ends at once.
#
# All steps wait for the whole step before (jobId alone in dependsOn: Batch waits for every
# element). N_TO_N, element i after element i, would fit only steps that do not merge.
set -euo pipefail
cd "$(dirname "$0")"

: "${DATA:?the input, a URL of a bucket}"
: "${JOB:?a prefix of its own for the files of this job}"
: "${QUEUE:?the job queue}"
: "${IMAGE:?the image by its digest, as registry.example/ufs-stream@sha256:…}"
[[ $IMAGE =~ ^[a-zA-Z0-9._:/-]+@sha256:[0-9a-f]{64}$ ]] || { echo "IMAGE is $IMAGE: want NAME@sha256:DIGEST" >&2; exit 2; }
SHARDS=${SHARDS:-8}        # 2 to 10000
METHOD=${METHOD:-greedy} K=${K:-20} ROUNDS=${ROUNDS:-1}
# Batch kills at the definition's MEMORY; the program keeps below its own limit.
LIMITS=(--memory-limit 3GiB)

definition=$(aws batch register-job-definition \
	--cli-input-json "$(jq -c --arg image "$IMAGE" '.containerProperties.image = $image' job-definition.json)" \
	--query jobDefinitionArn --output text)

# submit NAME SIZE AFTER ARGUMENT… prints the id of a job; SIZE 1 is no array, and AFTER is the
# id of the job it waits for, or empty.
submit() {
	local name=$1 size=$2 after=$3
	shift 3
	aws batch submit-job --query jobId --output text --cli-input-json "$(
		jq -cn --arg name "$name" --argjson size "$size" --arg after "$after" \
			--arg queue "$QUEUE" --arg definition "$definition" '
			{jobName: $name, jobQueue: $queue, jobDefinition: $definition,
			 containerOverrides: {command: $ARGS.positional}}
			+ if $size > 1 then {arrayProperties: {size: $size}} else {} end
			+ if $after != "" then {dependsOn: [{jobId: $after}]} else {} end
		' --args -- "$@"
	)"
}

scan=(scan --plan "$JOB/job.plan.json" --allow "$DATA" --shard auto --max-temp-size 8GiB "${LIMITS[@]}")

last=$(submit ufs-plan 1 "" plan "$DATA" --method "$METHOD" "${LIMITS[@]}" -o "$JOB/job.plan.json")
echo "plan $last"
if [ "$ROUNDS" = 2 ]; then
	last=$(submit ufs-profile "$SHARDS" "$last" "${scan[@]}" --profile-only -o "$JOB/profile-parts/")
	echo "profile $last"
	last=$(submit ufs-profile-merge 1 "$last" merge "$JOB/profile-parts/" "${LIMITS[@]}" -o "$JOB/profile.ufs")
	echo "profile-merge $last"
	scan+=(--profile "$JOB/profile.ufs")
fi
last=$(submit ufs-scan "$SHARDS" "$last" "${scan[@]}" -o "$JOB/parts/")
echo "scan $last"
last=$(submit ufs-merge 1 "$last" merge "$JOB/parts/" "${LIMITS[@]}" -o "$JOB/all.ufs")
echo "merge $last"
last=$(submit ufs-select 1 "$last" select --stats "$JOB/all.ufs" --method "$METHOD" -k "$K" "${LIMITS[@]}" -o "$JOB/selection.json")
echo "select $last"
