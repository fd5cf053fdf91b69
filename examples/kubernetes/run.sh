#!/usr/bin/env bash
# Runs a job in a cluster: plan, scan of all shards at once, merge and select. For a method
# that needs two rounds (sfufs and the other graph methods, or what --missing error and drop-row
# leave to be decided) add the word twice:
#
#   kubectl create secret generic ufs-store --from-file=…    # once, see settings.yaml
#   export IMAGE=registry.example/ufs-stream@sha256:…         # as your registry names what you pushed
#   ./run.sh            # or: ./run.sh twice
#
# The image is named by its digest: a tag may be another program tomorrow, with the Secret in its hands.
#
# It can be run again after whatever has failed: a shard whose part is there ends at once, so
# only what is missing is done. Kubernetes 1.33 or later (or 1.29, where backoffLimitPerIndex
# is beta).
set -euo pipefail
cd "$(dirname "$0")"
case ${1:-once} in
once) steps=(plan scan select) ;;
twice) steps=(plan profile profile-merge scan-second select) ;;
*) echo "usage: $0 [once|twice]" >&2; exit 2 ;;
esac

: "${IMAGE:?the image by its digest, as registry.example/ufs-stream@sha256:…}"
[[ $IMAGE =~ ^[a-zA-Z0-9._:/-]+@sha256:[0-9a-f]{64}$ ]] || { echo "IMAGE is $IMAGE: want NAME@sha256:DIGEST" >&2; exit 2; }
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
for manifest in *.yaml; do
	sed "s|image: IMAGE .*|image: $IMAGE|" "$manifest" >"$made/$manifest"
done
cd "$made"

# ended prints Complete or Failed as soon as the Job of a manifest is either. (kubectl wait
# --for=condition=complete would wait for ever for one that has failed.)
ended() {
	local conditions
	while :; do
		conditions=$(kubectl get -f "$1" -o 'jsonpath={.status.conditions[?(@.status=="True")].type}')
		case " $conditions " in
		*" Complete "*) echo Complete; return ;;
		*" Failed "*) echo Failed; return ;;
		esac
		sleep "${POLL:-5}"
	done
}

kubectl apply -f settings.yaml
for step in "${steps[@]}"; do
	# A Job cannot be changed, only replaced.
	kubectl delete -f "$step.yaml" --ignore-not-found --wait
	kubectl apply -f "$step.yaml"
	[ "$(ended "$step.yaml")" = Complete ] && continue
	echo "$step failed; indexes: $(kubectl get -f "$step.yaml" -o 'jsonpath={.status.failedIndexes}')" >&2
	kubectl logs -l "job-name=$(kubectl get -f "$step.yaml" -o 'jsonpath={.metadata.name}')" --all-containers --prefix --tail=5 >&2
	exit 1
done
