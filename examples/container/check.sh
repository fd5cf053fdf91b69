#!/usr/bin/env bash
# Builds the image of the Containerfile and runs it, with nothing but Debian's buildah and the
# Go toolchain of this machine: no registry, no daemon, no user namespaces and no overlay
# (isolation chroot, storage vfs). As root. It leaves nothing behind but buildah.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)

command -v buildah >/dev/null || {
	apt-get update -qq
	apt-get install -y -qq --no-install-recommends buildah ca-certificates
}

work=$(mktemp -d)
buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
export BUILDAH_ISOLATION=chroot
# A mount that is left would be emptied with the folder: containers first.
clean() {
	"${buildah[@]}" rm --all >/dev/null || true
	rm -rf "$work"
}
trap clean EXIT

# 1. An image with Go, in place of one that is pulled: this machine's toolchain and certificates.
go=$("${buildah[@]}" from scratch)
goroot=$(go env GOROOT)
for part in bin src pkg lib go.env VERSION LICENSE; do
	[ ! -e "$goroot/$part" ] || "${buildah[@]}" copy --quiet "$go" "$goroot/$part" "/usr/local/go/$part" >/dev/null
done
"${buildah[@]}" copy --quiet "$go" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt >/dev/null
mkdir -m 1777 "$work/tmp"
"${buildah[@]}" copy --quiet "$go" "$work/tmp" /tmp >/dev/null
# Modules and compiled packages come from this machine's caches, mounted below.
"${buildah[@]}" config --env PATH=/usr/local/go/bin --env GOTOOLCHAIN=local --env GOMODCACHE=/cache/mod \
	--env GOCACHE=/cache/build --env "GOPROXY=$(go env GOPROXY)" --env "GOFLAGS=-buildvcs=false" "$go"
"${buildah[@]}" commit --quiet --rm "$go" go-of-this-machine >/dev/null

# 2. The image, as written.
mkdir -p "$(go env GOMODCACHE)" "$(go env GOCACHE)"
"${buildah[@]}" build --pull-never --network host --build-arg GO_IMAGE=localhost/go-of-this-machine \
	-v "$(go env GOMODCACHE):/cache/mod" -v "$(go env GOCACHE):/cache/build" \
	-t ufs-stream -f "$here/Containerfile" "$source"

# 3. What is in it: the programs, licences, the certificates and /tmp; and that it runs as nobody's user.
image=$("${buildah[@]}" from --pull-never localhost/ufs-stream)
files=$(cd "$("${buildah[@]}" mount "$image")" && find . -type f | sort)
[ "$files" = "./etc/ssl/certs/ca-certificates.crt
./usr/local/bin/ufs-iceberg
./usr/local/bin/ufs-stream
./usr/share/doc/ufs-stream/LICENSE
./usr/share/doc/ufs-stream/THIRD-PARTY-LICENSES" ] || { echo "the image has other files: $files"; exit 1; }
"${buildah[@]}" umount "$image" >/dev/null
config=$("${buildah[@]}" inspect --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Env}}' "$image")
echo "user, entry point and environment: $config"
case $config in
"65532:65532 [/usr/local/bin/ufs-stream] [PATH="*) ;;
*) echo "not as the Containerfile says"; exit 1 ;;
esac
case $config in *cache*) echo "the environment of the build has leaked into the image"; exit 1 ;; esac

# 4. It runs. buildah run does not use the entry point, which is given again.
mkdir -m 777 "$work/data"
run() { "${buildah[@]}" run -v "$work/data:/data" "$image" /usr/local/bin/ufs-stream "$@"; }
run version
run demo | grep 'the selection is right' # its data are in the image's /tmp
run demo --keep /data/demo >/dev/null
owner=$(stat -c %u:%g "$work/data/demo")
[ "$owner" = 65532:65532 ] || { echo "it ran as $owner"; exit 1; }
run select /data/demo -k 6 -o /data/selection.json
cp -r "$source/cmd/ufs-iceberg/testdata/tables/legacy_v1" "$work/data/"
"${buildah[@]}" run -v "$work/data:/data" "$image" /usr/local/bin/ufs-iceberg /data/legacy_v1 -o /data/t.plan.json
run select --plan /data/t.plan.json -k 1
code=0
run select /data/nothing -k 6 2>"$work/message" || code=$?
[ "$code" = 3 ] && grep -q /data/nothing "$work/message" || { cat "$work/message"; echo "exit code $code for missing input, want 3"; exit 1; }
echo "image: $("${buildah[@]}" images --format '{{.Size}}' localhost/ufs-stream | tr -d ' '), built and run"
