package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/bench/internal/benchtest"
	"github.com/ufs-stream/ufs-stream/bench/internal/gen"
	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// standIn plays ufs-stream: scan names 40 MiB and then 60, which is enough; inspect takes more than the
// 3 MiB that it names; convert never has enough; merge fails.
const standIn = `#!/bin/sh
limit=0; out=
for word; do
	[ "$last" = --memory-limit ] && limit=${word%MiB}
	[ "$last" = -o ] && out=$word
	last=$word
done
refuse() { echo "ufs-stream: this run needs $1 MiB but the limit is $limit MiB; raise it: --memory-limit $1MiB; or --sketch, --memory-limit 2MiB" >&2; exit 4; }
case $1 in
version) echo stand-in 1 ;;
plan) echo '{"memory": {"peak_bytes": 41943040}}' ;;
inspect) [ $limit -ge 3 ] || refuse 3; x=$(head -c 60000000 /dev/zero | tr '\0' x); echo $x | wc -c >/dev/null ;;
convert) refuse $((limit + 1)) ;;
merge) echo "ufs-stream: out of luck" >&2; exit 1 ;;
path) echo "ufs-stream: not for such data" >&2; exit 2 ;;
*) [ $limit -ge 40 ] || refuse 40; [ $limit -ge 60 ] || refuse 60; echo '{"selected": [{"name": "a"}]}' >$out ;;
esac
`

// The verb asks until a limit is enough, and distinguishes runs above their limit from failures and from
// rightful refusals.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "stand-in")
	must.Do(t, os.WriteFile(binary, []byte(standIn), 0o755))
	bench := benchtest.Program{gen.New, New}
	data := filepath.Join(dir, "data.parquet")
	bench.MakePlanted(t, data, 50, 3)
	code, out, said := bench.Run(t.Context(), "memory", data, "--tables", "none", "--binary", binary, "--results", dir)
	if code != exit.Fault || !strings.Contains(said, "2 runs were above their limit and 2 failed") {
		t.Errorf("exit code %d: %s", code, said)
	}
	for _, row := range []string{
		"| select --method greedy | 60 | 2 | 40 | ",
		"| **inspect: above its limit** | 3 | 1 | – | ",
		"| **inspect --scan: above its limit** | 3 | 1 | – | ",
		"| convert: failed at 11 MiB, after 11 limits: ",
		"| merge: failed at 1 MiB with exit code 1: out of luck |",
		"| path: refused: not for such data |",
	} {
		if !strings.Contains(out, row) {
			t.Errorf("no row %q in\n%s", row, out)
		}
	}
	if written := string(must.Get(os.ReadFile(filepath.Join(dir, "memory.md")))(t)); written != out {
		t.Errorf("memory.md is not what is printed: %s", written)
	}
	_, out, _ = bench.Run(t.Context(), "memory", data, "--tables", "none", "--binary", binary, "--results", dir, "--runs", "scan", "--times", "2")
	if row := "| scan | 120 | 2 | – | "; !strings.Contains(out, row) {
		t.Errorf("no row %q in\n%s", row, out)
	}
	for args, say := range map[string]string{
		"--share 2": "--share 2", "--tables round": "want some of wide, tall", "--give-up 0s": "--give-up", "--times 0.5": "--times",
	} {
		bench.CheckRefusal(t, exit.Usage, say, append([]string{"memory"}, strings.Fields(args)...)...)
	}
}

// Every made table is of its kind, and readable.
func TestShapes(t *testing.T) {
	bench := benchtest.Program{gen.New}
	for _, s := range listMadeShapes(0.0001) {
		must.Do(t, s.makeTable(t.Context(), &options{generate: bench.Generate}, t.TempDir()))
		if info := must.Get(os.Stat(s.path))(t); info.Size() == 0 || len(listJobs(&s, "", "")) < 20 {
			t.Errorf("%s: %d bytes", s.name, info.Size())
		}
	}
}
